// From token rows to the embedding: final layer norm, mean over tokens, projection, unit length.
#include "lanes.h"
#include "ops.h"

// target = source weights, the weights in the panels of pack_projection(): so they are read in the
// order in which they lie.
static void multiply_panels(const struct project_operands *o, uint32_t texts) {
    for (uint32_t n = 0; n < o->padded; n += PROJECT_PANEL) {
        uint32_t width = minimum(PROJECT_PANEL, o->padded - n);
        matmul(floats(o->source), o->d_model, floats(o->weights) + n * o->d_model, width,
               floats(o->target) + n, o->padded, texts, o->d_model, width);
    }
}

#ifndef TERN_SCALAR

// target [text][d_model] = mean over the text's rows of LN(source; gamma, beta).
void op_pool(const struct pool_operands *o, struct span text, uint32_t index) {
    float *target = floats(o->target) + index * o->d_model;
    for (uint32_t k = 0; k < o->d_model; k += 4) STORE(target + k, ZERO);
    for (uint32_t row = 0; row < text.rows; row++) {
        const float *x = floats(o->source) + (text.first + row) * o->d_model;
        struct moments m = row_moments(x, o->d_model, row_sum(x, o->d_model));
        for (uint32_t k = 0; k < o->d_model; k += 4) {
            vec normed = affine_norm(LOAD(x + k), m, floats(o->gamma) + k, floats(o->beta) + k);
            STORE(target + k, ADD(LOAD(target + k), normed));
        }
    }
    vec count = SPLAT((float)text.rows);
    for (uint32_t k = 0; k < o->d_model; k += 4) {
        STORE(target + k, wasm_f32x4_div(LOAD(target + k), count));
    }
}

// target [text][padded] = normalize(source weights + bias); weights of the outputs past output_dim
// are zero, so that they add nothing to the length.
void op_project(const struct project_operands *o, uint32_t texts) {
    multiply_panels(o, texts);
    for (uint32_t text = 0; text < texts; text++) {
        float *y = floats(o->target) + text * o->padded;
        vec squares = ZERO;
        for (uint32_t n = 0; n < o->padded; n += 4) {
            vec v = ADD(LOAD(y + n), LOAD(floats(o->bias) + n));
            STORE(y + n, v);
            squares = ADD(squares, MUL(v, v));
        }
        float length = __builtin_sqrtf(lane_sum(squares));
        vec divisor = SPLAT(length > 1e-12f ? length : 1e-12f);
        for (uint32_t n = 0; n < o->padded; n += 4) {
            STORE(y + n, wasm_f32x4_div(LOAD(y + n), divisor));
        }
    }
}

#else

void op_pool(const struct pool_operands *o, struct span text, uint32_t index) {
    float *target = floats(o->target) + index * o->d_model;
    for (uint32_t k = 0; k < o->d_model; k++) target[k] = 0.0f;
    for (uint32_t row = 0; row < text.rows; row++) {
        const float *x = floats(o->source) + (text.first + row) * o->d_model;
        struct moments m = row_moments(x, o->d_model, row_sum(x, o->d_model));
        for (uint32_t k = 0; k < o->d_model; k++) {
            target[k] += (x[k] - m.mean) * m.scale * floats(o->gamma)[k] + floats(o->beta)[k];
        }
    }
    for (uint32_t k = 0; k < o->d_model; k++) target[k] /= (float)text.rows;
}

void op_project(const struct project_operands *o, uint32_t texts) {
    multiply_panels(o, texts);
    for (uint32_t text = 0; text < texts; text++) {
        float *y = floats(o->target) + text * o->padded, squares = 0.0f;
        for (uint32_t n = 0; n < o->padded; n++) {
            y[n] += floats(o->bias)[n];
            squares += y[n] * y[n];
        }
        float length = __builtin_sqrtf(squares);
        if (length < 1e-12f) length = 1e-12f;
        for (uint32_t n = 0; n < o->padded; n++) y[n] /= length;
    }
}

#endif
