// Embedding table of bytes: [vocab][d_model] i8, value = q * row scale.
#include "table.h"

void read_row(const struct gather_operands *o, uint32_t id, float *out) {
    const uint8_t *row = bytes(o->table) + (size_t)id * o->row_bytes;
    float row_factor = row_scale(o, id);
#ifndef TERN_SCALAR
    vec scale = SPLAT(row_factor);
    for (uint32_t k = 0; k < o->d_model; k += 4) {
        vec q = wasm_i32x4_extend_low_i16x8(wasm_i16x8_extend_low_i8x16(
            wasm_v128_load32_zero(row + k)));
        STORE(out + k, MUL(wasm_f32x4_convert_i32x4(q), scale));
    }
#else
    for (uint32_t k = 0; k < o->d_model; k++) {
        out[k] = (float)(int8_t)row[k] * row_factor;
    }
#endif
}
