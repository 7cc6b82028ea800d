// softmax(q k^T / sqrt(d_head)) v for one text, head by head, a block of queries at a time.
#include "ops.h"
#include "vmath.h"

#define QUERY_BLOCK 16

#ifndef TERN_SCALAR

// keys [tokens] rows of `stride` -> transposed [d_head][padded], the columns past `tokens` zero.
static void transpose_keys(const float *keys, uint32_t stride, float *transposed, uint32_t tokens,
                           uint32_t padded, uint32_t d_head) {
    for (uint32_t j = 0; j < padded; j += 4) {
        for (uint32_t c = 0; c < d_head; c += 4) {
            vec r[4];
            UNROLL for (int i = 0; i < 4; i++) {
                r[i] = j + i < tokens ? LOAD(keys + (j + i) * stride + c) : ZERO;
            }
            vec t0 = wasm_i32x4_shuffle(r[0], r[1], 0, 4, 1, 5);
            vec t1 = wasm_i32x4_shuffle(r[2], r[3], 0, 4, 1, 5);
            vec t2 = wasm_i32x4_shuffle(r[0], r[1], 2, 6, 3, 7);
            vec t3 = wasm_i32x4_shuffle(r[2], r[3], 2, 6, 3, 7);
            float *out = transposed + c * padded + j;
            STORE(out, wasm_i64x2_shuffle(t0, t1, 0, 2));
            STORE(out + padded, wasm_i64x2_shuffle(t0, t1, 1, 3));
            STORE(out + 2 * padded, wasm_i64x2_shuffle(t2, t3, 0, 2));
            STORE(out + 3 * padded, wasm_i64x2_shuffle(t2, t3, 1, 3));
        }
    }
}

// Lanes of the vector that starts at column j which lie before `tokens`, all bits set.
INLINE vec before_end(uint32_t j, uint32_t tokens) {
    vec lane = wasm_i32x4_add(wasm_i32x4_splat((int32_t)j), wasm_i32x4_const(0, 1, 2, 3));
    return wasm_i32x4_lt(lane, wasm_i32x4_splat((int32_t)tokens));
}

// Softmax over the first `tokens` of each row of scores [rows][padded], in place; the padding becomes
// 0, since it is set so low. May change up to 16 floats past the last row.
static void softmax_rows(float *scores, uint32_t rows, uint32_t tokens, uint32_t padded,
                         float scale) {
    vec factor = SPLAT(scale), lowest = SPLAT(-3.0e38f), mask = before_end(padded - 4, tokens);
    float *end = scores + rows * padded;
    for (float *row = scores; row < end; row += padded) {
        vec largest = lowest;
        uint32_t j = 0;
        for (; j + 4 < padded; j += 4) {
            vec s = MUL(LOAD(row + j), factor);
            STORE(row + j, s);
            largest = wasm_f32x4_pmax(largest, s);
        }
        vec s = wasm_v128_bitselect(MUL(LOAD(row + j), factor), lowest, mask);
        STORE(row + j, s);
        vec top = SPLAT(lane_max(wasm_f32x4_pmax(largest, s)));
        for (j = 0; j < padded; j += 4) STORE(row + j, SUB(LOAD(row + j), top));
    }
    for (float *x = scores; x < end; x += 4 * VECTORS) exp_nonpositive(x);
    for (float *row = scores; row < end; row += padded) {
        vec sum = ZERO;
        for (uint32_t j = 0; j < padded; j += 4) sum = ADD(sum, LOAD(row + j));
        vec inverse = SPLAT(1.0f / lane_sum(sum));
        for (uint32_t j = 0; j < padded; j += 4) STORE(row + j, MUL(LOAD(row + j), inverse));
    }
}

#else

static void transpose_keys(const float *keys, uint32_t stride, float *transposed, uint32_t tokens,
                           uint32_t padded, uint32_t d_head) {
    for (uint32_t c = 0; c < d_head; c++) {
        for (uint32_t j = 0; j < padded; j++) {
            transposed[c * padded + j] = j < tokens ? keys[j * stride + c] : 0.0f;
        }
    }
}

static void softmax_row(float *scores, uint32_t tokens, uint32_t padded, float scale) {
    float largest = -3.0e38f, sum = 0.0f;
    for (uint32_t j = 0; j < tokens; j++) {
        scores[j] *= scale;
        if (scores[j] > largest) largest = scores[j];
    }
    for (uint32_t j = 0; j < tokens; j++) sum += exp_nonpositive(scores[j] - largest);
    for (uint32_t j = 0; j < padded; j++) {
        scores[j] = j < tokens ? exp_nonpositive(scores[j] - largest) / sum : 0.0f;
    }
}

static void softmax_rows(float *scores, uint32_t rows, uint32_t tokens, uint32_t padded,
                         float scale) {
    for (uint32_t r = 0; r < rows; r++) softmax_row(scores + r * padded, tokens, padded, scale);
}

#endif

// qkv: [tokens][3][heads][padded_head], zero past d_head; target: [tokens][heads * d_head].
// scratch: transposed keys [padded_head][padded tokens], scores [QUERY_BLOCK][padded tokens],
// and one output block [QUERY_BLOCK][padded_head] for heads whose size is no multiple of 4.
void op_attend(const struct attend_operands *o, struct span text) {
    uint32_t head_size = o->padded_head, width = o->heads * head_size, stride = 3 * width;
    uint32_t d_model = o->heads * o->d_head, padded = round_up(text.rows, 4);
    float *transposed = floats(o->scratch);
    float *scores = transposed + head_size * padded;
    float *block = scores + QUERY_BLOCK * padded;
    float scale = 1.0f / __builtin_sqrtf((float)o->d_head);

    for (uint32_t head = 0; head < o->heads; head++) {
        const float *q = floats(o->qkv) + text.first * stride + head * head_size;
        const float *k = q + width, *v = q + 2 * width;
        float *out = floats(o->target) + text.first * d_model + head * o->d_head;
        transpose_keys(k, stride, transposed, text.rows, padded, head_size);
        for (uint32_t i = 0; i < text.rows; i += QUERY_BLOCK) {
            uint32_t rows = minimum(QUERY_BLOCK, text.rows - i);
            matmul(q + i * stride, stride, transposed, padded, scores, padded, rows, head_size,
                   padded);
            softmax_rows(scores, rows, text.rows, padded, scale);
            if (head_size == o->d_head) {
                matmul(scores, padded, v, stride, out + i * d_model, d_model, rows, text.rows,
                       head_size);
                continue;
            }
            matmul(scores, padded, v, stride, block, head_size, rows, text.rows, head_size);
            for (uint32_t r = 0; r < rows; r++) {
                for (uint32_t c = 0; c < o->d_head; c++) {
                    out[(i + r) * d_model + c] = block[r * head_size + c];
                }
            }
        }
    }
}
