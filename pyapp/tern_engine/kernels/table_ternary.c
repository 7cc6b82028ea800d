// Embedding table of 2-bit codes: [vocab][d_model / 4], 00 = 0, 01 = +1, 10 = -1;
// value = q * row scale.
#include "table.h"

void read_row(const struct gather_operands *o, uint32_t id, float *out) {
    const uint8_t *row = bytes(o->table) + (size_t)id * o->row_bytes;
    float row_factor = row_scale(o, id);
#ifndef TERN_SCALAR
    vec scale = SPLAT(row_factor);
    for (uint32_t k = 0; k < o->d_model; k += 4) {
        // As two's complement, code 10 at the top of a lane is -2 and 01 is +1: halve the former.
        vec four = wasm_i32x4_splat(row[k / 4]);
        vec top = wasm_i32x4_mul(four, wasm_i32x4_const(1 << 30, 1 << 28, 1 << 26, 1 << 24));
        vec q = wasm_i32x4_shr(top, 30);
        q = wasm_i32x4_sub(q, wasm_i32x4_shr(q, 1));
        STORE(out + k, MUL(wasm_f32x4_convert_i32x4(q), scale));
    }
#else
    for (uint32_t k = 0; k < o->d_model; k++) {
        out[k] = (float)((row[k / 4] >> k % 4 * 2 & 1) - (row[k / 4] >> (k % 4 * 2 + 1) & 1)) * row_factor;
    }
#endif
}
