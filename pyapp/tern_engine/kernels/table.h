// What a table loader provides. A build links exactly one table_<format>.c.
#pragma once

#include "lanes.h"
#include "ops.h"

// Writes the d_model floats of token `id`.
void read_row(const struct gather_operands *o, uint32_t id, float *out);

INLINE float row_scale(const struct gather_operands *o, uint32_t id) {
    float scale;
    __builtin_memcpy(&scale, bytes(o->row_scale) + 4 * (size_t)id, 4);  // may be unaligned
    return scale;
}
