// Embedding table of nibbles: [vocab][d_model / 2], element 2k in the low one, two's complement;
// value = q * row scale.
#include "table.h"

void read_row(const struct gather_operands *o, uint32_t id, float *out) {
    const uint8_t *row = bytes(o->table) + (size_t)id * o->row_bytes;
    float row_factor = row_scale(o, id);
#ifndef TERN_SCALAR
    vec scale = SPLAT(row_factor);
    for (uint32_t k = 0; k < o->d_model; k += 4) {
        // Two bytes hold four elements: put each nibble at the top of a lane and shift it down.
        vec pair = wasm_i32x4_splat(row[k / 2] | row[k / 2 + 1] << 8);
        vec top = wasm_i32x4_mul(pair, wasm_i32x4_const(1 << 28, 1 << 24, 1 << 20, 1 << 16));
        STORE(out + k, MUL(wasm_f32x4_convert_i32x4(wasm_i32x4_shr(top, 28)), scale));
    }
#else
    for (uint32_t k = 0; k < o->d_model; k++) {
        out[k] = (float)((int8_t)(row[k / 2] << (k % 2 ? 0 : 4)) >> 4) * row_factor;
    }
#endif
}
