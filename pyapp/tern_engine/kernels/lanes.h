// Four lanes at a time: names, reductions, layer norm; and the layer norm of the scalar twin.
#pragma once

#include "tern.h"

// Mean and 1 / sqrt(biased variance + eps) of a row; n is a multiple of 4.
struct moments {
    float mean;
    float scale;
};

// Sum, largest and smallest float of a row.
struct extent {
    float sum, top, bottom;
};

#ifndef TERN_SCALAR

#include <wasm_simd128.h>

#define UNROLL _Pragma("clang loop unroll(full)")

typedef v128_t vec;  // 4 x f32, 4 x i32, 8 x i16 or 16 x i8, as the operation reads it

#define LOAD(p) wasm_v128_load(p)
#define STORE(p, v) wasm_v128_store(p, v)
// Loads whose byte offset, a constant, stands in the instruction. The compiler would add it to the
// pointer instead, one more instruction a load in loops that hold little else. It does not know
// that these read memory: put BARRIER between them and stores to what they read.
#define LOAD_AT(pointer, offset) INSTRUCTION(vec, "v128.load", pointer, offset)
#define LOAD_SPLAT_AT(pointer, offset) INSTRUCTION(vec, "v128.load32_splat", pointer, offset)
#define LOAD_U32_AT(pointer, offset) INSTRUCTION(uint32_t, "i32.load", pointer, offset)
#define BARRIER __asm__ volatile("" ::: "memory")
#define INSTRUCTION(type, name, pointer, offset)                                        \
    ({                                                                                  \
        type loaded_;                                                                   \
        __asm__ volatile("local.get %1\n\t" name " %2\n\tlocal.set %0"                 \
                         : "=r"(loaded_)                                                \
                         : "r"(pointer), "i"(offset));                                  \
        loaded_;                                                                        \
    })

// False for an address, as the stack lies where memory begins; but no compiler knows.
INLINE int never(uint32_t address) {
    __asm__ volatile("" : "+r"(address));
    return __builtin_expect(address == 0, 0);
}

#define ADD wasm_f32x4_add
#define SUB wasm_f32x4_sub
#define MUL wasm_f32x4_mul
#define SPLAT wasm_f32x4_splat
#define ZERO wasm_i32x4_splat(0)

// 3 * 2^22: the last bit of a float near it is worth 1. So adding it rounds a float of at most 2^22
// to an integer (halves to even), and the sum's bits are ROUNDING's and the integer added.
#define ROUNDING 12582912.0f

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

// Four running sums, so that no addition waits for the one before.
INLINE float row_sum(const float *x, uint32_t n) {
    vec sum[4] = {ZERO, ZERO, ZERO, ZERO};
    uint32_t k = 0;
    for (; k + 16 <= n; k += 16) {
        UNROLL for (int j = 0; j < 4; j++) sum[j] = ADD(sum[j], LOAD(x + k + 4 * j));
    }
    for (; k < n; k += 4) sum[0] = ADD(sum[0], LOAD(x + k));
    return lane_sum(ADD(ADD(sum[0], sum[1]), ADD(sum[2], sum[3])));
}

INLINE struct extent extent_of(vec sum, vec top, vec bottom) {
    return (struct extent){lane_sum(sum), lane_max(top), -lane_max(wasm_f32x4_neg(bottom))};
}

// The sum is that of row_sum().
INLINE struct extent row_extent(const float *x, uint32_t n) {
    vec sum[4] = {ZERO, ZERO, ZERO, ZERO}, top[2], bottom[2];
    top[0] = top[1] = bottom[0] = bottom[1] = LOAD(x);
    uint32_t k = 0;
    for (; k + 16 <= n; k += 16) {
        UNROLL for (int j = 0; j < 4; j++) {
            vec v = LOAD(x + k + 4 * j);
            sum[j] = ADD(sum[j], v);
            top[j % 2] = wasm_f32x4_pmax(top[j % 2], v);
            bottom[j % 2] = wasm_f32x4_pmin(bottom[j % 2], v);
        }
    }
    for (; k < n; k += 4) {
        vec v = LOAD(x + k);
        sum[0] = ADD(sum[0], v);
        top[0] = wasm_f32x4_pmax(top[0], v);
        bottom[0] = wasm_f32x4_pmin(bottom[0], v);
    }
    return extent_of(ADD(ADD(sum[0], sum[1]), ADD(sum[2], sum[3])),
                     wasm_f32x4_pmax(top[0], top[1]), wasm_f32x4_pmin(bottom[0], bottom[1]));
}

// Moments of a row whose sum is known.
INLINE struct moments row_moments(const float *x, uint32_t n, float sum) {
    float mean = sum / (float)n;
    vec center = SPLAT(mean), squares[4] = {ZERO, ZERO, ZERO, ZERO};
    uint32_t k = 0;
    for (; k + 16 <= n; k += 16) {
        UNROLL for (int j = 0; j < 4; j++) {
            vec d = SUB(LOAD(x + k + 4 * j), center);
            squares[j] = ADD(squares[j], MUL(d, d));
        }
    }
    for (; k < n; k += 4) {
        vec d = SUB(LOAD(x + k), center);
        squares[0] = ADD(squares[0], MUL(d, d));
    }
    vec total = ADD(ADD(squares[0], squares[1]), ADD(squares[2], squares[3]));
    float variance = lane_sum(total) / (float)n;
    return (struct moments){mean, 1.0f / __builtin_sqrtf(variance + LAYER_NORM_EPS)};
}

// y = (x - mean) * scale * gamma + beta
INLINE vec affine_norm(vec x, struct moments m, const float *gamma, const float *beta) {
    vec n = MUL(SUB(x, SPLAT(m.mean)), SPLAT(m.scale));
    return ADD(MUL(n, LOAD(gamma)), LOAD(beta));
}

#else

INLINE float row_sum(const float *x, uint32_t n) {
    float sum = 0.0f;
    for (uint32_t k = 0; k < n; k++) sum += x[k];
    return sum;
}

INLINE struct extent row_extent(const float *x, uint32_t n) {
    struct extent extent = {row_sum(x, n), x[0], x[0]};
    for (uint32_t k = 1; k < n; k++) {
        if (x[k] > extent.top) extent.top = x[k];
        if (x[k] < extent.bottom) extent.bottom = x[k];
    }
    return extent;
}

INLINE struct moments row_moments(const float *x, uint32_t n, float sum) {
    float mean = sum / (float)n, squares = 0.0f;
    for (uint32_t k = 0; k < n; k++) squares += (x[k] - mean) * (x[k] - mean);
    return (struct moments){mean, 1.0f / __builtin_sqrtf(squares / (float)n + LAYER_NORM_EPS)};
}

#endif
