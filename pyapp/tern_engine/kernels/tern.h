// Shared by every kernel file: exports, offsets, spans of rows.
//
// Freestanding wasm32 + simd128. All memory is planned by Python (model.py); C never allocates.
// Sums run in a fixed order and nothing is contracted or reassociated, so that every host
// produces the same bits. Under TERN_SCALAR each file compiles its plain twin instead, which
// only tests use.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(#name)))
#define INLINE static inline __attribute__((always_inline))
#define LAYER_NORM_EPS 1e-5f

// The span of token rows that one operation works on.
struct span {
    uint32_t first;
    uint32_t rows;
};

// One text: its tokens among those of the call, and its rows, one for each distinct token.
struct text {
    uint32_t first_token;
    uint32_t tokens;
    uint32_t first_row;
    uint32_t rows;
};

// What a row of quantized activations allows product.c to do.
#define LONG_BLOCK 128
#define SHORT_BLOCK 32
#define LONG_SPAN 512
#define SHORT_SPAN 128
struct bounds {
    uint32_t block;  // columns over which every aligned sum of +-q stays inside 14 bits
    uint32_t span;   // columns over which every aligned sum of +-q stays inside an int16
};

INLINE uint32_t minimum(uint32_t a, uint32_t b) { return a < b ? a : b; }
INLINE uint32_t round_up(uint32_t n, uint32_t step) { return (n + step - 1) / step * step; }

INLINE float *floats(uint32_t offset) { return (float *)(uintptr_t)offset; }
INLINE int32_t *ints(uint32_t offset) { return (int32_t *)(uintptr_t)offset; }
INLINE int16_t *shorts(uint32_t offset) { return (int16_t *)(uintptr_t)offset; }
INLINE struct bounds *bounds(uint32_t offset) { return (struct bounds *)(uintptr_t)offset; }
// Rows of a text's tokens, counted from its first row; NULL where each token has a row of its own.
INLINE const uint32_t *places_of(uint32_t places, struct text text) {
    return places ? (const uint32_t *)ints(places) + text.first_token : NULL;
}
INLINE uint32_t place_of(const uint32_t *places, uint32_t token) {
    return places ? places[token] : token;
}
INLINE uint8_t *bytes(uint32_t offset) { return (uint8_t *)(uintptr_t)offset; }

#define PROJECT_PANEL 24  // outputs of the projection that lie together: WIDE vectors of matmul.c

// c[rows, columns] = a[rows, depth] b[depth, columns]; strides in floats, columns a multiple of 4.
void matmul(const float *a, uint32_t a_stride, const float *b, uint32_t b_stride, float *c,
            uint32_t c_stride, uint32_t rows, uint32_t depth, uint32_t columns);
