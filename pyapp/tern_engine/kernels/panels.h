// Products of up to 4 rows: two ternary outputs share an int16 weight, w = low + 2^14 high, so that
// one dot_i16x8 does 16 multiply-adds. The lower sum is taken out, and its exact value kept aside,
// before it can leave its 14 bits: after every `block` columns, a length that quantize.c proves
// safe from the activations themselves. That also covers the one input for which a fixed 64 would
// fail (64 activations of -128 against 64 weights of -1).
//
// Weights (pack_panels in prepare.c): panels of 16 outputs, [panel][columns / 2][2 vectors][4 lanes]
// [2 columns]; lane l of vector v holds outputs 8 v + l (low) and 8 v + 4 + l (high) of its panel.
#pragma once

#include "lanes.h"

#define PANEL 16
#define PAIR_OF_PANEL 16  // int16 of one pair of columns in a panel
#define TILE_PAIR 8       // int16 of one pair of columns in a tile of 4 rows

#ifndef TERN_SCALAR

// result[rows][2 * panels][8] = sums of `rows` of a tile, for `panels` panels.
INLINE void panel_sums(const int16_t *x, const int16_t *weights, uint32_t panel_stride,
                       uint32_t columns, uint32_t block, int32_t *result, const int rows,
                       const int panels) {
    const int vectors = 2 * panels;
    vec sum[4][4];
    UNROLL for (int i = 0; i < rows; i++) {
        UNROLL for (int j = 0; j < vectors; j++) sum[i][j] = ZERO;
    }
    for (uint32_t start = 0; start < columns; start += block) {
        const int16_t *end = x + minimum(block, columns - start) * (TILE_PAIR / 2);
        while (x < end) {
            vec w[4];
            UNROLL for (int j = 0; j < vectors; j++) {
                w[j] = LOAD_AT(weights + j / 2 * panel_stride, j % 2 * 16);
            }
            UNROLL for (int i = 0; i < rows; i++) {
                vec pair = LOAD_SPLAT_AT(x, 4 * i);
                UNROLL for (int j = 0; j < vectors; j++) {
                    sum[i][j] = wasm_i32x4_add(sum[i][j], wasm_i32x4_dot_i16x8(pair, w[j]));
                }
            }
            x += TILE_PAIR;
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

#endif
