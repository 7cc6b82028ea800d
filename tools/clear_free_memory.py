"""The last thing that snapshot.mjs runs inside Pyodide: fills free memory with zeros.

What was freed keeps its content, which nobody reads, until it is used again. Memory is taken in
ever smaller blocks, as long as there is a free one that large; a new bytes object is all zeros.
"""

import gc

MOST_BLOCKS = 4000
HEADER = 20  # of a bytes object, and the zero after its content


def clear_free_memory() -> None:
    gc.collect()
    held: list[object] = [None] * MOST_BLOCKS  # a list that grew would leave its content behind
    count = 0
    # No free block is as large: this one lies where memory was not used before.
    unused = id(bytes(1 << 20))
    size = 1 << 19
    while size >= HEADER:
        block = bytes(size - HEADER)
        if id(block) < unused and count < MOST_BLOCKS:
            held[count] = block
            count += 1
        else:
            size = size * 3 // 4 if size > 128 else size - 8


clear_free_memory()
