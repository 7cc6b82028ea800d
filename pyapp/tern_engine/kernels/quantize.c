// Activations to integers: optional layer norm with parameters, then the layer norm without
// parameters and the absolute-maximum quantization that every BitLinear begins with.
#include "lanes.h"
#include "ops.h"

// Where product.c expects the integers of a row: rows are grouped in tiles of 4 (then 2, then 1
// for what is left), a tile holding [columns / 2][rows of the tile][2] int16.
struct tile_row {
    int16_t *start;
    uint32_t step;  // int16 from one pair of columns to the next
};

INLINE struct tile_row locate(int16_t *base, uint32_t row, uint32_t rows, uint32_t padded) {
    uint32_t first = row & ~3u, size = 4;
    if (first + 4 > rows) {
        size = rows - first >= 2 && row < first + 2 ? 2 : 1;
        if (size == 1) first = row;
    }
    return (struct tile_row){base + first * padded + (row - first) * 2, size * 2};
}

// The largest block of columns over which sums of +-q provably stay inside the 14 bits that
// product.c gives the lower of two packed outputs: |sum| <= sum |q| <= 8191.
#define LONG_BLOCK 128
#define SHORT_BLOCK 32
#define BLOCK_LIMIT 8191

#ifndef TERN_SCALAR

INLINE vec round_to_int(vec centered, vec norm, vec scale) {
    vec scaled = MUL(MUL(centered, norm), scale);
    return wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(scaled));
}

// `sum` is the sum of x[0 ... n).
static uint32_t quantize_row(const float *x, uint32_t n, float sum, uint32_t padded,
                             struct tile_row out, float *inverse_scale) {
    float bound;
    struct moments m = moments_about(x, n, sum, &bound);
    vec mean = SPLAT(m.mean), norm = SPLAT(m.scale);
    bound *= m.scale;
    if (bound < 1e-5f) bound = 1e-5f;
    float scale = 128.0f / bound;
    *inverse_scale = 1.0f / scale;

    vec factor = SPLAT(scale);
    uint32_t block = LONG_BLOCK;
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
            int16_t *pair = out.start + k / 2 * out.step;
            wasm_v128_store32_lane(pair, q, 0);
            wasm_v128_store32_lane(pair + out.step, q, 1);
            wasm_v128_store32_lane(pair + 2 * out.step, q, 2);
            wasm_v128_store32_lane(pair + 3 * out.step, q, 3);
        }
        vec sums = wasm_i32x4_extadd_pairwise_i16x8(total);
        sums = wasm_i32x4_add(sums, wasm_i32x4_shuffle(sums, sums, 2, 3, 0, 1));
        sums = wasm_i32x4_add(sums, wasm_i32x4_shuffle(sums, sums, 1, 0, 3, 2));
        if (wasm_i32x4_extract_lane(sums, 0) > BLOCK_LIMIT) block = SHORT_BLOCK;
    }
    return block;
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

static uint32_t quantize_row(const float *x, uint32_t n, float sum, uint32_t padded,
                             struct tile_row out, float *inverse_scale) {
    struct moments m = row_moments(x, n);
    m.mean = sum / (float)n;
    float bound = 1e-5f;
    for (uint32_t k = 0; k < n; k++) {
        float size = __builtin_fabsf((x[k] - m.mean) * m.scale);
        if (size > bound) bound = size;
    }
    float scale = 128.0f / bound;
    *inverse_scale = 1.0f / scale;

    uint32_t block = LONG_BLOCK, total = 0;
    for (uint32_t k = 0; k < padded; k++) {
        if (k % LONG_BLOCK == 0) total = 0;
        int32_t q = k < n ? (int32_t)__builtin_rintf((x[k] - m.mean) * m.scale * scale) : 0;
        q = q > 127 ? 127 : q < -128 ? -128 : q;
        out.start[k / 2 * out.step + k % 2] = (int16_t)q;
        total += (uint32_t)(q < 0 ? -q : q);
        if (total > BLOCK_LIMIT) block = SHORT_BLOCK;
    }
    return block;
}

static float norm_row(const float *x, const float *gamma, const float *beta, float *out,
                      uint32_t n) {
    struct moments m = row_moments(x, n);
    for (uint32_t k = 0; k < n; k++) out[k] = (x[k] - m.mean) * m.scale * gamma[k] + beta[k];
    return row_sum(out, n);
}

#endif

void op_quantize(const struct quantize_operands *o, struct span span) {
    const float *source = floats(o->source) + (o->source_local ? 0 : span.first * o->stride);
    for (uint32_t row = 0; row < span.rows; row++, source += o->stride) {
        const float *x = source;
        float sum;
        if (o->gamma) {
            x = floats(o->row);
            sum = norm_row(source, floats(o->gamma), floats(o->beta), floats(o->row), o->columns);
        } else {
            sum = row_sum(source, o->columns);
        }
        struct tile_row out = locate(shorts(o->codes), row, span.rows, o->padded);
        ints(o->blocks)[row] = (int32_t)quantize_row(x, o->columns, sum, o->padded, out,
                                                     floats(o->inverse_scale) + row);
    }
}
