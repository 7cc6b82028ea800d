// Products of 8 or 16 rows at once, a lane a row, without multiplying: four ternary weights can take
// 81 values, so the sums of four columns are tabulated for all rows, and an output adds up one entry
// a group of columns. 64 multiply-adds cost five instructions.
//
// A sum and its negative are one entry: 41 are enough, and an output subtracts what it needs negated.
// So that how many it subtracts is no question in a loop, a block's outputs are sorted by it, into
// RUNS runs that a function each is compiled for. WHOLE groups of a block have all 81 entries: in
// them either sign serves, and 5 runs do what otherwise 17 would.
//
// The running sums are int16, over as many columns as quantize.c proves safe for every row, in
// whatever order they are added; from one such span to the next they are added to int32 sums.
//
// Indexes (pack_indexes in prepare.c), u16, for each block of BLOCK_COLUMNS columns: [8] lengths of
// the runs; [outputs] which output, run by run; [outputs][GROUPS] addresses of their entries in
// `sum_table`, those to subtract last. The table must lie in the first 64 KiB: self_test() would tell.
#pragma once

#include "lanes.h"

#define GROUP_COLUMNS 4
#define GROUPS 16  // tables at a time: 23 KB, which the first cache holds
#define BLOCK_COLUMNS (GROUPS * GROUP_COLUMNS)
#define WHOLE 2  // of them, the last, with all entries
#define HALVED (GROUPS - WHOLE)
#define ENTRIES 81  // 3^4
#define HALF_ENTRIES 41
#define LANES 8
#define RUNS 5
#define RUN_LENGTHS 8  // RUNS, rounded up
#define SUBTRACTED(run) (WHOLE + (WHOLE + 1) * (run))  // HALVED in the last

// First entry of a group.
#define GROUP_ENTRY(group) \
    ((group) < HALVED ? (group) * HALF_ENTRIES : HALVED * HALF_ENTRIES + ((group) - HALVED) * ENTRIES)

// The tables of the first 8 rows, and behind them those of the second.
extern int16_t sum_table[2][GROUP_ENTRY(GROUPS)][LANES];

// u16 of the indexes of a block.
INLINE uint32_t index_size(uint32_t outputs) { return RUN_LENGTHS + outputs * (1 + GROUPS); }

#ifndef TERN_SCALAR

// Functions of their own, for their loops to have all registers.
#define OWN __attribute__((noinline)) static

// One column of 8 rows out of two tiles of 4, each [2 columns] a row.
INLINE vec tile_column(vec first, vec second, const int odd) {
    return odd ? wasm_i16x8_shuffle(first, second, 1, 3, 5, 7, 9, 11, 13, 15)
               : wasm_i16x8_shuffle(first, second, 0, 2, 4, 6, 8, 10, 12, 14);
}

// The 9 sums d0 a + d1 b, for digits 0, 1, 2 that stand for 0, +1, -1.
INLINE void nine_sums(vec a, vec b, vec *sums) {
    sums[0] = ZERO;
    sums[1] = a;
    sums[2] = wasm_i16x8_neg(a);
    sums[3] = b;
    sums[4] = wasm_i16x8_add(b, a);
    sums[5] = wasm_i16x8_sub(b, a);
    sums[6] = wasm_i16x8_neg(b);
    sums[7] = wasm_i16x8_sub(a, b);
    sums[8] = wasm_i16x8_neg(sums[4]);
}

// Tabulates four columns of 8 rows: two tiles of 4 rows, `tile_size` int16 apart. Half of them: the
// 5 of the lower two columns, then 9 for each of 4 of the higher two, whose negatives are left out.
INLINE void tabulate(const int16_t *x, uint32_t tile_size, int16_t *table, const int half) {
    static const int positive[5] = {0, 1, 3, 4, 5};  // of the nine
    vec low[9], high[9];
    vec first = LOAD(x), second = LOAD(x + tile_size);
    nine_sums(tile_column(first, second, 0), tile_column(first, second, 1), low);
    first = LOAD(x + 8), second = LOAD(x + tile_size + 8);
    nine_sums(tile_column(first, second, 0), tile_column(first, second, 1), high);
    UNROLL for (int i = 0; half && i < 5; i++, table += LANES) STORE(table, low[positive[i]]);
    UNROLL for (int j = half ? 1 : 0; j < (half ? 5 : 9); j++) {
        UNROLL for (int i = 0; i < 9; i++, table += LANES) {
            STORE(table, wasm_i16x8_add(high[half ? positive[j] : j], low[i]));
        }
    }
}

// Tabulates a block of columns of 8 rows.
OWN void tabulate_block(const int16_t *x, uint32_t tile_size, int16_t *table) {
    int16_t *whole = table + GROUP_ENTRY(HALVED) * LANES;
    for (; table < whole; x += 2 * 8, table += HALF_ENTRIES * LANES) {
        tabulate(x, tile_size, table, 1);
    }
    for (int group = HALVED; group < GROUPS; group++, x += 2 * 8, table += ENTRIES * LANES) {
        tabulate(x, tile_size, table, 0);
    }
}

// Adds the entries of `count` outputs of a run to their sums[outputs][8 * halves]. What was in `sums`
// before counts for nothing if they are fresh.
INLINE void look_up(const uint16_t *index, const uint16_t *output, uint32_t count, int16_t *sums,
                    uint32_t fresh, const int halves, const int run) {
    vec keep = wasm_i32x4_splat(fresh ? 0 : -1);
    const uint16_t *end = output + count;
    for (; output < end; output++, index += GROUPS) {
        int16_t *at = sums + *output * 8 * halves;
        vec sum[2];
        UNROLL for (int h = 0; h < halves; h++) sum[h] = wasm_v128_and(LOAD(at + 8 * h), keep);
        UNROLL for (int group = 0; group < GROUPS; group += 2) {
            uint32_t pair = LOAD_U32_AT(index, 2 * group);
            // V8 would put off adding up, load everything first, and spill.
            if (group && group * halves % 8 == 0 && never(pair)) {
                UNROLL for (int h = 0; h < halves; h++) STORE(at + 8 * h, sum[h]);
                return;
            }
            uint32_t entry[2] = {pair & 0xffff, pair >> 16};
            UNROLL for (int i = 0; i < 2; i++) {
                UNROLL for (int h = 0; h < halves; h++) {
                    vec value = LOAD_AT(entry[i], h * sizeof sum_table[0]);
                    sum[h] = group + i < GROUPS - SUBTRACTED(run) ? wasm_i16x8_add(sum[h], value)
                                                                  : wasm_i16x8_sub(sum[h], value);
                }
            }
        }
        UNROLL for (int h = 0; h < halves; h++) STORE(at + 8 * h, sum[h]);
    }
}

#define LOOK_UP(halves, run)                                                                   \
    OWN void look_up_##halves##_##run(const uint16_t *index, const uint16_t *output,           \
                                      uint32_t count, int16_t *sums, uint32_t fresh) {         \
        look_up(index, output, count, sums, fresh, halves, run);                               \
    }
LOOK_UP(1, 0) LOOK_UP(1, 1) LOOK_UP(1, 2) LOOK_UP(1, 3) LOOK_UP(1, 4)
LOOK_UP(2, 0) LOOK_UP(2, 1) LOOK_UP(2, 2) LOOK_UP(2, 3) LOOK_UP(2, 4)

// wide += narrow, `count` sums in both.
INLINE void widen(const int16_t *narrow, int32_t *wide, uint32_t count) {
    for (uint32_t i = 0; i < count; i += 8) {
        vec v = LOAD(narrow + i);
        STORE(wide + i, wasm_i32x4_add(LOAD(wide + i), wasm_i32x4_extend_low_i16x8(v)));
        STORE(wide + i + 4, wasm_i32x4_add(LOAD(wide + i + 4), wasm_i32x4_extend_high_i16x8(v)));
    }
}

// Sums for 8 * halves rows: tiles of 4 rows, `tile_size` int16 apart. The last span's stay in
// narrow [outputs][8 * halves]; those before it, if there are any, are in wide.
INLINE void table_sums(const int16_t *x, uint32_t tile_size, const uint16_t *block,
                       uint32_t columns, uint32_t span, uint32_t outputs, int16_t *narrow,
                       int32_t *wide, const int halves) {
    uint32_t count = outputs * 8 * halves;
    if (span < columns) __builtin_memset(wide, 0, count * sizeof *wide);
    for (uint32_t start = 0; start < columns; start += BLOCK_COLUMNS, x += GROUPS * 2 * 8) {
        uint32_t fresh = start % span == 0;  // a span begins, and its sums
        if (fresh && start) widen(narrow, wide, count);
        UNROLL for (int half = 0; half < halves; half++) {
            tabulate_block(x + 2 * half * tile_size, tile_size, sum_table[half][0]);
        }
        BARRIER;
        const uint16_t *output = block + RUN_LENGTHS, *index = output + outputs;
#define LOOK_UP_RUN(run)                                                                  \
    if (halves == 1) look_up_1_##run(index, output, block[run], narrow, fresh);           \
    else look_up_2_##run(index, output, block[run], narrow, fresh);                       \
    index += GROUPS * block[run];                                                         \
    output += block[run];
        LOOK_UP_RUN(0) LOOK_UP_RUN(1) LOOK_UP_RUN(2) LOOK_UP_RUN(3) LOOK_UP_RUN(4)
#undef LOOK_UP_RUN
        block += index_size(outputs);
        BARRIER;
    }
}

#endif
