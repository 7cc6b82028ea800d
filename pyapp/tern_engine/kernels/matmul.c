// Float matrix product, for the output projection.
#include "lanes.h"

#ifndef TERN_SCALAR

#define TILE_ROWS 4
// Vectors of a tile of one row: enough sums at once to hide the latency of an addition, and no more
// than have registers beside as many loads, which V8 puts before the arithmetic.
#define WIDE 6

// A tile of `rows` x 4 * `vectors` results in registers. Each result is one running sum over
// depth, in order, whatever the tile: a row's bits do not depend on its neighbours.
INLINE void tile(const float *a, uint32_t a_stride, const float *b, uint32_t b_stride, float *c,
                 uint32_t c_stride, uint32_t depth, const int rows, const int vectors) {
    vec sum[TILE_ROWS][WIDE];
    UNROLL for (int i = 0; i < rows; i++) {
        UNROLL for (int j = 0; j < vectors; j++) sum[i][j] = ZERO;
    }
    for (uint32_t k = 0; k < depth; k++) {
        vec right[WIDE];
        UNROLL for (int j = 0; j < vectors; j++) right[j] = LOAD_AT(b, 16 * j);
        UNROLL for (int i = 0; i < rows; i++) {
            vec left = wasm_v128_load32_splat(a + i * a_stride);
            UNROLL for (int j = 0; j < vectors; j++) {
                sum[i][j] = ADD(sum[i][j], MUL(left, right[j]));
            }
        }
        a += 1;
        b += b_stride;
    }
    UNROLL for (int i = 0; i < rows; i++) {
        UNROLL for (int j = 0; j < vectors; j++) STORE(c + i * c_stride + 4 * j, sum[i][j]);
    }
}

INLINE void row_tiles(const float *a, uint32_t a_stride, const float *b, uint32_t b_stride,
                      float *c, uint32_t c_stride, uint32_t depth, uint32_t columns,
                      const int rows) {
    uint32_t n = 0;
    for (; rows == 1 && n + 4 * WIDE <= columns; n += 4 * WIDE) {
        tile(a, a_stride, b + n, b_stride, c + n, c_stride, depth, 1, WIDE);
    }
    for (; n + 8 <= columns; n += 8) {
        tile(a, a_stride, b + n, b_stride, c + n, c_stride, depth, rows, 2);
    }
    if (n < columns) tile(a, a_stride, b + n, b_stride, c + n, c_stride, depth, rows, 1);
}

void matmul(const float *a, uint32_t a_stride, const float *b, uint32_t b_stride, float *c,
            uint32_t c_stride, uint32_t rows, uint32_t depth, uint32_t columns) {
    uint32_t i = 0;
    for (; i + TILE_ROWS <= rows; i += TILE_ROWS) {
        row_tiles(a + i * a_stride, a_stride, b, b_stride, c + i * c_stride, c_stride, depth,
                  columns, TILE_ROWS);
    }
    for (; i < rows; i++) {
        row_tiles(a + i * a_stride, a_stride, b, b_stride, c + i * c_stride, c_stride, depth,
                  columns, 1);
    }
}

#else

void matmul(const float *a, uint32_t a_stride, const float *b, uint32_t b_stride, float *c,
            uint32_t c_stride, uint32_t rows, uint32_t depth, uint32_t columns) {
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t n = 0; n < columns; n++) {
            float sum = 0.0f;
            for (uint32_t k = 0; k < depth; k++) sum += a[i * a_stride + k] * b[k * b_stride + n];
            c[i * c_stride + n] = sum;
        }
    }
}

#endif
