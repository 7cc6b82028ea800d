// Runs the program that encoder.py laid in memory: the forward pass of one text or of many.
#include "ops.h"
#include "table.h"
#include "tern.h"

uint32_t op_distinct(const struct distinct_operands *o, const uint32_t *lengths, uint32_t texts);
uint32_t op_recall(const struct recall_operands *o, struct span span);
void op_remember(const struct remember_operands *o, struct span span);
void op_quantize(const struct quantize_operands *o, struct span span);
void op_product(const struct product_operands *o, struct span span);
void op_attend(const struct attend_operands *o, struct text text);
void op_pool(const struct pool_operands *o, struct text text, uint32_t index);
void op_project(const struct project_operands *o, uint32_t texts);

static void op_gather(const struct gather_operands *o, uint32_t rows) {
    for (uint32_t row = 0; row < rows; row++) {
        read_row(o, (uint32_t)ints(o->ids)[row], floats(o->target) + row * o->d_model);
    }
}

// Instructions that a `rows` instruction may hold: those that treat each row by itself.
static void run_rows(const uint32_t *instruction, uint32_t count, struct span span) {
    for (uint32_t i = 0; i < count; i++, instruction += INSTRUCTION_WORDS) {
        const void *operands = instruction + 1;
        switch (instruction[0]) {
            case OP_RECALL: span.rows = op_recall(operands, span); break;
            case OP_QUANTIZE: op_quantize(operands, span); break;
            case OP_PRODUCT: op_product(operands, span); break;
            case OP_REMEMBER: op_remember(operands, span); break;
        }
    }
}

// Embeds `texts` texts: their ids stand one after another, lengths[i] of them for text i.
EXPORT(run)
void run(uint32_t program, uint32_t count, uint32_t texts, uint32_t lengths) {
    const uint32_t *length = (const uint32_t *)ints(lengths), *rows = length;
    uint32_t total = 0;  // rows of all texts: a row a token, or fewer after OP_DISTINCT
    for (uint32_t i = 0; i < texts; i++) total += length[i];

    const uint32_t *instruction = (const uint32_t *)ints(program);
    for (uint32_t at = 0; at < count; at++, instruction += INSTRUCTION_WORDS) {
        const void *operands = instruction + 1;
        switch (instruction[0]) {
            case OP_DISTINCT: {
                const struct distinct_operands *o = operands;
                total = op_distinct(o, length, texts);
                rows = (const uint32_t *)ints(o->counts);
                break;
            }
            case OP_GATHER: op_gather(operands, total); break;
            case OP_ROWS: {
                const struct rows_operands *o = operands;
                for (uint32_t row = 0; row < total; row += o->chunk) {
                    struct span span = {row, minimum(o->chunk, total - row)};
                    run_rows(instruction + INSTRUCTION_WORDS, o->count, span);
                }
                at += o->count;
                instruction += o->count * INSTRUCTION_WORDS;
                break;
            }
            case OP_ATTEND:
            case OP_POOL: {
                struct text text = {0, 0, 0, 0};
                for (uint32_t i = 0; i < texts; i++) {
                    text.tokens = length[i];
                    text.rows = rows[i];
                    if (instruction[0] == OP_ATTEND) op_attend(operands, text);
                    else op_pool(operands, text, i);
                    text.first_token += text.tokens;
                    text.first_row += text.rows;
                }
                break;
            }
            case OP_PROJECT: op_project(operands, texts); break;
        }
    }
}

static struct {
    uint32_t program, count, input;
} chosen;

// What run_chosen() runs, on u32 at `input`: number of texts, three unused, then their lengths.
EXPORT(choose)
void choose(uint32_t program, uint32_t count, uint32_t input) {
    chosen.program = program;
    chosen.count = count;
    chosen.input = input;
}

// Takes no arguments, because a host may spend more time on converting them than on the call.
EXPORT(run_chosen)
void run_chosen(void) {
    run(chosen.program, chosen.count, (uint32_t)ints(chosen.input)[0], chosen.input + 16);
}
