// The BitLinear product: integer activations times ternary weights, exact, then the rescale.
//
// Two ternary outputs share one int16 weight, w = low + 2^14 high, so that one dot_i16x8 does
// 16 multiply-adds. The lower sum is taken out, and its exact value kept aside, before it can
// leave its 14 bits: after every `block` columns, a length that quantize.c proves safe from the
// activations themselves. That also covers the one input for which a fixed 64 would fail
// (64 activations of -128 against 64 weights of -1).
//
// Weights (prepare.c): panels of 16 outputs, [panel][columns / 2][2 vectors][4 lanes][2 columns];
// lane l of vector v holds outputs 8 v + l (low) and 8 v + 4 + l (high) of its panel.
#include "ops.h"
#include "vmath.h"

#define PANEL 16
#define PAIR_OF_PANEL 16  // int16 of one pair of columns in a panel

#ifndef TERN_SCALAR

// Puts rows x panels sums into `result` [rows][panels][PANEL].
INLINE void tile(const int16_t *x, const int16_t *weights, uint32_t panel_stride,
                 uint32_t columns, uint32_t block, int32_t *result, const int rows,
                 const int panels) {
    const int vectors = 2 * panels;
    vec sum[4][4];
    UNROLL for (int i = 0; i < rows; i++) {
        UNROLL for (int j = 0; j < vectors; j++) sum[i][j] = ZERO;
    }
    for (uint32_t start = 0; start < columns; start += block) {
        const int16_t *end = x + minimum(block, columns - start) * rows;
        while (x < end) {
            vec w[4];
            UNROLL for (int j = 0; j < vectors; j++) {
                w[j] = LOAD(weights + j / 2 * panel_stride + j % 2 * 8);
            }
            UNROLL for (int i = 0; i < rows; i++) {
                vec pair = wasm_v128_load32_splat(x + 2 * i);
                UNROLL for (int j = 0; j < vectors; j++) {
                    sum[i][j] = wasm_i32x4_add(sum[i][j], wasm_i32x4_dot_i16x8(pair, w[j]));
                }
            }
            x += 2 * rows;
            weights += PAIR_OF_PANEL;
        }
        UNROLL for (int i = 0; i < rows; i++) {
            UNROLL for (int j = 0; j < vectors; j++) {
                int32_t *low_sum = result + (i * vectors + j) * 8;
                vec low = wasm_i32x4_shr(wasm_i32x4_shl(sum[i][j], 18), 18);
                sum[i][j] = wasm_i32x4_sub(sum[i][j], low);
                if (start) low = wasm_i32x4_add(low, LOAD(low_sum));
                STORE(low_sum, low);
            }
        }
    }
    UNROLL for (int i = 0; i < rows; i++) {
        UNROLL for (int j = 0; j < vectors; j++) {
            STORE(result + (i * vectors + j) * 8 + 4, wasm_i32x4_shr(sum[i][j], 14));
        }
    }
}

// (sum + bias) / (weight scale * activation scale) for one row of one or more panels.
INLINE void finish(const int32_t *sums, const float *bias, const float *inverse_weight,
                   float inverse_activation, float *out, uint32_t outputs, const int mode) {
    vec inverse = SPLAT(inverse_activation);
    for (uint32_t n = 0; n < outputs; n += 4) {
        vec v = ADD(wasm_f32x4_convert_i32x4(LOAD(sums + n)), LOAD(bias + n));
        v = MUL(v, MUL(LOAD(inverse_weight + n), inverse));
        if (mode == MODE_ADD) v = ADD(v, LOAD(out + n));
        if (mode == MODE_GELU) v = gelu(v);
        STORE(out + n, v);
    }
}

// One tile of rows against all outputs.
INLINE void row_tile(const struct product_operands *o, uint32_t row, float *out, const int rows,
                     const int panels, const int mode) {
    const int16_t *x = shorts(o->codes) + row * o->columns;
    const float *inverse_activation = floats(o->inverse_scale) + row;
    uint32_t block = (uint32_t)ints(o->blocks)[row];
    for (int i = 1; i < rows; i++) block = minimum(block, (uint32_t)ints(o->blocks)[row + i]);
    uint32_t panel_stride = PAIR_OF_PANEL * o->columns / 2;
    for (uint32_t n = 0; n < o->outputs; n += PANEL * panels) {
        int32_t sums[64] __attribute__((aligned(16)));
        tile(x, shorts(o->weights) + n / PANEL * panel_stride, panel_stride, o->columns, block,
             sums, rows, panels);
        uint32_t width = minimum(PANEL * panels, o->outputs - n);
        for (int i = 0; i < rows; i++) {
            finish(sums + i * PANEL * panels, floats(o->bias) + n, floats(o->inverse_weight) + n,
                   inverse_activation[i], out + i * o->stride + n, width, mode);
        }
    }
}

INLINE void product(const struct product_operands *o, struct span span, const int mode) {
    float *out = floats(o->target) + (o->target_local ? 0 : span.first * o->stride);
    uint32_t row = 0;
    for (; row + 4 <= span.rows; row += 4) row_tile(o, row, out + row * o->stride, 4, 1, mode);
    if (span.rows - row >= 2) {
        row_tile(o, row, out + row * o->stride, 2, 2, mode);
        row += 2;
    }
    if (span.rows - row >= 1) row_tile(o, row, out + row * o->stride, 1, 2, mode);
}

void op_product(const struct product_operands *o, struct span span) {
    switch (o->mode) {
        case MODE_STORE: product(o, span, MODE_STORE); break;
        case MODE_ADD: product(o, span, MODE_ADD); break;
        case MODE_GELU: product(o, span, MODE_GELU); break;
    }
}

#else

// Sum over columns for one row of a tile, its weight read back from the packed pair.
static int32_t sum_of(const int16_t *x, uint32_t rows, const int16_t *weights, uint32_t columns,
                      uint32_t lane) {
    int32_t sum = 0;
    for (uint32_t k = 0; k < columns; k++) {
        int32_t pair = weights[k / 2 * PAIR_OF_PANEL + lane / 8 * 8 + lane % 4 * 2 + k % 2];
        int32_t low = (pair & 3) == 3 ? -1 : pair & 3, high = (pair - low) / 16384;
        sum += x[k / 2 * rows * 2 + k % 2] * (lane & 4 ? high : low);
    }
    return sum;
}

void op_product(const struct product_operands *o, struct span span) {
    float *out = floats(o->target) + (o->target_local ? 0 : span.first * o->stride);
    for (uint32_t row = 0; row < span.rows; row++) {
        uint32_t first = row & ~3u, left = span.rows - first;
        uint32_t rows = left >= 4 ? 4 : left >= 2 && row < first + 2 ? 2 : 1;
        if (rows == 1) first = row;
        const int16_t *x = shorts(o->codes) + first * o->columns + (row - first) * 2;
        for (uint32_t n = 0; n < o->outputs; n++) {
            const int16_t *panel = shorts(o->weights) + n / PANEL * PANEL * o->columns / 2;
            float v = (float)sum_of(x, rows, panel, o->columns, n % PANEL) + floats(o->bias)[n];
            v *= floats(o->inverse_weight)[n] * floats(o->inverse_scale)[row];
            float *target = out + row * o->stride + n;
            *target = o->mode == MODE_ADD ? *target + v : o->mode == MODE_GELU ? gelu(v) : v;
        }
    }
}

#endif
