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

#ifndef TERN_SCALAR

INLINE vec round_to_int(vec centered, vec norm, vec scale) {
    vec scaled = MUL(MUL(centered, norm), scale);
    return wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(scaled));
}

// `sum` is the sum of x[0 ... n).
static struct bounds quantize_row(const float *x, uint32_t n, float sum, uint32_t padded,
                                  int16_t *out, float *inverse_scale) {
    float bound;
    struct moments m = moments_about(x, n, sum, &bound);
    vec mean = SPLAT(m.mean), norm = SPLAT(m.scale);
    bound *= m.scale;
    if (bound < 1e-5f) bound = 1e-5f;
    float scale = 128.0f / bound;
    *inverse_scale = 1.0f / scale;

    vec factor = SPLAT(scale);
    struct sizes sizes = {0, 0, 0, 0};
    for (uint32_t start = 0; start < padded; start += LONG_BLOCK) {
        uint32_t end = minimum(start + LONG_BLOCK, padded);
        vec total = ZERO;
        for (uint32_t k = start; k < end; k += 8) {
            vec low = ZERO, high = ZERO;
            if (k < n) low = round_to_int(SUB(LOAD(x + k), mean), norm, factor);
            if (k + 4 < n) high = round_to_int(SUB(LOAD(x + k + 4), mean), norm, factor);
            vec q = wasm_i16x8_narrow_i32x4(low, high);
            q = wasm_i16x8_max(wasm_i16x8_min(q, wasm_i16x8_splat(127)), wasm_i16x8_splat(-128));
            total = wasm_i16x8_add(total, wasm_i16x8_abs(q));
            int16_t *pair = out + k / 2 * TILE_PAIR;
            wasm_v128_store32_lane(pair, q, 0);
            wasm_v128_store32_lane(pair + TILE_PAIR, q, 1);
            wasm_v128_store32_lane(pair + 2 * TILE_PAIR, q, 2);
            wasm_v128_store32_lane(pair + 3 * TILE_PAIR, q, 3);
        }
        vec sums = wasm_i32x4_extadd_pairwise_i16x8(total);
        sums = wasm_i32x4_add(sums, wasm_i32x4_shuffle(sums, sums, 2, 3, 0, 1));
        sums = wasm_i32x4_add(sums, wasm_i32x4_shuffle(sums, sums, 1, 0, 3, 2));
        count_block(&sizes, start, (uint32_t)wasm_i32x4_extract_lane(sums, 0));
    }
    return allowed(&sizes, padded);
}

// out = LN(x) gamma + beta; returns the sum of out.
static float norm_row(const float *x, const float *gamma, const float *beta, float *out,
                      uint32_t n) {
    struct moments m = row_moments(x, n);
    vec sum = ZERO;
    for (uint32_t k = 0; k < n; k += 4) {
        vec y = affine_norm(LOAD(x + k), m, gamma + k, beta + k);
        STORE(out + k, y);
        sum = ADD(sum, y);
    }
    return lane_sum(sum);
}

#else

INLINE float row_sum(const float *x, uint32_t n) {
    float sum = 0.0f;
    for (uint32_t k = 0; k < n; k++) sum += x[k];
    return sum;
}

static struct bounds quantize_row(const float *x, uint32_t n, float sum, uint32_t padded,
                                  int16_t *out, float *inverse_scale) {
    struct moments m = row_moments(x, n);
    m.mean = sum / (float)n;
    float bound = 1e-5f;
    for (uint32_t k = 0; k < n; k++) {
        float size = __builtin_fabsf((x[k] - m.mean) * m.scale);
        if (size > bound) bound = size;
    }
    float scale = 128.0f / bound;
    *inverse_scale = 1.0f / scale;

    struct sizes sizes = {0, 0, 0, 0};
    uint32_t size = 0;
    for (uint32_t k = 0; k < padded; k++) {
        int32_t q = k < n ? (int32_t)__builtin_rintf((x[k] - m.mean) * m.scale * scale) : 0;
        q = q > 127 ? 127 : q < -128 ? -128 : q;
        out[k / 2 * TILE_PAIR + k % 2] = (int16_t)q;
        size += (uint32_t)(q < 0 ? -q : q);
        if (k % LONG_BLOCK == LONG_BLOCK - 1 || k == padded - 1) {
            count_block(&sizes, k - k % LONG_BLOCK, size);
            size = 0;
        }
    }
    return allowed(&sizes, padded);
}

static float norm_row(const float *x, const float *gamma, const float *beta, float *out,
                      uint32_t n) {
    struct moments m = row_moments(x, n);
    for (uint32_t k = 0; k < n; k++) out[k] = (x[k] - m.mean) * m.scale * gamma[k] + beta[k];
    return row_sum(out, n);
}

#endif

void op_quantize(const struct quantize_operands *o, struct span span) {
    const float *first = floats(o->source) + (o->source_local ? 0 : span.first * o->stride);
    for (uint32_t row = 0; row < span.rows; row++) {
        uint32_t from = o->rows ? (uint32_t)ints(o->rows)[row] : row;
        const float *source = first + from * o->stride;
        const float *x = source;
        float sum;
        if (o->gamma) {
            x = floats(o->row);
            sum = norm_row(source, floats(o->gamma), floats(o->beta), floats(o->row), o->columns);
        } else {
            sum = row_sum(source, o->columns);
        }
        int16_t *out = shorts(o->codes) + (row & ~3u) * o->padded + (row & 3) * 2;
        bounds(o->bounds)[row] = quantize_row(x, o->columns, sum, o->padded, out,
                                              floats(o->inverse_scale) + row);
    }
}
