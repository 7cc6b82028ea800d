"""Write the kernel program's op codes and operands, for C and for Python, from one table.

    python tools/generate_ops.py            # rewrites kernels/ops.h and kernels/_ops.py
    python tools/generate_ops.py --check    # exits 1 when either is not current

An instruction is INSTRUCTION_WORDS little-endian 32-bit words: the op code, then its operands.
Operands are byte offsets in kernel memory unless the comment says otherwise.
"""

from __future__ import annotations

import sys
from pathlib import Path

KERNELS = Path(__file__).resolve().parent.parent / "pyapp" / "tern_engine" / "kernels"
INSTRUCTION_WORDS = 16
MODES = ("store", "add", "gelu")

# op -> (what it does, {operand: meaning})
OPS: dict[str, tuple[str, dict[str, str]]] = {
    "read": (
        "ids of as many texts as a call takes; instructions after it work on these",
        {
            "texts": "see wordpiece.c",
            "pieces": "the vocabulary, a piece a line",
            "offsets": "u32 [pieces + 1], see learn_pieces",
            "slots": "u32 [slot_count], see learn_pieces",
            "slot_count": "a power of two, more than there are pieces",
            "longest": "characters of the longest piece",
            "unknown": "an id",
            "start": "an id",
            "end": "an id",
            "ids": "u32 [most_tokens + longest_text]",
            "lengths": "u32 [most_texts], ids of each text",
            "most_texts": "count",
            "most_tokens": "count",
            "longest_text": "ids of a text at most, start and end included",
        },
    ),
    "distinct": (
        "a row for each distinct token of a text; instructions after it work on these rows",
        {
            "ids": "u32 [tokens]",
            "places": "u32 [tokens], each token's row, counted from the first of its text",
            "rows": "u32 [rows], their ids, and 16 bytes more",
            "counts": "u32 [texts], their rows",
        },
    ),
    "gather": (
        "target[row] = table row of ids[row]",
        {
            "ids": "u32 [rows]",
            "table": "rows as stored in the model file",
            "row_scale": "f32 [vocab], 0 for an fp32 table",
            "target": "f32 [rows][d_model]",
            "row_bytes": "bytes of a table row",
            "d_model": "floats of a row",
            "vocab": "rows of the table",
        },
    ),
    "rows": (
        "run the next `count` instructions over at most `chunk` rows at a time",
        {"count": "instructions", "chunk": "rows, a multiple of 16"},
    ),
    "recall": (
        "target[row] = the remembered row of ids[row]; the group goes on with the other rows",
        {
            "ids": "u32 [rows]",
            "keys": "u32 [slots], id + 1, or 0 for an empty slot",
            "values": "f32 [slots][width]",
            "slots": "a power of two",
            "target": "f32 [rows][width]",
            "width": "floats of a row, a multiple of 4",
            "missing": "u32 [chunk], the rows to go on with",
        },
    ),
    "remember": (
        "put rows computed after a `recall` in their places and in the slots of their ids",
        {
            "ids": "u32 [rows]",
            "keys": "u32 [slots]",
            "values": "f32 [slots][width]",
            "slots": "a power of two",
            "target": "f32 [rows][width]",
            "width": "floats of a row",
            "missing": "u32 [chunk]",
            "source": "f32 [chunk][width], one row a missing one",
        },
    ),
    "quantize": (
        "layer norm where gamma is given, then the norm and 8-bit rounding of a BitLinear input",
        {
            "source": "f32 [rows][stride]",
            "stride": "floats from row to row",
            "source_local": "1: source holds the chunk's rows only",
            "rows": "u32 [chunk], which rows of the chunk to take, or 0 for all",
            "gamma": "f32 [columns], or 0 for none",
            "beta": "f32 [columns], with gamma",
            "row": "f32 [4][columns], scratch, with gamma",
            "codes": "i16 tiles [chunk][padded], see quantize.c",
            "inverse_scale": "f32 [chunk], 1 / s_x",
            "bounds": "struct bounds [chunk]",
            "columns": "floats of a row",
            "padded": "columns rounded up to 64",
        },
    ),
    "product": (
        "target = (codes W^T + bias) / (s_w s_x), stored, added, or through GELU",
        {
            "codes": "i16 tiles [chunk][columns]",
            "inverse_scale": "f32 [chunk]",
            "bounds": "struct bounds [chunk]",
            "weights": "i16 panels, see panels.h",
            "indexes": "u16, see sums.h",
            "narrow": "i16 [outputs][16], scratch",
            "wide": "i32 [outputs][16], scratch",
            "inverse_weight": "f32 [outputs], 1 / s_w",
            "bias": "f32 [outputs]",
            "target": "f32 [rows][stride]",
            "stride": "floats from row to row",
            "target_local": "1: target holds the chunk's rows only",
            "columns": "padded columns",
            "outputs": "a multiple of 4",
            "mode": "MODE_*",
        },
    ),
    "attend": (
        "attention within each text",
        {
            "qkv": "f32 [rows][3][heads][padded_head]",
            "target": "f32 [rows][heads * d_head]",
            "scratch": "f32, see attention.c",
            "heads": "count",
            "d_head": "floats of a head",
            "padded_head": "d_head rounded up to 4",
            "places": "u32 [tokens], see `distinct`, or 0 for a row a token",
        },
    ),
    "pool": (
        "target[text] = mean over its tokens of the final layer norm, which overwrites source",
        {
            "source": "f32 [rows][d_model]",
            "gamma": "f32 [d_model]",
            "beta": "f32 [d_model]",
            "target": "f32 [texts][d_model]",
            "d_model": "floats of a row",
            "places": "u32 [tokens], see `distinct`, or 0 for a row a token",
        },
    ),
    "project": (
        "target = unit length of (source W + bias)",
        {
            "source": "f32 [texts][d_model]",
            "weights": "f32, see pack_projection",
            "bias": "f32 [padded]",
            "target": "f32 [texts][padded]",
            "d_model": "floats of a source row",
            "padded": "output_dim rounded up to 4",
        },
    ),
}


def c_header() -> str:
    """ops.h: op codes, modes and one operand struct an op."""
    lines = ["// Generated by tools/generate_ops.py. Do not edit.", "#pragma once", ""]
    lines += ["#include <stdint.h>", "", f"#define INSTRUCTION_WORDS {INSTRUCTION_WORDS}", ""]
    lines += [f"#define OP_{name.upper()} {code}" for code, name in enumerate(OPS, 1)] + [""]
    lines += [f"#define MODE_{name.upper()} {code}" for code, name in enumerate(MODES)]
    for name, (meaning, operands) in OPS.items():
        lines += ["", f"// {meaning}", f"struct {name}_operands {{"]
        lines += [f"    uint32_t {o};  // {note}" for o, note in operands.items()] + ["};"]
    return "\n".join(lines) + "\n"


def python_module() -> str:
    """_ops.py: one function an op, which returns the words of an instruction."""
    lines = ['"""Generated by tools/generate_ops.py. Do not edit."""', "", "# fmt: off", ""]
    lines += [f"INSTRUCTION_WORDS = {INSTRUCTION_WORDS}", ""]
    lines += [f"MODE_{name.upper()} = {code}" for code, name in enumerate(MODES)]
    for code, (name, (meaning, operands)) in enumerate(OPS.items(), 1):
        lines += ["", "", f"def {name}(", "    *,"]
        lines += [f"    {o}: int," for o in operands] + [") -> list[int]:"]
        lines += [f'    """{meaning[0].upper()}{meaning[1:]}."""']
        padding = INSTRUCTION_WORDS - 1 - len(operands)
        lines += ["    return [", f"        {code},"]
        lines += [f"        {o}," for o in operands] + [f"        *[0] * {padding},", "    ]"]
    return "\n".join(lines) + "\n"


def main(argv: list[str]) -> int:
    """Write both files, or compare them."""
    stale = False
    for path, text in ((KERNELS / "ops.h", c_header()), (KERNELS / "_ops.py", python_module())):
        if path.exists() and path.read_text() == text:
            continue
        stale = True
        print(f"{'not current' if '--check' in argv else 'wrote'}: {path.name}")
        if "--check" not in argv:
            path.write_text(text)
    return int(stale and "--check" in argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
