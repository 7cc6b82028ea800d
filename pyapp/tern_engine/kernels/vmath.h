// exp and GELU, on four lanes and on one. Coefficients and their errors come from tools/fit_math.py.
#pragma once

#include "lanes.h"

#ifndef TERN_SCALAR

// exp and GELU treat several vectors at a time, in place, and their loops over coefficients (highest
// degree first) are not unrolled: so the polynomials advance side by side, where otherwise each
// would wait for its own last step.
#define VECTORS 4
#define GELU_VECTORS 7  // as many as have registers
#define BY_COEFFICIENTS _Pragma("clang loop unroll(disable)")

static const float exp_p[5] = {1.381461276e-03f, 8.368710056e-03f, 4.166838899e-02f,
                               1.666652113e-01f, 4.999999404e-01f};

// x = exp(x - top) for x <= top, relative error 1e-7; exactly 0 below -87. The vectors are `stride`
// floats apart.
INLINE void exp_below(float *x, const uint32_t stride, vec top) {
    vec power[VECTORS], r[VECTORS], p[VECTORS];
    UNROLL for (int i = 0; i < VECTORS; i++) {
        vec v = SUB(LOAD(x + i * stride), top);
        STORE(x + i * stride, v);
        v = wasm_f32x4_pmax(SPLAT(-87.0f), v);
        // n = x / ln 2, rounded; ln 2 in two parts: the first has few bits, so n times it is exact.
        vec sum = ADD(MUL(v, SPLAT(1.442695041f)), SPLAT(ROUNDING)), n = SUB(sum, SPLAT(ROUNDING));
        r[i] = SUB(SUB(v, MUL(n, SPLAT(0.693359375f))), MUL(n, SPLAT(-2.121944400e-4f)));
        // 2^n: n + 127 as a float's exponent.
        power[i] = wasm_i32x4_shl(wasm_i32x4_add(sum, wasm_i32x4_splat(127)), 23);
        p[i] = SPLAT(exp_p[0]);
    }
    BY_COEFFICIENTS for (int k = 1; k < 5; k++) {
        vec c = wasm_v128_load32_splat(exp_p + k);
        UNROLL for (int i = 0; i < VECTORS; i++) p[i] = ADD(MUL(p[i], r[i]), c);
    }
    UNROLL for (int i = 0; i < VECTORS; i++) {
        vec keep = wasm_f32x4_ge(LOAD(x + i * stride), SPLAT(-87.0f));
        vec e = ADD(ADD(MUL(p[i], MUL(r[i], r[i])), r[i]), SPLAT(1.0f));
        STORE(x + i * stride, wasm_v128_and(MUL(e, power[i]), keep));
    }
}

// x/2 (1 + erf(x / sqrt 2)), written max(x, 0) - |x| q(|x|)^-16; absolute error 6e-7.
static const float gelu_q[7] = {6.847694294e-06f, 4.099927537e-05f, 7.034957525e-05f,
                                3.379364731e-03f, 2.210582606e-02f, 5.206723139e-02f,
                                1.044274330e+00f};

INLINE void gelu(float *x, const int vectors) {
    vec t[GELU_VECTORS], q[GELU_VECTORS];
    UNROLL for (int i = 0; i < vectors; i++) {
        t[i] = wasm_f32x4_abs(LOAD(x + 4 * i));
        q[i] = SPLAT(gelu_q[0]);
    }
    BY_COEFFICIENTS for (int k = 1; k < 7; k++) {
        vec c = wasm_v128_load32_splat(gelu_q + k);
        UNROLL for (int i = 0; i < vectors; i++) q[i] = ADD(MUL(q[i], t[i]), c);
    }
    UNROLL for (int i = 0; i < vectors; i++) {
        vec p = MUL(q[i], q[i]);
        p = MUL(p, p);
        p = MUL(p, p);
        p = MUL(p, p);
        STORE(x + 4 * i, SUB(wasm_f32x4_pmax(LOAD(x + 4 * i), ZERO), wasm_f32x4_div(t[i], p)));
    }
}

#else

INLINE float exp_nonpositive(float x) {
    if (!(x >= -87.0f)) return 0.0f;
    float n = __builtin_rintf(x * 1.442695041f);
    float r = (x - n * 0.693359375f) - n * -2.121944400e-4f;
    float p = 1.381461276e-03f;
    p = p * r + 8.368710056e-03f;
    p = p * r + 4.166838899e-02f;
    p = p * r + 1.666652113e-01f;
    p = p * r + 4.999999404e-01f;
    p = (p * (r * r) + r) + 1.0f;
    for (; n < 0.0f; n += 1.0f) p *= 0.5f;
    return p;
}

INLINE float gelu(float x) {
    float t = __builtin_fabsf(x);
    float q = 6.847694294e-06f;
    q = q * t + 4.099927537e-05f;
    q = q * t + 7.034957525e-05f;
    q = q * t + 3.379364731e-03f;
    q = q * t + 2.210582606e-02f;
    q = q * t + 5.206723139e-02f;
    q = q * t + 1.044274330e+00f;
    for (int i = 0; i < 4; i++) q = q * q;
    return (x > 0.0f ? x : 0.0f) - t / q;
}

#endif
