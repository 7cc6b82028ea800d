// softmax(q k^T / sqrt(d_head)) v for one text, head by head, a block of queries at a time. Equal
// tokens of a text share a row (distinct.c): queries are rows, keys and values are tokens.
#include "ops.h"
#include "vmath.h"

#ifndef TERN_SCALAR

#define QUERY_BLOCK 16  // queries whose scores are held, a lane a query
#define TILE 4          // keys, or queries, whose sums stand in registers side by side
#define VALUE_PANEL 8   // columns of the values that lie together

// Functions of their own, for their loops to have all registers.
#define OWN __attribute__((noinline)) static

// sum[i][lane] = sum over k of left[k][i] * right[k][lane]: one running sum over depth, in order.
INLINE void multiply_tile(const float *left, const uint32_t left_stride, const float *right,
                          const uint32_t right_stride, uint32_t depth, vec sum[TILE][2],
                          const int vectors) {
    UNROLL for (int i = 0; i < TILE; i++) {
        UNROLL for (int j = 0; j < vectors; j++) sum[i][j] = ZERO;
    }
    const float *end = left + depth * left_stride;
    for (; left < end; left += left_stride, right += right_stride) {
        vec across[2];
        UNROLL for (int j = 0; j < vectors; j++) across[j] = LOAD_AT(right, 16 * j);
        UNROLL for (int i = 0; i < TILE; i++) {
            vec down = LOAD_SPLAT_AT(left, 4 * i);
            UNROLL for (int j = 0; j < vectors; j++) {
                sum[i][j] = ADD(sum[i][j], MUL(down, across[j]));
            }
        }
    }
}

// scores[key][lane] = scale * (key . query), for the queries of `vectors` vectors of lanes.
INLINE void score(const float *keys, const float *queries, float *scores, uint32_t depth,
                  uint32_t padded, float scale, const int vectors) {
    for (uint32_t key = 0; key < padded; key += TILE, keys += TILE * depth) {
        vec sum[TILE][2];
        multiply_tile(keys, TILE, queries, QUERY_BLOCK, depth, sum, vectors);
        UNROLL for (int i = 0; i < TILE; i++, scores += QUERY_BLOCK) {
            UNROLL for (int j = 0; j < vectors; j++) {
                STORE(scores + 4 * j, MUL(sum[i][j], SPLAT(scale)));
            }
        }
    }
}

OWN void score_8(const float *keys, const float *queries, float *scores, uint32_t depth,
                 uint32_t padded, float scale) {
    score(keys, queries, scores, depth, padded, scale, 2);
}

OWN void score_4(const float *keys, const float *queries, float *scores, uint32_t depth,
                 uint32_t padded, float scale) {
    score(keys, queries, scores, depth, padded, scale, 1);
}

// Weights from scores [padded][lane], in place. What is past `tokens` becomes 0, since it is set so
// low. A lane's sum has four parts, the keys of each remainder by 4.
OWN void softmax(float *scores, uint32_t tokens, uint32_t padded, uint32_t lanes) {
    vec lowest = SPLAT(-3.0e38f);
    float *end = scores + padded * QUERY_BLOCK;
    for (float *x = scores + tokens * QUERY_BLOCK; x < end; x += 4) STORE(x, lowest);
    for (uint32_t lane = 0; lane < lanes; lane += 4, scores += 4) {
        vec top[4] = {lowest, lowest, lowest, lowest}, sum[4] = {ZERO, ZERO, ZERO, ZERO};
        for (float *x = scores; x < end; x += 4 * QUERY_BLOCK) {
            UNROLL for (int i = 0; i < 4; i++) {
                top[i] = wasm_f32x4_pmax(top[i], LOAD(x + i * QUERY_BLOCK));
            }
        }
        vec largest = wasm_f32x4_pmax(wasm_f32x4_pmax(top[0], top[1]),
                                      wasm_f32x4_pmax(top[2], top[3]));
        for (float *x = scores; x < end; x += 4 * QUERY_BLOCK) {
            exp_below(x, QUERY_BLOCK, largest);
            UNROLL for (int i = 0; i < 4; i++) sum[i] = ADD(sum[i], LOAD(x + i * QUERY_BLOCK));
        }
        vec total = ADD(ADD(sum[0], sum[2]), ADD(sum[1], sum[3]));
        vec inverse = wasm_f32x4_div(SPLAT(1.0f), total);
        for (float *x = scores; x < end; x += QUERY_BLOCK) STORE(x, MUL(LOAD(x), inverse));
    }
}

// out[query][VALUE_PANEL] = sum over tokens of weights[token][query] * values[token][column], of
// which `columns` columns exist.
OWN void mix(const float *weights, const float *values, float *out, uint32_t stride,
             uint32_t tokens, uint32_t queries, uint32_t columns) {
    for (uint32_t first = 0; first < queries; first += TILE) {
        vec sum[TILE][2];
        multiply_tile(weights + first, QUERY_BLOCK, values, VALUE_PANEL, tokens, sum, 2);
        float block[TILE][VALUE_PANEL] __attribute__((aligned(16)));
        int whole = columns == VALUE_PANEL && first + TILE <= queries;
        float *to = whole ? out : block[0];
        uint32_t step = whole ? stride : VALUE_PANEL;
        UNROLL for (int i = 0; i < TILE; i++) {
            STORE(to + i * step, sum[i][0]);
            STORE(to + i * step + 4, sum[i][1]);
        }
        for (uint32_t i = 0; !whole && i < minimum(TILE, queries - first); i++) {
            for (uint32_t c = 0; c < columns; c++) out[i * stride + c] = block[i][c];
        }
        out += TILE * stride;
    }
}

// 4 rows x 4 columns -> 4 columns x 4 rows, `stride` floats apart.
INLINE void transpose(const vec r[4], float *out, uint32_t stride) {
    vec t0 = wasm_i32x4_shuffle(r[0], r[1], 0, 4, 1, 5);
    vec t1 = wasm_i32x4_shuffle(r[2], r[3], 0, 4, 1, 5);
    vec t2 = wasm_i32x4_shuffle(r[0], r[1], 2, 6, 3, 7);
    vec t3 = wasm_i32x4_shuffle(r[2], r[3], 2, 6, 3, 7);
    STORE(out, wasm_i64x2_shuffle(t0, t1, 0, 2));
    STORE(out + stride, wasm_i64x2_shuffle(t0, t1, 1, 3));
    STORE(out + 2 * stride, wasm_i64x2_shuffle(t2, t3, 0, 2));
    STORE(out + 3 * stride, wasm_i64x2_shuffle(t2, t3, 1, 3));
}

// out [depth][stride] = four vectors, of which those from `count` on repeat the first.
INLINE void transpose_four(const float *const from[4], uint32_t depth, float *out,
                           const uint32_t stride) {
    for (uint32_t c = 0; c < depth; c += 4, out += 4 * stride) {
        vec r[4];
        UNROLL for (int i = 0; i < 4; i++) r[i] = LOAD(from[i] + c);
        transpose(r, out, stride);
    }
}

// Keys in tiles [TILE keys] a column, values in panels [tokens][VALUE_PANEL]; tokens of the last
// tile that do not exist are the last one again.
static void gather_head(const float *k, const float *v, uint32_t stride, const uint32_t *places,
                        uint32_t tokens, uint32_t head_size, float *keys, float *values) {
    for (uint32_t first = 0; first < tokens; first += TILE, keys += TILE * head_size) {
        const float *from[4];
        UNROLL for (uint32_t i = 0; i < TILE; i++) {
            from[i] = k + place_of(places, minimum(first + i, tokens - 1)) * stride;
        }
        transpose_four(from, head_size, keys, TILE);
    }
    for (uint32_t token = 0; token < tokens; token++, values += VALUE_PANEL) {
        const float *from = v + place_of(places, token) * stride;
        float *to = values;
        for (uint32_t c = 0; c < head_size; c += VALUE_PANEL, to += tokens * VALUE_PANEL) {
            STORE(to, LOAD(from + c));
            STORE(to + 4, c + 4 < head_size ? LOAD(from + c + 4) : ZERO);
        }
    }
}

// qkv: [rows][3][heads][padded_head], zero past d_head; target: [rows][heads * d_head].
// scratch: keys [padded tokens][padded_head] in tiles, values [tokens][padded_head to 8] in panels,
// queries [padded_head][QUERY_BLOCK], scores [padded tokens][QUERY_BLOCK].
void op_attend(const struct attend_operands *o, struct text text) {
    uint32_t head_size = o->padded_head, width = o->heads * head_size, stride = 3 * width;
    uint32_t d_model = o->heads * o->d_head, padded = round_up(text.tokens, TILE);
    const uint32_t *places = places_of(o->places, text);
    float *keys = floats(o->scratch);
    float *values = keys + padded * head_size;
    float *queries = values + text.tokens * round_up(head_size, VALUE_PANEL);
    float *scores = queries + head_size * QUERY_BLOCK;
    float scale = 1.0f / __builtin_sqrtf((float)o->d_head);

    for (uint32_t head = 0; head < o->heads; head++) {
        const float *q = floats(o->qkv) + text.first_row * stride + head * head_size;
        float *out = floats(o->target) + text.first_row * d_model + head * o->d_head;
        gather_head(q + width, q + 2 * width, stride, places, text.tokens, head_size, keys, values);
        for (uint32_t row = 0; row < text.rows; row += QUERY_BLOCK) {
            uint32_t count = minimum(QUERY_BLOCK, text.rows - row), lanes = round_up(count, 4);
            for (uint32_t lane = 0; lane < lanes; lane += 4) {
                const float *from[4];
                UNROLL for (uint32_t i = 0; i < 4; i++) {
                    from[i] = q + (row + minimum(lane + i, count - 1)) * stride;
                }
                transpose_four(from, head_size, queries + lane, QUERY_BLOCK);
            }
            BARRIER;
            for (uint32_t lane = 0; lane < lanes; lane += 8) {
                if (lane + 8 <= lanes) {
                    score_8(keys, queries + lane, scores + lane, head_size, padded, scale);
                } else {
                    score_4(keys, queries + lane, scores + lane, head_size, padded, scale);
                }
            }
            softmax(scores, text.tokens, padded, lanes);
            for (uint32_t c = 0; c < o->d_head; c += VALUE_PANEL) {
                mix(scores, values + c * text.tokens, out + row * d_model + c, d_model,
                    text.tokens, count, minimum(VALUE_PANEL, o->d_head - c));
            }
            BARRIER;
        }
    }
}

#else

void op_attend(const struct attend_operands *o, struct text text) {
    uint32_t head_size = o->padded_head, width = o->heads * head_size, stride = 3 * width;
    const uint32_t *places = places_of(o->places, text);
    float *weights = floats(o->scratch);
    float scale = 1.0f / __builtin_sqrtf((float)o->d_head);
    for (uint32_t i = 0; i < text.rows * o->heads; i++) {
        uint32_t row = text.first_row + i / o->heads, head = i % o->heads * head_size;
        const float *q = floats(o->qkv) + row * stride + head;
        const float *k = floats(o->qkv) + text.first_row * stride + width + head;
        float *out = floats(o->target) + (row * o->heads + i % o->heads) * o->d_head;
        float largest = -3.0e38f, sum = 0.0f;
        for (uint32_t j = 0; j < text.tokens; j++) {
            const float *key = k + place_of(places, j) * stride;
            weights[j] = 0.0f;
            for (uint32_t c = 0; c < o->d_head; c++) weights[j] += q[c] * key[c];
            weights[j] *= scale;
            if (weights[j] > largest) largest = weights[j];
        }
        for (uint32_t j = 0; j < text.tokens; j++) {
            weights[j] = exp_nonpositive(weights[j] - largest);
            sum += weights[j];
        }
        for (uint32_t c = 0; c < o->d_head; c++) {
            out[c] = 0.0f;
            for (uint32_t j = 0; j < text.tokens; j++) {
                out[c] += weights[j] / sum * k[place_of(places, j) * stride + width + c];
            }
        }
    }
}

#endif
