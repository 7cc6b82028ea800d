// A small fixed computation through the routines that matter, for a host to be judged by.
#include "ops.h"
#include "sums.h"
#include "tern.h"

void op_quantize(const struct quantize_operands *o, struct span span);
void op_product(const struct product_operands *o, struct span span);
void op_attend(const struct attend_operands *o, struct text text);
void pack_panels(uint32_t codes, uint32_t rows, uint32_t columns, uint32_t target,
                 uint32_t padded_columns, uint32_t first, uint32_t group, uint32_t padded_group);
void pack_indexes(uint32_t codes, uint32_t stride, uint32_t outputs_each, uint32_t group,
                  uint32_t padded_group, uint32_t columns, uint32_t target, uint32_t outputs,
                  uint32_t padded_columns);

#define ROWS 21  // 16 by tables, a tile of 4, a row alone
#define TILED_ROWS 24
#define COLUMNS 128
#define OUTPUTS 48  // q, k, v of 2 heads of 8
#define PADDED_OUTPUTS 64

static struct {
    float x[ROWS][COLUMNS];
    uint8_t matrix[OUTPUTS][COLUMNS / 4];
    int16_t packed[PADDED_OUTPUTS * COLUMNS / 2];
    uint16_t indexes[COLUMNS / BLOCK_COLUMNS * (RUN_LENGTHS + OUTPUTS * (1 + GROUPS))];
    int16_t narrow[OUTPUTS][16];
    int32_t wide[OUTPUTS][16];
    int16_t codes[TILED_ROWS * COLUMNS];
    float inverse_scale[TILED_ROWS];
    struct bounds bounds[TILED_ROWS];
    float inverse_weight[OUTPUTS];
    float bias[OUTPUTS];
    float scratch[2 * 8 * TILED_ROWS + 16 * 8 + 16 * TILED_ROWS];
    // What is hashed.
    float y[ROWS][OUTPUTS];
    float mixed[ROWS][16];
} data __attribute__((aligned(16)));

#define OFFSET(field) ((uint32_t)(uintptr_t)&data.field)

static uint32_t next(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

EXPORT(self_test) uint32_t self_test(void) {
    uint32_t state = 2026;
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < COLUMNS; k++) {
            data.x[i][k] = (float)(int32_t)(next(&state) % 4001) / 1000.0f - 2.0f;
        }
    }
    // A row of +-1 is the one that needs the short blocks.
    for (int k = 0; k < COLUMNS; k++) data.x[18][k] = k % 2 ? 1.0f : -1.0f;
    for (int i = 0; i < OUTPUTS; i++) {
        for (int k = 0; k < COLUMNS / 4; k++) {
            uint32_t code = 0;
            for (int j = 0; j < 4; j++) code |= next(&state) % 3 << 2 * j;
            data.matrix[i][k] = (uint8_t)code;
        }
        data.inverse_weight[i] = 1.0f / 16.0f;
        data.bias[i] = (float)(i - 24);
    }
    __builtin_memset(data.packed, 0, sizeof data.packed);
    pack_panels(OFFSET(matrix), OUTPUTS, COLUMNS, OFFSET(packed), COLUMNS, 0, OUTPUTS, OUTPUTS);
    pack_indexes(OFFSET(matrix), 0, OUTPUTS, OUTPUTS, OUTPUTS, COLUMNS, OFFSET(indexes), OUTPUTS,
                 COLUMNS);

    struct quantize_operands quantize = {
        .source = OFFSET(x), .stride = COLUMNS, .codes = OFFSET(codes),
        .inverse_scale = OFFSET(inverse_scale), .bounds = OFFSET(bounds),
        .columns = COLUMNS, .padded = COLUMNS};
    struct product_operands product = {
        .codes = OFFSET(codes), .inverse_scale = OFFSET(inverse_scale),
        .bounds = OFFSET(bounds), .weights = OFFSET(packed), .indexes = OFFSET(indexes),
        .narrow = OFFSET(narrow), .wide = OFFSET(wide),
        .inverse_weight = OFFSET(inverse_weight), .bias = OFFSET(bias), .target = OFFSET(y),
        .stride = OUTPUTS, .columns = COLUMNS, .outputs = OUTPUTS, .mode = MODE_GELU};
    struct attend_operands attend = {
        .qkv = OFFSET(y), .target = OFFSET(mixed), .scratch = OFFSET(scratch),
        .heads = 2, .d_head = 8, .padded_head = 8};
    struct span span = {0, ROWS};
    op_quantize(&quantize, span);
    op_product(&product, span);
    op_attend(&attend, (struct text){0, ROWS, 0, ROWS});

    uint32_t hash = 2166136261u;  // FNV-1a
    const uint8_t *end = (const uint8_t *)(&data + 1);
    for (const uint8_t *byte = (const uint8_t *)data.y; byte < end; byte++) {
        hash = (hash ^ *byte) * 16777619u;
    }
    return hash;
}

// For tests: where x, y and mixed of the last self_test() lie.
EXPORT(self_test_x) uint32_t self_test_x(void) { return OFFSET(x); }
EXPORT(self_test_matrix) uint32_t self_test_matrix(void) { return OFFSET(matrix); }
EXPORT(self_test_y) uint32_t self_test_y(void) { return OFFSET(y); }
