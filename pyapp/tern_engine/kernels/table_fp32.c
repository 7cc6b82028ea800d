// Embedding table of floats: [vocab][d_model] f32.
#include "table.h"

void read_row(const struct gather_operands *o, uint32_t id, float *out) {
    __builtin_memcpy(out, bytes(o->table) + (size_t)id * o->row_bytes, o->row_bytes);
}
