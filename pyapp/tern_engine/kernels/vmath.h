// exp and GELU, on four lanes and on one. Coefficients and their errors come from tools/fit_math.py.
#pragma once

#include "lanes.h"

#ifndef TERN_SCALAR

// exp(x) for x <= 0, relative error 1e-7; exactly 0 below -87.
INLINE vec exp_nonpositive(vec x) {
    vec keep = wasm_f32x4_ge(x, SPLAT(-87.0f));
    x = wasm_f32x4_pmax(SPLAT(-87.0f), x);
    vec n = wasm_f32x4_nearest(MUL(x, SPLAT(1.442695041f)));
    // ln 2 in two parts: the first has few bits, so n times it is exact.
    vec r = SUB(SUB(x, MUL(n, SPLAT(0.693359375f))), MUL(n, SPLAT(-2.121944400e-4f)));
    vec p = SPLAT(1.381461276e-03f);
    p = ADD(MUL(p, r), SPLAT(8.368710056e-03f));
    p = ADD(MUL(p, r), SPLAT(4.166838899e-02f));
    p = ADD(MUL(p, r), SPLAT(1.666652113e-01f));
    p = ADD(MUL(p, r), SPLAT(4.999999404e-01f));
    p = ADD(ADD(MUL(p, MUL(r, r)), r), SPLAT(1.0f));
    vec exponent = wasm_i32x4_add(wasm_i32x4_trunc_sat_f32x4(n), wasm_i32x4_splat(127));
    return wasm_v128_and(MUL(p, wasm_i32x4_shl(exponent, 23)), keep);
}

// x/2 (1 + erf(x / sqrt 2)), written max(x, 0) - |x| q(|x|)^-16; absolute error 6e-7.
INLINE vec gelu(vec x) {
    vec t = wasm_f32x4_abs(x);
    vec q = SPLAT(6.847693385e-06f);
    q = ADD(MUL(q, t), SPLAT(4.099928265e-05f));
    q = ADD(MUL(q, t), SPLAT(7.034954615e-05f));
    q = ADD(MUL(q, t), SPLAT(3.379364731e-03f));
    q = ADD(MUL(q, t), SPLAT(2.210582606e-02f));
    q = ADD(MUL(q, t), SPLAT(5.206723139e-02f));
    q = ADD(MUL(q, t), SPLAT(1.044274330e+00f));
    q = MUL(q, q);
    q = MUL(q, q);
    q = MUL(q, q);
    q = MUL(q, q);
    return SUB(wasm_f32x4_pmax(x, ZERO), wasm_f32x4_div(t, q));
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
    float q = 6.847693385e-06f;
    q = q * t + 4.099928265e-05f;
    q = q * t + 7.034954615e-05f;
    q = q * t + 3.379364731e-03f;
    q = q * t + 2.210582606e-02f;
    q = q * t + 5.206723139e-02f;
    q = q * t + 1.044274330e+00f;
    for (int i = 0; i < 4; i++) q = q * q;
    return (x > 0.0f ? x : 0.0f) - t / q;
}

#endif
