// Activations to integers: optional layer norm with parameters, then the layer norm without
// parameters and the absolute-maximum quantization that every BitLinear begins with.
#include "lanes.h"
#include "ops.h"

// Rows lie in tiles of 4, a tile holding [padded / 2][4 rows][2 columns] int16: one pointer for all
// rows of a tile. What product.c may do with a row is worked out here, from the values themselves:
// over blocks of LONG_BLOCK columns a sum of +-q is at most the sum of |q|, and when that is at most
// 8191 it fits in the 14 bits of the lower of two packed outputs; SHORT_BLOCK columns always do. The
// same over spans of columns for the int16 sums of the tables; SHORT_SPAN columns always fit.
#define TILE_PAIR 8
#define BLOCK_LIMIT 8191
#define SPAN_LIMIT 32767

// Sums of |q| of a row as it is quantized, LONG_BLOCK columns at a time.
struct sizes {
    uint32_t span, row;  // the current span, the whole row
    uint32_t largest_block, largest_span;
};

INLINE void count_block(struct sizes *s, uint32_t start, uint32_t size) {
    s->span = start % LONG_SPAN ? s->span + size : size;
    s->row += size;
    if (size > s->largest_block) s->largest_block = size;
    if (s->span > s->largest_span) s->largest_span = s->span;
}

INLINE struct bounds allowed(const struct sizes *s, uint32_t columns) {
    struct bounds result = {LONG_BLOCK, columns};
    if (s->largest_block > BLOCK_LIMIT) result.block = SHORT_BLOCK;
    if (s->row > SPAN_LIMIT) result.span = LONG_SPAN;
    if (s->largest_span > SPAN_LIMIT) result.span = SHORT_SPAN;
    return result;
}

// What turns a row into codes: ((x - mean) norm) scale, rounded.
struct scaling {
    const float *x;
    float mean, norm, scale;
};

#ifndef TERN_SCALAR

// The rounding of x - mean is monotonic, so its extremes are those of x: no pass of their own.
INLINE struct scaling scaling_of(const float *x, uint32_t n, struct extent extent) {
    struct moments m = row_moments(x, n, extent.sum);
    float above = extent.top - m.mean, below = m.mean - extent.bottom;
    float bound = (above > below ? above : below) * m.scale;
    if (!(bound >= 1e-5f)) bound = 1e-5f;
    return (struct scaling){x, m.mean, m.scale, 128.0f / bound};
}

// Four values rounded to integers.
INLINE vec round_to_int(vec x, vec mean, vec norm, vec scale) {
    vec v = MUL(MUL(SUB(x, mean), norm), scale);
    return wasm_i32x4_sub(ADD(v, SPLAT(ROUNDING)), SPLAT(ROUNDING));
}

INLINE vec clamp(vec v) {
    v = wasm_i16x8_max(v, wasm_i16x8_splat(-128));
    return wasm_i16x8_min(v, wasm_i16x8_splat(127));
}

// Eight columns of two rows into their half of a tile.
INLINE void store_pair(const vec q[2], int16_t *out) {
    vec low = wasm_i32x4_shuffle(q[0], q[1], 0, 4, 1, 5);
    vec high = wasm_i32x4_shuffle(q[0], q[1], 2, 6, 3, 7);
    wasm_v128_store64_lane(out, low, 0);
    wasm_v128_store64_lane(out + TILE_PAIR, low, 1);
    wasm_v128_store64_lane(out + 2 * TILE_PAIR, high, 0);
    wasm_v128_store64_lane(out + 3 * TILE_PAIR, high, 1);
}

// Codes of n columns of two rows, and zeros up to `padded`, into their half of a tile. More rows at
// a time would want more registers than there are.
static void round_rows(const struct scaling *scaling, uint32_t n, uint32_t padded, int16_t *out,
                       struct bounds *bounds) {
    struct sizes sizes[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    const float *x[2];
    vec mean[2], norm[2], scale[2];
    UNROLL for (int i = 0; i < 2; i++) {
        x[i] = scaling[i].x;
        mean[i] = SPLAT(scaling[i].mean);
        norm[i] = SPLAT(scaling[i].norm);
        scale[i] = SPLAT(scaling[i].scale);
    }
    for (uint32_t start = 0; start < padded; start += LONG_BLOCK) {
        uint32_t k = start, end = minimum(start + LONG_BLOCK, padded);
        vec total[2] = {ZERO, ZERO};
        for (; k + 8 <= minimum(end, n); k += 8, out += 4 * TILE_PAIR) {
            vec q[2];
            UNROLL for (int i = 0; i < 2; i++) {
                vec low = round_to_int(LOAD(x[i] + k), mean[i], norm[i], scale[i]);
                vec high = round_to_int(LOAD(x[i] + k + 4), mean[i], norm[i], scale[i]);
                q[i] = clamp(wasm_i16x8_narrow_i32x4(low, high));
                total[i] = wasm_i16x8_add(total[i], wasm_i16x8_abs(q[i]));
            }
            store_pair(q, out);
        }
        for (; k < end; k += 8, out += 4 * TILE_PAIR) {
            vec q[2] = {ZERO, ZERO};
            for (int i = 0; k < n && i < 2; i++) {
                vec low = round_to_int(LOAD(x[i] + k), mean[i], norm[i], scale[i]);
                q[i] = clamp(wasm_i16x8_narrow_i32x4(low, ZERO));
                total[i] = wasm_i16x8_add(total[i], wasm_i16x8_abs(q[i]));
            }
            store_pair(q, out);
        }
        for (int i = 0; i < 2; i++) {
            vec sums = wasm_i32x4_extadd_pairwise_i16x8(total[i]);
            sums = wasm_i32x4_add(sums, wasm_i32x4_shuffle(sums, sums, 2, 3, 0, 1));
            sums = wasm_i32x4_add(sums, wasm_i32x4_shuffle(sums, sums, 1, 0, 3, 2));
            count_block(sizes + i, start, (uint32_t)wasm_i32x4_extract_lane(sums, 0));
        }
    }
    for (int i = 0; i < 2; i++) bounds[i] = allowed(sizes + i, padded);
}

// out [2][n] = LN of two rows, times gamma, plus beta: side by side, as a sum waits for itself.
static void norm_rows(const float *const x[2], const struct moments m[2], const float *gamma,
                      const float *beta, float *out, uint32_t n, struct extent *extent) {
    vec sum[2] = {ZERO, ZERO}, top[2], bottom[2];
    UNROLL for (int i = 0; i < 2; i++) {
        top[i] = bottom[i] = affine_norm(LOAD(x[i]), m[i], gamma, beta);
    }
    for (uint32_t k = 0; k < n; k += 4) {
        UNROLL for (int i = 0; i < 2; i++) {
            vec y = affine_norm(LOAD(x[i] + k), m[i], gamma + k, beta + k);
            STORE(out + i * n + k, y);
            sum[i] = ADD(sum[i], y);
            top[i] = wasm_f32x4_pmax(top[i], y);
            bottom[i] = wasm_f32x4_pmin(bottom[i], y);
        }
    }
    for (int i = 0; i < 2; i++) extent[i] = extent_of(sum[i], top[i], bottom[i]);
}

#else

static struct scaling scaling_of(const float *x, uint32_t n, struct extent extent) {
    struct moments m = row_moments(x, n, extent.sum);
    float bound = 1e-5f;
    for (uint32_t k = 0; k < n; k++) {
        float size = __builtin_fabsf((x[k] - m.mean) * m.scale);
        if (size > bound) bound = size;
    }
    return (struct scaling){x, m.mean, m.scale, 128.0f / bound};
}

static void round_rows(const struct scaling *scaling, uint32_t n, uint32_t padded, int16_t *tile,
                       struct bounds *bounds) {
    for (uint32_t i = 0; i < 2; i++) {
        const struct scaling *s = scaling + i;
        int16_t *out = tile + 2 * i;
        struct sizes sizes = {0, 0, 0, 0};
        uint32_t size = 0;
        for (uint32_t k = 0; k < padded; k++) {
            int32_t q = 0;
            if (k < n) q = (int32_t)__builtin_rintf((s->x[k] - s->mean) * s->norm * s->scale);
            q = q > 127 ? 127 : q < -128 ? -128 : q;
            out[k / 2 * TILE_PAIR + k % 2] = (int16_t)q;
            size += (uint32_t)(q < 0 ? -q : q);
            if (k % LONG_BLOCK == LONG_BLOCK - 1 || k == padded - 1) {
                count_block(&sizes, k - k % LONG_BLOCK, size);
                size = 0;
            }
        }
        bounds[i] = allowed(&sizes, padded);
    }
}

static void norm_rows(const float *const x[2], const struct moments m[2], const float *gamma,
                      const float *beta, float *out, uint32_t n, struct extent *extent) {
    for (int i = 0; i < 2; i++, out += n) {
        for (uint32_t k = 0; k < n; k++) {
            out[k] = (x[i][k] - m[i].mean) * m[i].scale * gamma[k] + beta[k];
        }
        extent[i] = row_extent(out, n);
    }
}

#endif

void op_quantize(const struct quantize_operands *o, struct span span) {
    const float *first = floats(o->source) + (o->source_local ? 0 : span.first * o->stride);
    const float *gamma = floats(o->gamma), *beta = floats(o->beta);
    uint32_t columns = o->columns;
    for (uint32_t tile = 0; tile < span.rows; tile += 4) {
        const float *x[4];
        struct extent extent[4];
        struct scaling scaling[4];
        // Step by step, each for all rows: the next row's pass fills the time that the end of a
        // row's takes, with its divisions and its root. Rows are rounded in pairs: where one is left,
        // it is the other, too.
        uint32_t rows = minimum(4, span.rows - tile);
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t at = tile + minimum(i, rows - 1);
            x[i] = first + (o->rows ? (uint32_t)ints(o->rows)[at] : at) * o->stride;
            extent[i] = i < rows ? row_extent(x[i], columns) : extent[rows - 1];
        }
        if (o->gamma) {
            struct moments moments[4];
            for (uint32_t i = 0; i < rows; i++) {
                moments[i] = row_moments(x[i], columns, extent[i].sum);
            }
            for (uint32_t i = rows; i < 4; i++) moments[i] = moments[rows - 1];
            for (uint32_t i = 0; i < rows; i += 2) {
                float *normed = floats(o->row) + i * columns;
                norm_rows(x + i, moments + i, gamma, beta, normed, columns, extent + i);
                x[i] = normed;
                x[i + 1] = normed + columns;
            }
        }
        for (uint32_t i = 0; i < 4; i++) {
            scaling[i] = i < rows ? scaling_of(x[i], columns, extent[i]) : scaling[rows - 1];
            floats(o->inverse_scale)[tile + i] = 1.0f / scaling[i].scale;
        }
        int16_t *codes = shorts(o->codes) + tile * o->padded;
        for (uint32_t i = 0; i < rows; i += 2) {
            round_rows(scaling + i, columns, o->padded, codes + 2 * i,
                       bounds(o->bounds) + tile + i);
        }
    }
}
