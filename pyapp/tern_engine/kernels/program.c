// Runs the program that encoder.py laid in memory: the forward pass of one text or of many.
#include "ops.h"
#include "table.h"
#include "tern.h"

void read_from(uint32_t offset);
uint32_t op_read(const struct read_operands *o);
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

INLINE uint32_t sum_of(const uint32_t *lengths, uint32_t texts) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < texts; i++) sum += lengths[i];
    return sum;
}

// Embeds `texts` texts: their ids stand one after another, lengths[i] of them for text i. Or, after
// OP_READ, those that it found. Returns their number.
EXPORT(run)
uint32_t run(uint32_t program, uint32_t count, uint32_t texts, uint32_t lengths) {
    const uint32_t *length = (const uint32_t *)ints(lengths), *rows = length;
    // Rows of all texts: a row a token, or fewer after OP_DISTINCT.
    uint32_t total = sum_of(length, texts);

    const uint32_t *instruction = (const uint32_t *)ints(program);
    for (uint32_t at = 0; at < count; at++, instruction += INSTRUCTION_WORDS) {
        const void *operands = instruction + 1;
        switch (instruction[0]) {
            case OP_READ: {
                const struct read_operands *o = operands;
                texts = op_read(o);
                rows = length = (const uint32_t *)ints(o->lengths);
                total = sum_of(length, texts);
                break;
            }
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
    return texts;
}

static struct {
    uint32_t program, count;
} chosen;

// A program that begins with OP_READ, for run_first() and run_next(). They take no arguments,
// because a host may spend more time on converting them than on the call.
EXPORT(choose)
void choose(uint32_t program, uint32_t count) {
    chosen.program = program;
    chosen.count = count;
}

// Embeds the texts behind those of the last run. Returns how many it took.
EXPORT(run_next)
uint32_t run_next(void) { return run(chosen.program, chosen.count, 0, 0); }

// Tokenizes the first text of the buffer, and does no more. Returns how many ids it has, or one more
// than fit: its end then stands where it belongs in a text that was cut.
EXPORT(read_first)
uint32_t read_first(void) {
    struct read_operands o = *(const struct read_operands *)(ints(chosen.program) + 1);
    o.most_texts = 1;
    o.most_tokens = ++o.longest_text;  // in `ids` there is room for twice as many
    read_from(0);
    op_read(&o);
    uint32_t count = (uint32_t)ints(o.lengths)[0];
    uint32_t *end = (uint32_t *)ints(o.ids) + count - 1;
    if (count == o.longest_text) end[-1] = end[0];
    return count;
}

// Embeds the first texts of the buffer.
EXPORT(run_first)
uint32_t run_first(void) {
    read_from(0);
    return run_next();
}
