// Products of 8 or 16 rows at once, a lane a row, without multiplying: four ternary weights can take
// 81 values, so the 81 sums of four columns are tabulated for all rows, and an output adds up one
// entry a group of columns. 64 multiply-adds cost five instructions.
//
// The running sums are int16, over as many columns as quantize.c proves safe for every row; from
// one such span to the next they are added to int32 sums.
//
// Indexes (pack_indexes in prepare.c): u16 [columns / 32][outputs][8 groups], each the address of
// its entry in `sum_table`, which must lie in the first 64 KiB: self_test() would tell.
#pragma once

#include "lanes.h"

#define GROUPS 8  // tables at a time: 20 KB, which the first cache holds
#define GROUP_COLUMNS 4
#define BLOCK_COLUMNS (GROUPS * GROUP_COLUMNS)
#define ENTRIES 81        // 3^4
#define LANES 16

extern int16_t sum_table[GROUPS][ENTRIES][LANES];

#ifndef TERN_SCALAR

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

// Tabulates four columns of 8 rows: two tiles of 4 rows, `tile_size` int16 apart.
INLINE void tabulate(const int16_t *x, uint32_t tile_size, int16_t *table) {
    vec low[9], high[9];
    vec first = LOAD(x), second = LOAD(x + tile_size);
    nine_sums(tile_column(first, second, 0), tile_column(first, second, 1), low);
    first = LOAD(x + 8), second = LOAD(x + tile_size + 8);
    nine_sums(tile_column(first, second, 0), tile_column(first, second, 1), high);
    UNROLL for (int j = 0; j < 9; j++) {
        UNROLL for (int i = 0; i < 9; i++) {
            STORE(table + (9 * j + i) * LANES, wasm_i16x8_add(high[j], low[i]));
        }
    }
}

// Adds an entry of each table to sums[outputs][8 * halves]: the tables of `index`, and with two
// blocks, for 8 rows only, those of `next`, whose sums are in the other half of the entries. What was
// in `sums` before counts for nothing if they are fresh.
INLINE void look_up(const uint16_t *index, const uint16_t *next, uint32_t outputs, int16_t *sums,
                    const int halves, const int blocks, const int fresh) {
    int16_t *end = sums + outputs * 8 * halves;
    for (; sums < end; sums += 8 * halves, index += GROUPS, next += GROUPS) {
        vec sum[2];
        UNROLL for (int h = 0; h < halves; h++) sum[h] = fresh ? ZERO : LOAD(sums + 8 * h);
        UNROLL for (int block = 0; block < blocks; block++) {
            UNROLL for (int group = 0; group < GROUPS; group += 2) {
                uint32_t pair = LOAD_U32_AT(block ? next : index, 2 * group);
                uint32_t entry[2] = {pair & 0xffff, pair >> 16};
                UNROLL for (int i = 0; i < 2; i++) {
                    UNROLL for (int h = 0; h < halves; h++) {
                        sum[h] = wasm_i16x8_add(sum[h], LOAD_AT(entry[i], 16 * (h + block)));
                    }
                }
            }
        }
        UNROLL for (int h = 0; h < halves; h++) STORE(sums + 8 * h, sum[h]);
    }
}

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
INLINE void table_sums(const int16_t *x, uint32_t tile_size, const uint16_t *index,
                       uint32_t columns, uint32_t span, uint32_t outputs, int16_t *narrow,
                       int32_t *wide, const int halves) {
    uint32_t count = outputs * 8 * halves;
    if (span < columns) __builtin_memset(wide, 0, count * sizeof *wide);
    for (uint32_t start = 0, blocks; start < columns; start += blocks * BLOCK_COLUMNS) {
        int fresh = start % span == 0;  // a span begins, and its sums
        if (fresh && start) widen(narrow, wide, count);
        // Another loop for fresh sums would take registers from those of 8 rows.
        if (fresh && halves == 1) __builtin_memset(narrow, 0, count * sizeof *narrow);
        blocks = halves == 1 && start + BLOCK_COLUMNS < columns ? 2 : 1;
        for (uint32_t block = 0; block < blocks; block++) {
            for (int group = 0; group < GROUPS; group++, x += 2 * 8) {
                UNROLL for (int half = 0; half < halves; half++) {
                    tabulate(x + 2 * half * tile_size, tile_size,
                             sum_table[group][0] + 8 * (half + block));
                }
            }
        }
        BARRIER;
        const uint16_t *next = index + outputs * GROUPS;
        if (halves == 2 && fresh) look_up(index, next, outputs, narrow, 2, 1, 1);
        else if (halves == 2) look_up(index, next, outputs, narrow, 2, 1, 0);
        else if (blocks == 2) look_up(index, next, outputs, narrow, 1, 2, 0);
        else look_up(index, next, outputs, narrow, 1, 1, 0);
        index += blocks * outputs * GROUPS;
        BARRIER;
    }
}

#endif
