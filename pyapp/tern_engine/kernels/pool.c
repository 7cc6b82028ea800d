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

// out = the mean over the text's tokens of `vectors` vectors of their rows, in the tokens' order.
INLINE void mean(const float *rows, uint32_t stride, const uint32_t *places, uint32_t tokens,
                 float *out, const int vectors) {
    vec sum[4] = {ZERO, ZERO, ZERO, ZERO}, count = SPLAT((float)tokens);
    for (uint32_t token = 0; token < tokens; token++) {
        const float *x = rows + place_of(places, token) * stride;
        UNROLL for (int j = 0; j < vectors; j++) sum[j] = ADD(sum[j], LOAD(x + 4 * j));
    }
    UNROLL for (int j = 0; j < vectors; j++) STORE(out + 4 * j, wasm_f32x4_div(sum[j], count));
}

// target [text][d_model] = mean over the text's tokens of LN(source; gamma, beta), which is left in
// source.
void op_pool(const struct pool_operands *o, struct text text, uint32_t index) {
    const uint32_t d = o->d_model, *places = places_of(o->places, text);
    float *rows = floats(o->source) + text.first_row * d, *target = floats(o->target) + index * d;
    for (uint32_t row = 0; row < text.rows; row++) {
        float *x = rows + row * d;
        struct moments m = row_moments(x, d, row_sum(x, d));
        for (uint32_t k = 0; k < d; k += 4) {
            STORE(x + k, affine_norm(LOAD(x + k), m, floats(o->gamma) + k, floats(o->beta) + k));
        }
    }
    uint32_t k = 0;
    for (; k + 16 <= d; k += 16) mean(rows + k, d, places, text.tokens, target + k, 4);
    for (; k < d; k += 4) mean(rows + k, d, places, text.tokens, target + k, 1);
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

void op_pool(const struct pool_operands *o, struct text text, uint32_t index) {
    const uint32_t *places = places_of(o->places, text);
    float *target = floats(o->target) + index * o->d_model;
    for (uint32_t k = 0; k < o->d_model; k++) target[k] = 0.0f;
    for (uint32_t token = 0; token < text.tokens; token++) {
        uint32_t row = text.first_row + place_of(places, token);
        const float *x = floats(o->source) + row * o->d_model;
        struct moments m = row_moments(x, o->d_model, row_sum(x, o->d_model));
        for (uint32_t k = 0; k < o->d_model; k++) {
            target[k] += (x[k] - m.mean) * m.scale * floats(o->gamma)[k] + floats(o->beta)[k];
        }
    }
    for (uint32_t k = 0; k < o->d_model; k++) target[k] /= (float)text.tokens;
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
