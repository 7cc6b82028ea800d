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

// Packs a ternary matrix [rows][columns] of 2-bit codes into the panels of a zeroed `target`, for
// product.c. Row r becomes output first + r / group * padded_group + r % group.
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

// Four weights, a byte of codes, as sums.h has them: number of the entry in a table of all sums and
// in one of half of them, and whether the latter is the negative.
struct group {
    uint8_t whole, half, negative;
};

// For each byte without a reserved code.
static void number_groups(struct group *groups) {
    static const uint8_t negated[9] = {0, 2, 1, 6, 8, 7, 3, 5, 4};
    // Of the nine sums of two columns: its number among those whose negatives are left out.
    static const int8_t positive[9] = {0, 1, -1, 2, 3, 4, -1, -1, -1};
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t low = (byte & 3) % 3 + 3 * ((byte >> 2 & 3) % 3);
        uint32_t high = (byte >> 4 & 3) % 3 + 3 * ((byte >> 6) % 3);
        uint32_t negative = (high ? positive[high] : positive[low]) < 0;
        groups[byte].whole = (uint8_t)(low + 9 * high);
        groups[byte].negative = (uint8_t)negative;
        if (negative) low = negated[low], high = negated[high];
        groups[byte].half =
            (uint8_t)(high ? 5 + 9 * (positive[high] - 1) + (int)low : positive[low]);
    }
}

// Where the codes of an output come from.
struct matrices {
    uint32_t codes, stride, outputs, group, padded_group, columns;
};

// Codes of a block of columns of an output, zeros where there are none.
static void read_codes(const struct matrices *m, uint32_t output, uint32_t block,
                       uint8_t *codes) {
    uint32_t row = output % m->outputs, size = m->columns / GROUP_COLUMNS, first = block * GROUPS;
    uint32_t column = row % m->padded_group;
    __builtin_memset(codes, 0, GROUPS);
    if (column >= m->group) return;
    row = row / m->padded_group * m->group + column;
    const uint8_t *from = bytes(m->codes + output / m->outputs * m->stride) + row * size + first;
    for (uint32_t i = 0; i < minimum(GROUPS, size - first); i++) codes[i] = from[i];
}

// Halved groups whose sum is to be subtracted.
INLINE uint32_t negatives(const struct group *groups, const uint8_t *code) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < HALVED; i++) count += groups[code[i]].negative;
    return count;
}

// The first run that subtracts as much: the whole groups make up for up to WHOLE that are lacking.
INLINE uint32_t run_of(const struct group *groups, const uint8_t *code) {
    return negatives(groups, code) / (WHOLE + 1);
}

static void write_addresses(const struct group *groups, const uint8_t *code, uint32_t run,
                            uint16_t *to) {
    uint16_t *add = to, *subtract = to + GROUPS - SUBTRACTED(run);
    uint32_t lacking = SUBTRACTED(run) - negatives(groups, code);
    for (uint32_t i = 0; i < GROUPS; i++) {
        const struct group *group = groups + code[i];
        uint32_t entry = group->half, negative = group->negative;
        if (i >= HALVED) {
            // An entry to subtract is that of the weights' negatives: the codes' bits exchanged.
            negative = i - HALVED < lacking;
            uint8_t swapped = (uint8_t)((code[i] & 0x55) << 1 | (code[i] & 0xaa) >> 1);
            entry = negative ? groups[swapped].whole : group->whole;
        }
        uint16_t address = (uint16_t)(uintptr_t)sum_table[0][GROUP_ENTRY(i) + entry];
        if (negative) *subtract++ = address;
        else *add++ = address;
    }
}

// Indexes for sums.h. Outputs come from matrices [outputs_each][columns] of 2-bit codes, `stride`
// bytes apart, as pack_panels() places their rows; columns up to padded_columns have weights 0.
EXPORT(pack_indexes)
void pack_indexes(uint32_t codes, uint32_t stride, uint32_t outputs_each, uint32_t group,
                  uint32_t padded_group, uint32_t columns, uint32_t target, uint32_t outputs,
                  uint32_t padded_columns) {
    struct matrices matrices = {codes, stride, outputs_each, group, padded_group, columns};
    struct group groups[256];
    number_groups(groups);
    uint16_t *to = (uint16_t *)shorts(target);
    for (uint32_t block = 0; block < padded_columns / BLOCK_COLUMNS; block++) {
        uint8_t code[GROUPS];
        uint32_t next[RUNS] = {0};
        __builtin_memset(to, 0, RUN_LENGTHS * sizeof *to);
        for (uint32_t n = 0; n < outputs; n++) {
            read_codes(&matrices, n, block, code);
            to[run_of(groups, code)]++;
        }
        for (uint32_t run = 1; run < RUNS; run++) next[run] = next[run - 1] + to[run - 1];
        for (uint32_t n = 0; n < outputs; n++) {
            read_codes(&matrices, n, block, code);
            uint32_t run = run_of(groups, code), place = next[run]++;
            to[RUN_LENGTHS + place] = (uint16_t)n;
            write_addresses(groups, code, run, to + RUN_LENGTHS + outputs + place * GROUPS);
        }
        to += index_size(outputs);
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
