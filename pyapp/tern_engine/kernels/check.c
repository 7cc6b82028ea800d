// Looks a program over before it is first run: known ops, and every operand's extent in memory.
#include "ops.h"
#include "sums.h"
#include "tern.h"

struct limits {
    uint64_t memory;  // bytes
    uint64_t rows;    // most tokens of a call
    uint64_t texts;   // most texts of a call
    uint64_t longest; // most tokens of a text
    uint64_t chunk;   // rows of the enclosing `rows` instruction
};

// 0 is never a valid offset of data: the stack lies there.
INLINE int inside(const struct limits *l, uint32_t offset, uint64_t size) {
    return offset != 0 && offset + size <= l->memory;
}

INLINE int aligned(const struct limits *l, uint32_t offset, uint64_t size) {
    return offset % 16 == 0 && inside(l, offset, size);
}

// The texts and the vocabulary end where their own marks say; both are written by the engine.
static int read_fits(const struct read_operands *o, const struct limits *l) {
    return inside(l, o->texts, 1) && inside(l, o->pieces, 1) && aligned(l, o->offsets, 4) &&
           o->slot_count && (o->slot_count & (o->slot_count - 1)) == 0 &&
           aligned(l, o->slots, 4ull * o->slot_count) && o->longest_text > 2 &&
           o->longest_text <= l->longest && o->most_tokens <= l->rows &&
           o->most_tokens >= o->longest_text && o->most_texts <= l->texts &&
           aligned(l, o->ids, 4ull * (o->most_tokens + o->longest_text)) &&
           aligned(l, o->lengths, 4ull * o->most_texts);
}

static int distinct_fits(const struct distinct_operands *o, const struct limits *l) {
    return aligned(l, o->ids, 4 * l->rows) && aligned(l, o->places, 4 * l->rows) &&
           aligned(l, o->rows, 4 * l->rows + 16) && aligned(l, o->counts, 4 * l->texts);
}

static int places_fit(uint32_t places, const struct limits *l) {
    return places == 0 || aligned(l, places, 4 * l->rows);
}

static int gather_fits(const struct gather_operands *o, const struct limits *l) {
    return aligned(l, o->ids, 4 * l->rows) &&
           inside(l, o->table, (uint64_t)o->vocab * o->row_bytes) &&
           (o->row_scale == 0 || inside(l, o->row_scale, 4ull * o->vocab)) &&
           aligned(l, o->target, 4 * l->rows * o->d_model);
}

// Of a remember instruction, too: its operands begin alike.
static int recall_fits(const struct recall_operands *o, const struct limits *l) {
    uint64_t row = 4ull * o->width;
    return l->chunk && o->slots > 1 && (o->slots & (o->slots - 1)) == 0 && o->width % 4 == 0 &&
           inside(l, o->ids, 4 * l->rows) && aligned(l, o->keys, 4ull * o->slots) &&
           aligned(l, o->values, o->slots * row) && aligned(l, o->target, l->rows * row) &&
           aligned(l, o->missing, 4 * l->chunk);
}

static int remember_fits(const struct remember_operands *o, const struct limits *l) {
    return recall_fits((const struct recall_operands *)o, l) &&
           aligned(l, o->source, 4 * l->chunk * o->width);
}

static int quantize_fits(const struct quantize_operands *o, const struct limits *l) {
    uint64_t rows = o->source_local ? l->chunk : l->rows, row = 4ull * o->columns;
    int norm = o->gamma == 0 || (aligned(l, o->gamma, row) && aligned(l, o->beta, row) &&
                                 aligned(l, o->row, 4 * row));
    int list = o->rows == 0 || aligned(l, o->rows, 4 * l->chunk);
    return norm && list && l->chunk && o->columns % 4 == 0 && o->padded % BLOCK_COLUMNS == 0 &&
           o->padded >= o->columns && o->stride >= o->columns &&
           aligned(l, o->source, 4 * rows * o->stride) &&
           aligned(l, o->codes, 2 * l->chunk * o->padded) &&
           aligned(l, o->inverse_scale, 4 * l->chunk) && aligned(l, o->bounds, 8 * l->chunk);
}

static int product_fits(const struct product_operands *o, const struct limits *l) {
    uint64_t rows = o->target_local ? l->chunk : l->rows;
    return l->chunk && o->outputs % 4 == 0 && o->columns % BLOCK_COLUMNS == 0 && o->mode <= MODE_GELU &&
           o->stride >= o->outputs && aligned(l, o->codes, 2 * l->chunk * o->columns) &&
           aligned(l, o->inverse_scale, 4 * l->chunk) && aligned(l, o->bounds, 8 * l->chunk) &&
           aligned(l, o->indexes, 2ull * (o->columns / BLOCK_COLUMNS) * index_size(o->outputs)) &&
           aligned(l, o->narrow, 32ull * o->outputs) && aligned(l, o->wide, 64ull * o->outputs) &&
           aligned(l, o->weights, (uint64_t)round_up(o->outputs, 32) * o->columns) &&
           aligned(l, o->inverse_weight, 4ull * o->outputs) &&
           aligned(l, o->bias, 4ull * o->outputs) && aligned(l, o->target, 4 * rows * o->stride);
}

static int attend_fits(const struct attend_operands *o, const struct limits *l) {
    uint64_t width = (uint64_t)o->heads * o->padded_head, keys = (l->longest + 7) / 8 * 8;
    uint64_t values = (o->padded_head + 7) / 8 * 8ull;
    uint64_t scratch = 4 * ((o->padded_head + values + 16) * keys + 16ull * o->padded_head);
    return o->d_head && o->padded_head % 4 == 0 && o->padded_head >= o->d_head &&
           aligned(l, o->qkv, 12 * l->rows * width) &&
           aligned(l, o->target, 4 * l->rows * o->heads * o->d_head) &&
           aligned(l, o->scratch, scratch) && places_fit(o->places, l);
}

static int pool_fits(const struct pool_operands *o, const struct limits *l) {
    uint64_t row = 4ull * o->d_model;
    return aligned(l, o->source, l->rows * row) && aligned(l, o->gamma, row) &&
           aligned(l, o->beta, row) && aligned(l, o->target, l->texts * row) &&
           places_fit(o->places, l);
}

static int project_fits(const struct project_operands *o, const struct limits *l) {
    return o->padded % 4 == 0 && aligned(l, o->source, 4 * l->texts * o->d_model) &&
           aligned(l, o->weights, 4ull * o->d_model * o->padded) &&
           aligned(l, o->bias, 4ull * o->padded) &&
           aligned(l, o->target, 4 * l->texts * o->padded);
}

// Index of the first instruction that is unknown, misplaced or out of bounds; -1 when all fit.
EXPORT(check_program)
int32_t check_program(uint32_t program, uint32_t count, uint32_t rows, uint32_t texts,
                      uint32_t longest) {
    struct limits l = {(uint64_t)__builtin_wasm_memory_size(0) << 16, rows, texts, longest, 0};
    if (!aligned(&l, program, 4ull * INSTRUCTION_WORDS * count)) return 0;
    const uint32_t *instruction = (const uint32_t *)ints(program);
    uint32_t grouped = 0;  // instructions left of the enclosing `rows`
    for (uint32_t at = 0; at < count; at++, instruction += INSTRUCTION_WORDS) {
        const void *operands = instruction + 1;
        uint32_t op = instruction[0];
        int by_row = op == OP_RECALL || op == OP_REMEMBER || op == OP_QUANTIZE || op == OP_PRODUCT;
        int fits = 0;
        if (by_row != (grouped > 0)) return (int32_t)at;
        switch (op) {
            case OP_READ: fits = read_fits(operands, &l); break;
            case OP_DISTINCT: fits = distinct_fits(operands, &l); break;
            case OP_GATHER: fits = gather_fits(operands, &l); break;
            case OP_RECALL: fits = recall_fits(operands, &l); break;
            case OP_REMEMBER: fits = remember_fits(operands, &l); break;
            case OP_QUANTIZE: fits = quantize_fits(operands, &l); break;
            case OP_PRODUCT: fits = product_fits(operands, &l); break;
            case OP_ATTEND: fits = attend_fits(operands, &l); break;
            case OP_POOL: fits = pool_fits(operands, &l); break;
            case OP_PROJECT: fits = project_fits(operands, &l); break;
            case OP_ROWS: {
                const struct rows_operands *o = operands;
                fits = o->chunk && o->chunk % 16 == 0 && o->count && o->count < count - at;
                grouped = o->count;
                l.chunk = o->chunk;
                break;
            }
        }
        if (!fits) return (int32_t)at;
        if (by_row) grouped--;
    }
    return grouped ? (int32_t)count : -1;
}
