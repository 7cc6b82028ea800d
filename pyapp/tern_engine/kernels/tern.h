// Shared by every kernel file: vector names, reductions, exports.
//
// Freestanding wasm32 + simd128. All memory is planned by Python (model.py); C never allocates.
// Sums run in a fixed order and nothing is contracted or reassociated, so that every host
// produces the same bits.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

#define EXPORT(name) __attribute__((export_name(#name)))
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")

typedef v128_t vec;  // 4 x f32, 4 x i32, 8 x i16 or 16 x i8, as the operation reads it

#define LOAD(p) wasm_v128_load(p)
#define STORE(p, v) wasm_v128_store(p, v)
#define ADD wasm_f32x4_add
#define SUB wasm_f32x4_sub
#define MUL wasm_f32x4_mul
#define SPLAT wasm_f32x4_splat
#define ZERO wasm_i32x4_splat(0)

#define LAYER_NORM_EPS 1e-5f

// The span of token rows that one operation works on.
struct span {
    uint32_t first;
    uint32_t rows;
};

INLINE uint32_t minimum(uint32_t a, uint32_t b) { return a < b ? a : b; }
INLINE uint32_t round_up(uint32_t n, uint32_t step) { return (n + step - 1) / step * step; }

INLINE float *floats(uint32_t offset) { return (float *)(uintptr_t)offset; }
INLINE int32_t *ints(uint32_t offset) { return (int32_t *)(uintptr_t)offset; }
INLINE int16_t *shorts(uint32_t offset) { return (int16_t *)(uintptr_t)offset; }
INLINE uint8_t *bytes(uint32_t offset) { return (uint8_t *)(uintptr_t)offset; }

// Lane sum in the order (0 + 2) + (1 + 3).
INLINE float lane_sum(vec v) {
    v = ADD(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
    v = ADD(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2));
    return wasm_f32x4_extract_lane(v, 0);
}

INLINE float lane_max(vec v) {
    v = wasm_f32x4_pmax(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
    v = wasm_f32x4_pmax(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2));
    return wasm_f32x4_extract_lane(v, 0);
}

// Mean and 1 / sqrt(biased variance + eps) of a row; n is a multiple of 4.
struct moments {
    float mean;
    float scale;
};

INLINE float row_mean(const float *x, uint32_t n) {
    vec sum[4] = {ZERO, ZERO, ZERO, ZERO};
    uint32_t k = 0;
    for (; k + 16 <= n; k += 16) {
        UNROLL for (int j = 0; j < 4; j++) sum[j] = ADD(sum[j], LOAD(x + k + 4 * j));
    }
    for (; k < n; k += 4) sum[0] = ADD(sum[0], LOAD(x + k));
    return lane_sum(ADD(ADD(sum[0], sum[1]), ADD(sum[2], sum[3]))) / (float)n;
}

INLINE struct moments row_moments(const float *x, uint32_t n) {
    float mean = row_mean(x, n);
    vec center = SPLAT(mean);
    vec sum[4] = {ZERO, ZERO, ZERO, ZERO};
    uint32_t k = 0;
    for (; k + 16 <= n; k += 16) {
        UNROLL for (int j = 0; j < 4; j++) {
            vec d = SUB(LOAD(x + k + 4 * j), center);
            sum[j] = ADD(sum[j], MUL(d, d));
        }
    }
    for (; k < n; k += 4) {
        vec d = SUB(LOAD(x + k), center);
        sum[0] = ADD(sum[0], MUL(d, d));
    }
    float variance = lane_sum(ADD(ADD(sum[0], sum[1]), ADD(sum[2], sum[3]))) / (float)n;
    return (struct moments){mean, 1.0f / __builtin_sqrtf(variance + LAYER_NORM_EPS)};
}

// y = (x - mean) * scale * gamma + beta
INLINE vec affine_norm(vec x, struct moments m, const float *gamma, const float *beta) {
    vec n = MUL(SUB(x, SPLAT(m.mean)), SPLAT(m.scale));
    return ADD(MUL(n, LOAD(gamma)), LOAD(beta));
}

// c[rows, columns] = a[rows, depth] b[depth, columns]; strides in floats, columns a multiple of 4.
void matmul(const float *a, uint32_t a_stride, const float *b, uint32_t b_stride, float *c,
            uint32_t c_stride, uint32_t rows, uint32_t depth, uint32_t columns);
