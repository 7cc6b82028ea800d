// Equal tokens of a text have equal rows all the way through, since no position enters: each of its
// ids is computed once, and attention and pooling count a row as often as its token stands there.
#include "lanes.h"
#include "ops.h"

// Where `id` stands in ids[0 ... count), or count. May read up to 3 ids past them.
static uint32_t find(const uint32_t *ids, uint32_t count, uint32_t id) {
#ifdef TERN_SCALAR
    uint32_t at = 0;
    while (at < count && ids[at] != id) at++;
    return at;
#else
    vec wanted = wasm_i32x4_splat((int32_t)id);
    for (uint32_t at = 0; at < count; at += 4) {
        uint32_t equal = wasm_i32x4_bitmask(wasm_i32x4_eq(LOAD(ids + at), wanted));
        if (equal) return minimum(at + (uint32_t)__builtin_ctz(equal), count);
    }
    return count;
#endif
}

// Returns the number of rows of all texts.
uint32_t op_distinct(const struct distinct_operands *o, const uint32_t *lengths, uint32_t texts) {
    const uint32_t *id = (const uint32_t *)ints(o->ids);
    uint32_t *place = (uint32_t *)ints(o->places), *rows = (uint32_t *)ints(o->rows);
    uint32_t total = 0;
    for (uint32_t text = 0; text < texts; text++, rows += total) {
        total = 0;
        for (uint32_t i = 0; i < lengths[text]; i++, id++) {
            uint32_t at = find(rows, total, *id);
            if (at == total) rows[total++] = *id;
            *place++ = at;
        }
        ints(o->counts)[text] = (int32_t)total;
    }
    return (uint32_t)(rows - (const uint32_t *)ints(o->rows));
}
