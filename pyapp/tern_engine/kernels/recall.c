// What layer 1 makes of a token before attention depends on its id alone, since no position enters:
// its q, k and v are remembered. Each id has two slots side by side, which it shares with other ids
// that are equal in their lower bits; of those the two used last are remembered.
#include "ops.h"
#include "tern.h"

// In the key of a pair's first slot: the second was used last. The rest of a key is an id + 1.
#define SECOND 0x80000000u

// First of the two slots of an id.
INLINE uint32_t pair_of(uint32_t id, uint32_t slots) { return 2 * (id & (slots / 2 - 1)); }

// 0 or 1, the slot of a pair that holds `id`; or 2.
INLINE uint32_t find(const uint32_t *pair, uint32_t id) {
    return (pair[0] & ~SECOND) == id + 1 ? 0 : pair[1] == id + 1 ? 1 : 2;
}

INLINE void note_use(uint32_t *pair, uint32_t which) {
    pair[0] = (pair[0] & ~SECOND) | (which ? SECOND : 0);
}

uint32_t op_recall(const struct recall_operands *o, struct span span) {
    uint32_t size = o->width * (uint32_t)sizeof(float), missing = 0;
    for (uint32_t row = 0; row < span.rows; row++) {
        uint32_t id = (uint32_t)ints(o->ids)[span.first + row], slot = pair_of(id, o->slots);
        uint32_t *pair = (uint32_t *)ints(o->keys) + slot, which = find(pair, id);
        if (which < 2) {
            note_use(pair, which);
            __builtin_memcpy(floats(o->target) + (span.first + row) * o->width,
                             floats(o->values) + (slot + which) * o->width, size);
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
        uint32_t id = (uint32_t)ints(o->ids)[row], slot = pair_of(id, o->slots);
        uint32_t *pair = (uint32_t *)ints(o->keys) + slot, which = find(pair, id);
        const float *source = floats(o->source) + i * o->width;
        __builtin_memcpy(floats(o->target) + row * o->width, source, size);
        if (which == 2) {
            which = pair[0] & SECOND ? 0 : 1;
            pair[which] = id + 1;
            __builtin_memcpy(floats(o->values) + (slot + which) * o->width, source, size);
        }
        note_use(pair, which);
    }
}
