// Work done once, at load: scanning a model for values it may not hold, and laying weights out.
#include "lanes.h"
#include "sums.h"

// Every scan returns the index of the first offending byte or float, or -1.

EXPORT(scan_ternary) int32_t scan_ternary(uint32_t offset, uint32_t size) {
    const uint8_t *code = bytes(offset);
    uint32_t i = 0;
#ifndef TERN_SCALAR
    vec low_bits = wasm_i8x16_splat(0x55);
    for (; i + 16 <= size; i += 16) {
        vec v = LOAD(code + i);
        vec both = wasm_v128_and(wasm_v128_and(v, wasm_u8x16_shr(v, 1)), low_bits);
        if (wasm_v128_any_true(both)) break;
    }
#endif
    for (; i < size; i++) {
        if (code[i] & (code[i] >> 1) & 0x55) return (int32_t)i;
    }
    return -1;
}

EXPORT(scan_int4) int32_t scan_int4(uint32_t offset, uint32_t size) {
    const uint8_t *code = bytes(offset);
    uint32_t i = 0;
#ifndef TERN_SCALAR
    for (; i + 16 <= size; i += 16) {
        vec v = LOAD(code + i);
        vec low = wasm_i8x16_eq(wasm_v128_and(v, wasm_i8x16_splat(0x0f)), wasm_i8x16_splat(8));
        vec high = wasm_i8x16_eq(wasm_u8x16_shr(v, 4), wasm_i8x16_splat(8));
        if (wasm_v128_any_true(wasm_v128_or(low, high))) break;
    }
#endif
    for (; i < size; i++) {
        if ((code[i] & 0x0f) == 8 || code[i] >> 4 == 8) return (int32_t)i;
    }
    return -1;
}

// lowest: 0 any finite float, 1 also not negative, 2 also not zero.
EXPORT(scan_floats) int32_t scan_floats(uint32_t offset, uint32_t count, uint32_t lowest) {
    for (uint32_t i = 0; i < count; i++) {
        float v;
        __builtin_memcpy(&v, bytes(offset) + 4 * i, 4);  // a section may start unaligned
        if (!(__builtin_fabsf(v) <= 3.402823466e38f)) return (int32_t)i;
        if ((lowest >= 1 && v < 0.0f) || (lowest == 2 && v == 0.0f)) return (int32_t)i;
    }
    return -1;
}

// Both pack a ternary matrix [rows][columns] of 2-bit codes for product.c: into the panels of a
// zeroed `target`, and into the indexes of one that clear_indexes() made ready. Row r becomes output
// first + r / group * padded_group + r % group.
EXPORT(pack_panels)
void pack_panels(uint32_t codes, uint32_t rows, uint32_t columns, uint32_t target,
                  uint32_t padded_columns, uint32_t first, uint32_t group,
                  uint32_t padded_group) {
    static const int16_t value[3] = {0, 1, -1};
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t output = first + r / group * padded_group + r % group;
        uint32_t lane = output % 16, high = lane & 4;
        int16_t *panel = shorts(target) + output / 16 * padded_columns * 8;
        int16_t *out = panel + (lane >> 3) * 8 + (lane & 3) * 2;
        const uint8_t *code = bytes(codes) + r * (columns / 4);
        for (uint32_t k = 0; k < columns; k += 4) {
            for (uint32_t j = 0; j < 4; j++) {
                int16_t w = value[code[k / 4] >> (2 * j) & 3];
                out[(k + j) / 2 * 16 + (j & 1)] += high ? (int16_t)(w * 16384) : w;
            }
        }
    }
}

// Every group of every output to the entry of its table that is zero.
EXPORT(clear_indexes)
void clear_indexes(uint32_t target, uint32_t outputs, uint32_t padded_columns) {
    uint16_t *index = (uint16_t *)shorts(target);
    uint32_t count = outputs * padded_columns / GROUP_COLUMNS;
    for (uint32_t i = 0; i < count; i++) {
        index[i] = (uint16_t)(uintptr_t)sum_table[i % GROUPS][0];
    }
}

EXPORT(pack_indexes)
void pack_indexes(uint32_t codes, uint32_t rows, uint32_t columns, uint32_t target,
                  uint32_t outputs, uint32_t first, uint32_t group, uint32_t padded_group) {
    uint16_t *index = (uint16_t *)shorts(target);
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t output = first + r / group * padded_group + r % group;
        const uint8_t *code = bytes(codes) + r * (columns / 4);
        for (uint32_t k = 0; k < columns / 4; k++) {
            uint32_t c = code[k];
            uint32_t entry = (c & 3) + 3 * (c >> 2 & 3) + 9 * (c >> 4 & 3) + 27 * (c >> 6);
            uint16_t *at = index + (k / GROUPS * outputs + output) * GROUPS + k % GROUPS;
            *at = (uint16_t)(uintptr_t)sum_table[k % GROUPS][entry];
        }
    }
}

// The projection [rows][columns] for pool.c: panels of PROJECT_PANEL outputs, one after another, each
// [columns][outputs of the panel], the last as wide as is left of padded_rows.
EXPORT(pack_projection)
void pack_projection(uint32_t source, uint32_t rows, uint32_t columns, uint32_t target,
                     uint32_t padded_rows) {
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t first = r / PROJECT_PANEL * PROJECT_PANEL;
        uint32_t width = minimum(PROJECT_PANEL, padded_rows - first);
        float *out = floats(target) + first * columns + r - first;
        for (uint32_t c = 0; c < columns; c++) {
            __builtin_memcpy(out + c * width, bytes(source) + 4 * (r * columns + c), 4);
        }
    }
}

// count floats, each 1 / the scale stored at `scale` (product.c multiplies by it).
EXPORT(fill_inverse) void fill_inverse(uint32_t target, uint32_t count, uint32_t scale) {
    float s;
    __builtin_memcpy(&s, bytes(scale), 4);
    for (uint32_t i = 0; i < count; i++) floats(target)[i] = 1.0f / s;
}

EXPORT(fill_zero) void fill_zero(uint32_t target, uint32_t size) {
    __builtin_memset(bytes(target), 0, size);
}

EXPORT(copy) void copy(uint32_t target, uint32_t source, uint32_t size) {
    __builtin_memmove(bytes(target), bytes(source), size);
}
