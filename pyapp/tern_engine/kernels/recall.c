// What layer 1 makes of a token before attention depends on its id alone, since no position enters:
// its q, k and v are remembered, in a table with one slot for every `slots`-th id.
#include "ops.h"
#include "tern.h"

uint32_t op_recall(const struct recall_operands *o, struct span span) {
    uint32_t size = o->width * (uint32_t)sizeof(float), missing = 0;
    for (uint32_t row = 0; row < span.rows; row++) {
        uint32_t id = (uint32_t)ints(o->ids)[span.first + row], slot = id & (o->slots - 1);
        if ((uint32_t)ints(o->keys)[slot] == id + 1) {
            __builtin_memcpy(floats(o->target) + (span.first + row) * o->width,
                             floats(o->values) + slot * o->width, size);
        } else {
            ints(o->missing)[missing++] = (int32_t)row;
        }
    }
    return missing;
}

void op_remember(const struct remember_operands *o, struct span span) {
    uint32_t size = o->width * (uint32_t)sizeof(float);
    for (uint32_t i = 0; i < span.rows; i++) {
        uint32_t row = span.first + (uint32_t)ints(o->missing)[i];
        uint32_t id = (uint32_t)ints(o->ids)[row], slot = id & (o->slots - 1);
        const float *source = floats(o->source) + i * o->width;
        __builtin_memcpy(floats(o->target) + row * o->width, source, size);
        __builtin_memcpy(floats(o->values) + slot * o->width, source, size);
        ints(o->keys)[slot] = (int32_t)(id + 1);
    }
}
