// The BitLinear product: integer activations times ternary weights, exact, then the rescale.
// Many rows at once go by tables of sums (sums.h), few by packed pairs of outputs (panels.h).
#include "ops.h"
#include "panels.h"
#include "sums.h"
#include "vmath.h"

int16_t sum_table[2][GROUP_ENTRY(GROUPS)][LANES] __attribute__((aligned(64)));

// Rows from which tables of 8 or 16 lanes, the rest of them idle, beat what else there is. Filling
// the tables costs as much as some 80 outputs, so few outputs want more rows.
#define FILL_16 11
#define FILL_16_FEW_OUTPUTS 13
#define FILL_8 5
#define FILL_8_FEW_OUTPUTS 7
#define FEW_OUTPUTS 512

#ifndef TERN_SCALAR

// (sum + bias) / (weight scale * activation scale)
INLINE vec rescale(vec sum, vec bias, vec inverse_weight, vec inverse_activation) {
    return MUL(ADD(wasm_f32x4_convert_i32x4(sum), bias), MUL(inverse_weight, inverse_activation));
}

OWN void panel_sums_4(const int16_t *x, const int16_t *weights, uint32_t columns, uint32_t block,
                      int32_t *sums) {
    panel_sums(x, weights, 0, columns, block, sums, 4, 1);
}

OWN void panel_sums_2(const int16_t *x, const int16_t *weights, uint32_t columns, uint32_t block,
                      int32_t *sums) {
    panel_sums(x, weights, PANEL * columns / 2, columns, block, sums, 2, 2);
}

OWN void panel_sums_1(const int16_t *x, const int16_t *weights, uint32_t columns, uint32_t block,
                      int32_t *sums) {
    panel_sums(x, weights, PANEL * columns / 2, columns, block, sums, 1, 2);
}

OWN void table_sums_8(const struct product_operands *o, const int16_t *x, uint32_t span) {
    table_sums(x, 4 * o->columns, (const uint16_t *)shorts(o->indexes), o->columns, span,
               o->outputs, shorts(o->narrow), ints(o->wide), 1);
}

OWN void table_sums_16(const struct product_operands *o, const int16_t *x, uint32_t span) {
    table_sums(x, 4 * o->columns, (const uint16_t *)shorts(o->indexes), o->columns, span,
               o->outputs, shorts(o->narrow), ints(o->wide), 2);
}

// One tile of up to 4 rows against all outputs.
INLINE void panel_rows(const struct product_operands *o, uint32_t row, float *out, const int rows,
                       const int panels, const int mode) {
    const int16_t *x = shorts(o->codes) + (row & ~3u) * o->columns + (row & 3) * 2;
    const float *inverse_scale = floats(o->inverse_scale) + row;
    uint32_t block = LONG_BLOCK;
    for (int i = 0; i < rows; i++) block = minimum(block, bounds(o->bounds)[row + i].block);
    for (uint32_t n = 0; n < o->outputs; n += PANEL * panels) {
        int32_t sums[64] __attribute__((aligned(16)));
        const int16_t *weights = shorts(o->weights) + n * o->columns / 2;
        if (rows == 4) panel_sums_4(x, weights, o->columns, block, sums);
        else if (rows == 2) panel_sums_2(x, weights, o->columns, block, sums);
        else panel_sums_1(x, weights, o->columns, block, sums);
        uint32_t width = minimum(PANEL * panels, o->outputs - n);
        for (int i = 0; i < rows; i++) {
            const int32_t *sum = sums + i * PANEL * panels;
            float *to = out + i * o->stride + n;
            vec inverse = SPLAT(inverse_scale[i]);
            for (uint32_t k = 0; k < width; k += 4) {
                vec v = rescale(LOAD(sum + k), LOAD(floats(o->bias) + n + k),
                                LOAD(floats(o->inverse_weight) + n + k), inverse);
                STORE(to + k, mode == MODE_ADD ? ADD(v, LOAD(to + k)) : v);
            }
        }
    }
}

// Eight lanes of four outputs, out of narrow [outputs][lanes], as up to eight rows. `wide`, where
// there are sums in it, is the same place of wide [outputs][lanes].
INLINE void finish_lanes(const struct product_operands *o, const int16_t *narrow,
                         const int32_t *wide, uint32_t n, const float *inverse_scale, float *out,
                         uint32_t rows, const int lanes, const int mode) {
    vec a = LOAD(narrow), b = LOAD(narrow + lanes);
    vec c = LOAD(narrow + 2 * lanes), d = LOAD(narrow + 3 * lanes);
    vec bias = LOAD(floats(o->bias) + n), weight = LOAD(floats(o->inverse_weight) + n);
    vec ab[2] = {wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11),
                 wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15)};
    vec cd[2] = {wasm_i16x8_shuffle(c, d, 0, 8, 1, 9, 2, 10, 3, 11),
                 wasm_i16x8_shuffle(c, d, 4, 12, 5, 13, 6, 14, 7, 15)};
    UNROLL for (uint32_t row = 0; row < 8; row++) {
        vec pair = row / 2 % 2 ? wasm_i32x4_shuffle(ab[row / 4], cd[row / 4], 2, 6, 3, 7)
                               : wasm_i32x4_shuffle(ab[row / 4], cd[row / 4], 0, 4, 1, 5);
        vec sum = row % 2 ? wasm_i32x4_extend_high_i16x8(pair) : wasm_i32x4_extend_low_i16x8(pair);
        if (row < rows) {
            if (wide) {
                const int32_t *more = wide + row;
                sum = wasm_i32x4_add(sum, wasm_i32x4_make(more[0], more[lanes], more[2 * lanes],
                                                          more[3 * lanes]));
            }
            vec inverse = wasm_v128_load32_splat(inverse_scale + row);
            vec v = rescale(sum, bias, weight, inverse);
            STORE(out, mode == MODE_ADD ? ADD(v, LOAD(out)) : v);
            out += o->stride;
        }
    }
}

// `rows` rows, at most 8 * halves, against all outputs; idle lanes hold what was there before.
INLINE void table_rows(const struct product_operands *o, uint32_t row, uint32_t rows, float *out,
                       const int halves, const int mode) {
    const int16_t *x = shorts(o->codes) + row * o->columns;
    uint32_t span = o->columns;
    for (uint32_t i = row; i < row + rows; i++) span = minimum(span, bounds(o->bounds)[i].span);
    if (halves == 2) table_sums_16(o, x, span);
    else table_sums_8(o, x, span);
    const float *inverse_scale = floats(o->inverse_scale) + row;
    const int lanes = 8 * halves;
    for (uint32_t first = 0; first < rows; first += 8) {
        const int16_t *narrow = shorts(o->narrow) + first;
        const int32_t *wide = span < o->columns ? ints(o->wide) + first : NULL;
        float *to = out + first * o->stride;
        // The usual case in a loop of its own, without questions.
        if (!wide && rows - first >= 8) {
            for (uint32_t n = 0; n < o->outputs; n += 4, narrow += 4 * lanes, to += 4) {
                finish_lanes(o, narrow, NULL, n, inverse_scale + first, to, 8, lanes, mode);
            }
            continue;
        }
        for (uint32_t n = 0; n < o->outputs; n += 4, narrow += 4 * lanes, to += 4) {
            finish_lanes(o, narrow, wide, n, inverse_scale + first, to, rows - first, lanes, mode);
            if (wide) wide += 4 * lanes;
        }
    }
}

INLINE void product(const struct product_operands *o, struct span span, const int mode) {
    float *out = floats(o->target) + (o->target_local ? 0 : span.first * o->stride);
    uint32_t fill_16 = o->outputs < FEW_OUTPUTS ? FILL_16_FEW_OUTPUTS : FILL_16;
    uint32_t fill_8 = o->outputs < FEW_OUTPUTS ? FILL_8_FEW_OUTPUTS : FILL_8;
    for (uint32_t row = 0, done; row < span.rows; row += done, out += done * o->stride) {
        uint32_t left = span.rows - row;
        if (left >= fill_16) {
            table_rows(o, row, done = minimum(left, 16), out, 2, mode);
        } else if (left >= fill_8) {
            table_rows(o, row, done = minimum(left, 8), out, 1, mode);
        } else if (left >= 4) {
            panel_rows(o, row, out, done = 4, 1, mode);
        } else if (left >= 2) {
            panel_rows(o, row, out, done = 2, 2, mode);
        } else {
            panel_rows(o, row, out, done = 1, 2, mode);
        }
    }
}

// After the product: done output by output, it would not fill the processor's pipes.
static void gelu_rows(const struct product_operands *o, struct span span) {
    float *out = floats(o->target) + (o->target_local ? 0 : span.first * o->stride);
    for (uint32_t row = 0; row < span.rows; row++, out += o->stride) {
        uint32_t n = 0;
        for (; n + 4 * GELU_VECTORS <= o->outputs; n += 4 * GELU_VECTORS) {
            gelu(out + n, GELU_VECTORS);
        }
        for (; n < o->outputs; n += 4) gelu(out + n, 1);
    }
}

void op_product(const struct product_operands *o, struct span span) {
    switch (o->mode) {
        case MODE_STORE: product(o, span, MODE_STORE); break;
        case MODE_ADD: product(o, span, MODE_ADD); break;
        case MODE_GELU: product(o, span, MODE_STORE); gelu_rows(o, span); break;
    }
}

#else

// Sum over columns for one row of a tile, its weight read back from the packed pair.
static int32_t sum_of(const int16_t *x, const int16_t *weights, uint32_t columns, uint32_t lane) {
    int32_t sum = 0;
    for (uint32_t k = 0; k < columns; k++) {
        int32_t pair = weights[k / 2 * PAIR_OF_PANEL + lane / 8 * 8 + lane % 4 * 2 + k % 2];
        int32_t low = (pair & 3) == 3 ? -1 : pair & 3, high = (pair - low) / 16384;
        sum += x[k / 2 * TILE_PAIR + k % 2] * (lane & 4 ? high : low);
    }
    return sum;
}

void op_product(const struct product_operands *o, struct span span) {
    float *out = floats(o->target) + (o->target_local ? 0 : span.first * o->stride);
    for (uint32_t row = 0; row < span.rows; row++) {
        const int16_t *x = shorts(o->codes) + (row & ~3u) * o->columns + (row & 3) * 2;
        for (uint32_t n = 0; n < o->outputs; n++) {
            const int16_t *panel = shorts(o->weights) + n / PANEL * PANEL * o->columns / 2;
            float v = (float)sum_of(x, panel, o->columns, n % PANEL) + floats(o->bias)[n];
            v *= floats(o->inverse_weight)[n] * floats(o->inverse_scale)[row];
            float *target = out + row * o->stride + n;
            *target = o->mode == MODE_ADD ? *target + v : o->mode == MODE_GELU ? gelu(v) : v;
        }
    }
}

#endif
