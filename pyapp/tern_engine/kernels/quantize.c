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

// `sum` is the sum of x[0 ... n).
INLINE struct scaling scaling_of(const float *x, uint32_t n, float sum) {
    float bound;
    struct moments m = moments_about(x, n, sum, &bound);
    bound *= m.scale;
    if (bound < 1e-5f) bound = 1e-5f;
    return (struct scaling){x, m.mean, m.scale, 128.0f / bound};
}

// Four values rounded to integers.
INLINE vec round_to_int(vec x, vec mean, vec norm, vec scale) {
    vec v = MUL(MUL(SUB(x, mean), norm), scale);
    return wasm_i32x4_sub(ADD(v, SPLAT(ROUNDING)), SPLAT(ROUNDING));
}

// Codes of n columns of four rows, and zeros up to `padded`, into a tile.
static void round_rows(const struct scaling *scaling, uint32_t n, uint32_t padded, int16_t *out,
                       struct bounds *bounds, uint32_t rows) {
    struct sizes sizes[4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
    const float *x[4];
    vec mean[4], norm[4], scale[4];
    UNROLL for (int i = 0; i < 4; i++) {
        x[i] = scaling[i].x;
        mean[i] = SPLAT(scaling[i].mean);
        norm[i] = SPLAT(scaling[i].norm);
        scale[i] = SPLAT(scaling[i].scale);
    }
    for (uint32_t start = 0; start < padded; start += LONG_BLOCK) {
        uint32_t end = minimum(start + LONG_BLOCK, padded);
        vec total[4] = {ZERO, ZERO, ZERO, ZERO};
        for (uint32_t k = start; k < end; k += 8, out += 4 * TILE_PAIR) {
            vec q[4] = {ZERO, ZERO, ZERO, ZERO};
            if (k < n) {
                UNROLL for (int i = 0; i < 4; i++) {
                    vec low = round_to_int(LOAD(x[i] + k), mean[i], norm[i], scale[i]), high = ZERO;
                    if (k + 4 < n) {
                        high = round_to_int(LOAD(x[i] + k + 4), mean[i], norm[i], scale[i]);
                    }
                    vec v = wasm_i16x8_narrow_i32x4(low, high);
                    v = wasm_i16x8_max(v, wasm_i16x8_splat(-128));
                    q[i] = wasm_i16x8_min(v, wasm_i16x8_splat(127));
                    total[i] = wasm_i16x8_add(total[i], wasm_i16x8_abs(q[i]));
                }
            }
            vec low01 = wasm_i32x4_shuffle(q[0], q[1], 0, 4, 1, 5);
            vec high01 = wasm_i32x4_shuffle(q[0], q[1], 2, 6, 3, 7);
            vec low23 = wasm_i32x4_shuffle(q[2], q[3], 0, 4, 1, 5);
            vec high23 = wasm_i32x4_shuffle(q[2], q[3], 2, 6, 3, 7);
            STORE(out, wasm_i64x2_shuffle(low01, low23, 0, 2));
            STORE(out + TILE_PAIR, wasm_i64x2_shuffle(low01, low23, 1, 3));
            STORE(out + 2 * TILE_PAIR, wasm_i64x2_shuffle(high01, high23, 0, 2));
            STORE(out + 3 * TILE_PAIR, wasm_i64x2_shuffle(high01, high23, 1, 3));
        }
        for (uint32_t i = 0; i < rows; i++) {
            vec sums = wasm_i32x4_extadd_pairwise_i16x8(total[i]);
            sums = wasm_i32x4_add(sums, wasm_i32x4_shuffle(sums, sums, 2, 3, 0, 1));
            sums = wasm_i32x4_add(sums, wasm_i32x4_shuffle(sums, sums, 1, 0, 3, 2));
            count_block(sizes + i, start, (uint32_t)wasm_i32x4_extract_lane(sums, 0));
        }
    }
    for (uint32_t i = 0; i < rows; i++) bounds[i] = allowed(sizes + i, padded);
}

// out = LN(x) gamma + beta; returns the sum of out.
static float norm_row(const float *x, struct moments m, const float *gamma, const float *beta,
                      float *out, uint32_t n) {
    vec sum = ZERO;
    for (uint32_t k = 0; k < n; k += 4) {
        vec y = affine_norm(LOAD(x + k), m, gamma + k, beta + k);
        STORE(out + k, y);
        sum = ADD(sum, y);
    }
    return lane_sum(sum);
}

#else

static struct scaling scaling_of(const float *x, uint32_t n, float sum) {
    struct moments m = row_moments(x, n, sum);
    float bound = 1e-5f;
    for (uint32_t k = 0; k < n; k++) {
        float size = __builtin_fabsf((x[k] - m.mean) * m.scale);
        if (size > bound) bound = size;
    }
    return (struct scaling){x, m.mean, m.scale, 128.0f / bound};
}

static void round_rows(const struct scaling *scaling, uint32_t n, uint32_t padded, int16_t *tile,
                       struct bounds *bounds, uint32_t rows) {
    for (uint32_t i = 0; i < rows; i++) {
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

static float norm_row(const float *x, struct moments m, const float *gamma, const float *beta,
                      float *out, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) out[k] = (x[k] - m.mean) * m.scale * gamma[k] + beta[k];
    return row_sum(out, n);
}

#endif

void op_quantize(const struct quantize_operands *o, struct span span) {
    const float *first = floats(o->source) + (o->source_local ? 0 : span.first * o->stride);
    for (uint32_t tile = 0; tile < span.rows; tile += 4) {
        uint32_t rows = minimum(4, span.rows - tile), columns = o->columns;
        const float *x[4];
        float sum[4];
        struct scaling scaling[4];
        // Step by step, each for all rows: the next row's pass fills the time that the end of a
        // row's takes, with its divisions and its root.
        for (uint32_t i = 0; i < rows; i++) {
            uint32_t row = o->rows ? (uint32_t)ints(o->rows)[tile + i] : tile + i;
            x[i] = first + row * o->stride;
            sum[i] = row_sum(x[i], columns);
        }
        if (o->gamma) {
            struct moments moments[4];
            for (uint32_t i = 0; i < rows; i++) moments[i] = row_moments(x[i], columns, sum[i]);
            for (uint32_t i = 0; i < rows; i++) {
                float *normed = floats(o->row) + i * columns;
                sum[i] = norm_row(x[i], moments[i], floats(o->gamma), floats(o->beta), normed,
                                  columns);
                x[i] = normed;
            }
        }
        for (uint32_t i = 0; i < rows; i++) {
            scaling[i] = scaling_of(x[i], columns, sum[i]);
            floats(o->inverse_scale)[tile + i] = 1.0f / scaling[i].scale;
        }
        // A tile has four rows: where fewer are left, the last fills it up.
        for (uint32_t i = rows; i < 4; i++) scaling[i] = scaling[rows - 1];
        round_rows(scaling, o->columns, o->padded, shorts(o->codes) + tile * o->padded,
                   bounds(o->bounds) + tile, rows);
    }
}
