"""Every way to damage one thing in a model file, with the code that a reader must answer."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle

from tern_engine.format import EMBEDDING_FORMATS, Section, read_header, sections

NAN, INF = math.nan, math.inf
NEGATIVE_NAN = b"\x01\x00\x80\xff"  # a signalling one, too
SMALLEST = struct.unpack("<f", b"\x01\x00\x00\x00")[0]  # the least positive float32


@dataclass(frozen=True)
class Case:
    """A damaged (code is set) or unusual but valid (code is None) model file."""

    name: str
    code: str | None
    data: bytes


def seal(data: bytes | bytearray) -> bytes:
    """The file with a trailer that fits its body, so that only later checks can fail."""
    body = bytes(data[:-32])
    return body + hashlib.sha256(body).digest()


def patched(model: bytes, *patches: tuple[int, bytes]) -> bytes:
    data = bytearray(model)
    for offset, replacement in patches:
        data[offset : offset + len(replacement)] = replacement
    return bytes(data)


def layout_of(model: bytes) -> list[Section]:
    return sections(read_header(model, len(model), build=None, vocab_size=None))


def header_faults(model: bytes) -> Iterator[Case]:
    """One header field wrong at a time, the file well sealed: with n_heads > 1, d_model < 4096."""
    fields = {
        "magic": (0, 4, "MODEL_MAGIC", [0, 0x4E524554 ^ 0x20, 0x4E524554 ^ 1 << 24, 0x5445524E]),
        "format_version": (4, 2, "MODEL_VERSION", [0, 2, 256, 65535]),
        "embedding_format": (6, 1, "MODEL_EMBEDDING_FORMAT", [4, 5, 128, 255]),
        "weights_format": (7, 1, "MODEL_WEIGHTS_FORMAT", [1, 2, 255]),
        "vocab_size": (8, 4, "MODEL_SHAPE", [0, (1 << 20) + 1, (1 << 31) + 1, (1 << 32) - 1]),
        "d_model": (12, 2, "MODEL_SHAPE", [0, 1, 4098, 65535]),
        "n_layers": (14, 1, "MODEL_SHAPE", [0, 65, 255]),
        "n_heads": (15, 1, "MODEL_SHAPE", [0, 255]),
        "ffn_dim": (16, 2, "MODEL_SHAPE", [0, 2, 16388, 65535]),
        "output_dim": (18, 2, "MODEL_SHAPE", [0, 4097, 65535]),
        "max_seq_len": (20, 2, "MODEL_SHAPE", [0, 2, 513, 65535]),
        "vocab_size one more": (8, 4, "MODEL_VOCABULARY", [number(model, 8, 4) + 1]),
        "vocab_size one less": (8, 4, "MODEL_VOCABULARY", [number(model, 8, 4) - 1]),
        "d_model doubled": (12, 2, "MODEL_LENGTH", [2 * number(model, 12, 2)]),
        "n_layers more": (14, 1, "MODEL_LENGTH", [number(model, 14, 1) + 1, 64]),
        "ffn_dim more": (16, 2, "MODEL_LENGTH", [number(model, 16, 2) + 4, 16384]),
        "output_dim more": (18, 2, "MODEL_LENGTH", [number(model, 18, 2) + 1, 4096]),
    }
    for name, (offset, width, code, values) in fields.items():
        for value in values:
            data = patched(model, (offset, value.to_bytes(width, "little")))
            yield Case(f"{name} = {value}", code, seal(data))
    for at in range(22, 32):
        yield Case(f"reserved byte {at}", "MODEL_RESERVED", seal(patched(model, (at, b"\x80"))))
    for name, tag in EMBEDDING_FORMATS.items():
        if tag != model[6]:
            data = seal(patched(model, (6, bytes([tag]))))
            yield Case(f"table called {name}", "MODEL_OTHER_BUILD", data)


def number(model: bytes, offset: int, width: int) -> int:
    return int.from_bytes(model[offset : offset + width], "little")


def length_faults(model: bytes) -> Iterator[Case]:
    """Cut short in every part of the file, and too long."""
    for length in (0, 1, 3, 4, 5, 16, 31, 32, 33, 48, 63):
        yield Case(f"{length} bytes", "MODEL_TOO_SHORT", model[:length])
    lengths = {64}
    for section in layout_of(model):
        lengths |= {section.offset + section.nbytes // 2, section.offset + section.nbytes}
    lengths |= {len(model) - 33, len(model) - 31, len(model) - 16, len(model) - 1}
    for length in sorted(lengths):
        yield Case(f"cut to {length} bytes", "MODEL_LENGTH", model[:length])
    yield Case("half, sealed", "MODEL_LENGTH", seal(model[: len(model) // 2]))
    yield Case("one byte less, sealed", "MODEL_LENGTH", seal(model[:-1]))
    yield Case("one byte more", "MODEL_LENGTH", model + b"\0")
    yield Case("one byte more, sealed", "MODEL_LENGTH", seal(model + b"\0"))
    yield Case("a second trailer", "MODEL_LENGTH", model + model[-32:])
    yield Case("twice the file", "MODEL_LENGTH", model + model)


def checksum_faults(model: bytes) -> Iterator[Case]:
    """One bit flipped in each section, in the header's free field and in the trailer."""
    places = {s.name: s.offset + s.nbytes // 2 for s in layout_of(model)}
    places |= {"last byte of the body": len(model) - 33}
    places |= {"trailer's first byte": len(model) - 32, "trailer's last byte": len(model) - 1}
    for name, at in places.items():
        flipped = patched(model, (at, bytes([model[at] ^ 1])))
        yield Case(f"bit flipped in {name}", "MODEL_CHECKSUM", flipped)
    longer = number(model, 20, 2) + 1
    yield Case(
        "max_seq_len changed", "MODEL_CHECKSUM", patched(model, (20, longer.to_bytes(2, "little")))
    )
    yield Case("trailer of zeros", "MODEL_CHECKSUM", model[:-32] + bytes(32))


def code_faults(model: bytes) -> Iterator[Case]:
    """A reserved code in each packed section: first, last and middle byte, each place in it."""
    for section in layout_of(model):
        if section.kind == "codes":
            places, mask, reserved = range(0, 8, 2), 3, 3
        elif section.kind == "int4":
            places, mask, reserved = range(0, 8, 4), 15, 8
        else:
            continue
        last = section.offset + section.nbytes - 1
        bytes_in_turn = cycle((section.offset, last, section.offset + section.nbytes // 2))
        for shift, at in zip(places, bytes_in_turn, strict=False):
            byte = model[at] & ~(mask << shift) | reserved << shift
            name = f"{section.name}: reserved code, byte {at - section.offset}, bit {shift}"
            yield Case(name, "MODEL_CODE", seal(patched(model, (at, bytes([byte])))))


def value_faults(model: bytes) -> Iterator[Case]:
    """Each kind of bad float in each section of floats, at its last, first or second place."""
    bad = {
        "f32": (NAN, NEGATIVE_NAN, INF, -INF),
        "row_scale": (NAN, INF, -INF, -1.0, -SMALLEST),
        "scale": (NAN, INF, -INF, -1.0, -SMALLEST, 0.0, -0.0),
    }
    for section in layout_of(model):
        last = section.nbytes // 4 - 1
        for value, at in zip(
            bad.get(section.kind, ()), cycle((last, 0, min(1, last))), strict=False
        ):
            bits = value if isinstance(value, bytes) else struct.pack("<f", value)
            data = patched(model, (section.offset + 4 * at, bits))
            yield Case(f"{section.name}[{at}] = {value!r}", "MODEL_VALUE", seal(data))


def two_faults(model: bytes) -> Iterator[Case]:
    """Two things wrong: the one that is checked first is reported, wherever it stands."""
    layout = {s.name: s for s in layout_of(model)}
    nan = struct.pack("<f", NAN)
    early_value = (layout["layers.0.ln_1.weight"].offset, nan)
    late_code = (layout["layers.0.ffn.down.codes"].offset, b"\xff")
    yield Case("value, then code", "MODEL_CODE", seal(patched(model, early_value, late_code)))
    yield Case("value, code, seal", "MODEL_CHECKSUM", patched(model, early_value, late_code))
    yield Case("seal and length", "MODEL_LENGTH", patched(model, early_value)[:-1])
    yield Case("version and magic", "MODEL_MAGIC", patched(model, (0, b"TORN"), (4, b"\x02")))


def unusual(model: bytes) -> Iterator[Case]:
    """Valid all the same."""
    for section in layout_of(model):
        last = section.offset + section.nbytes - 4
        values = {
            "f32": (-0.0, -3e38),
            "row_scale": (0.0, -0.0, SMALLEST, 3e38),
            "scale": (SMALLEST, 3e38),
        }.get(section.kind, ())
        for value in values:
            name = f"{section.name}: last is {value}"
            yield Case(name, None, seal(patched(model, (last, struct.pack("<f", value)))))
        if section.kind == "int8":
            yield Case("int8 code -128", None, seal(patched(model, (section.offset, b"\x80"))))
    longest = patched(model, (20, (512).to_bytes(2, "little")))
    yield Case("max_seq_len 512", None, seal(longest))


def every_case(model: bytes) -> Iterator[Case]:
    """All of the above; the reader must know the model's build and vocabulary."""
    yield Case("untouched", None, model)
    yield from header_faults(model)
    yield from length_faults(model)
    yield from checksum_faults(model)
    yield from code_faults(model)
    yield from value_faults(model)
    yield from two_faults(model)
    yield from unusual(model)
