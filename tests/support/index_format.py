"""The search index file, read from docs/index-format.md alone: an oracle for the implementations.

Straightforward and slow. Texts are str in which a surrogate is always a lone one.
"""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

Range = tuple[int, int]

WHITE = set("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff") | set(
    map(chr, range(0x2000, 0x200B))
)
WIDE_STOPS = set("\u3002\uff01\uff1f\uff61")
STOPS = WIDE_STOPS | set(
    ".!?\u2026\u203c\u2047\u2048\u2049\uff0e\u061f\u06d4\u0589\u0964\u0965"
    "\u1362\u1367\u1368\u17d4\u17d5\u104b"
)
CLOSERS = set("\"')]}\xab\xbb\u2018\u2019\u201c\u201d\u203a") | set(
    "\u3009\u300b\u300d\u300f\u3011\u3015\uff02\uff09\uff3d\uff5d"
)
LOWER = [(0x61, 0x7A), (0xDF, 0xF6), (0xF8, 0xFF), (0x3AC, 0x3CE), (0x430, 0x45F)]
_SHORT = (
    "Mr Mrs Ms Dr Prof Rev Gen Sen Rep Gov Capt Lt Col Sgt St Mt Ft Jr Sr vs cf al Fig Figs Eq No "
    "Nos Vol pp Ed Eds Inc Ltd Co Corp approx ca Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"
)
ABBREVIATIONS = set(_SHORT.split())


def whole_text(text: str) -> str:
    """`text` with each pair of surrogates as the one character that it means."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def canonical(value: Any) -> str:
    """The canonical JSON text (section 2)."""
    match value:
        case None | True | False:
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            return _string(value)
        case int() | float():
            return _number(float(value))
        case list():
            return "[" + ",".join(map(canonical, value)) + "]"
        case dict():
            keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
            return "{" + ",".join(f"{_string(k)}:{canonical(value[k])}" for k in keys) + "}"
    raise TypeError(type(value))


def _string(text: str) -> str:
    short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f"}
    short["\r"] = "\\r"

    def escaped(character: str) -> str:
        if character in short:
            return short[character]
        if character < " " or 0xD800 <= ord(character) < 0xE000:
            return f"\\u{ord(character):04x}"
        return character

    return '"' + "".join(map(escaped, text)) + '"'


def _number(value: float) -> str:
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    stripped = text.rstrip("0")
    k, e = len(stripped), len(text) + exponent  # value = 0.stripped * 10**e
    if k <= e <= 21:
        out = stripped + "0" * (e - k)
    elif 0 < e <= 21:
        out = stripped[:e] + "." + stripped[e:]
    elif -6 < e <= 0:
        out = "0." + "0" * -e + stripped
    else:
        fraction = "." + stripped[1:] if k > 1 else ""
        out = f"{stripped[0]}{fraction}e{'+' if e > 0 else '-'}{abs(e - 1)}"
    return "-" * sign + out


def _trim(text: str, start: int, end: int) -> Range:
    while start < end and text[start] in WHITE:
        start += 1
    while end > start and text[end - 1] in WHITE:
        end -= 1
    return start, end


def _white_end(text: str, at: int) -> int:
    while at < len(text) and text[at] in WHITE:
        at += 1
    return at


def _is_paragraph_break(run: str) -> bool:
    return "\u2029" in run or len(re.findall("\r\n|[\n\r\x85\u2028]", run)) >= 2


def sentences(text: str) -> list[Range]:
    """Sentences (section 4)."""
    found = []
    start = _white_end(text, 0)
    while start < len(text):
        end = _trim(text, start, _sentence_end(text, start))[1]
        found.append((start, end))
        start = _white_end(text, end)
    return found


def _sentence_end(text: str, start: int) -> int:
    at = start
    while at < len(text):
        if text[at] in WHITE:
            white_end = _white_end(text, at)
            if _is_paragraph_break(text[at:white_end]):
                return at
            at = white_end
        elif text[at] in STOPS:
            run_end = at
            while run_end < len(text) and text[run_end] in STOPS | CLOSERS:
                run_end += 1
            if _ends(text, start, at, run_end):
                return run_end
            at = run_end
        else:
            at += 1
    return at


def _ends(text: str, start: int, at: int, run_end: int) -> bool:
    run = text[at:run_end]
    white = text[run_end : _white_end(text, run_end)]
    following = text[run_end + len(white) :][:1]
    if WIDE_STOPS & set(run) or run_end == len(text) or _is_paragraph_break(white):
        return True
    if not white:
        return False
    if not following:
        return True
    if any(first <= ord(following) <= last for first, last in LOWER):
        return False
    if run[0] == "." and sum(character in STOPS for character in run) == 1:
        match = re.search("[A-Za-z.]*$", text[start:at])
        word = match.group() if match else ""
        initial = re.fullmatch("[A-HJ-Z]", word) is not None
        return not (initial or "." in word or word in ABBREVIATIONS)
    return True


def passages(text: str, limit: int, tokens: Callable[[str], int]) -> list[Range]:
    """Passages (section 5); `tokens` counts those of a text."""
    start, end = _trim(text, 0, len(text))
    if start == end:
        return []
    if tokens(text[start:end]) <= limit:
        return [(start, end)]
    found: list[Range] = []
    total = limit + 1
    for sentence in sentences(text):
        for first, last in _parts(text, sentence, limit, tokens):
            count = min(tokens(text[first:last]), limit)
            if found and total + count - tokens("") <= limit:
                found[-1] = (found[-1][0], last)
                total += count - tokens("")
            else:
                found.append((first, last))
                total = count
    return found


def _parts(text: str, part: Range, limit: int, tokens: Callable[[str], int]) -> list[Range]:
    start, end = part
    if end - start == 1 or tokens(text[start:end]) <= limit:
        return [part]
    middle = start + (end - start) // 2
    white = [at for at in range(start + 1, end) if text[at] in WHITE]
    before = [at for at in white if at <= middle]
    cut = before[-1] if before else white[0] if white else middle
    halves = _trim(text, start, cut), _trim(text, cut, end)
    return [found for half in halves for found in _parts(text, half, limit, tokens)]


def float32(value: float) -> float:
    """Rounded to the nearest float32."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def quantize(vector: Sequence[float]) -> tuple[float, list[int]]:
    """(scale, codes) of int8 (section 7)."""
    scale = float32(max(map(abs, vector)) / 127)
    if scale == 0:
        return scale, [0] * len(vector)
    return scale, [max(-127, min(127, round(x / scale))) for x in vector]


def score_float32(vector: Sequence[float], query: Sequence[float]) -> float:
    """Section 8."""
    sums = [0.0, 0.0]
    for i, (x, y) in enumerate(zip(vector, query, strict=True)):
        sums[i % 2] += x * y
    return sums[0] + sums[1]


def score_int8(vector: Sequence[float], query: Sequence[float]) -> float:
    """Section 8, of vectors before they are quantized."""
    (s, q), (t, r) = quantize(vector), quantize(query)
    return sum(a * b for a, b in zip(q, r, strict=True)) * s * t


def write(
    kind: str,
    fingerprint: str,
    dim: int,
    passage_tokens: int,
    documents: Sequence[tuple[dict[str, Any], Sequence[tuple[int, int, bytes]]]],
) -> bytes:
    """The file (sections 1 and 6) of documents with passages: start, end, float32 vector."""
    parts = [part for _, found in documents for part in found]
    records = [canonical(document).encode() for document, _ in documents]
    body = b"TERNIDX\n" + struct.pack("<II", 1, ["float32", "int8"].index(kind))
    body += bytes.fromhex(fingerprint)
    body += struct.pack("<IIII", dim, passage_tokens, len(documents), len(parts))
    body += b"".join(struct.pack("<I", len(record)) for record in records)
    body += b"".join(struct.pack("<I", len(found)) for _, found in documents)
    body += b"".join(struct.pack("<II", start, end) for start, end, _ in parts)
    if kind == "int8":
        quantized = [quantize(struct.unpack(f"<{dim}f", vector)) for _, _, vector in parts]
        body += b"".join(struct.pack("<f", scale) for scale, _ in quantized)
        body += b"".join(struct.pack(f"<{dim}b", *codes) for _, codes in quantized)
    else:
        body += b"".join(vector for _, _, vector in parts)
    body += b"".join(records)
    count = math.ceil(len(body) / 2**20)
    blocks = [body[i * 2**20 : (i + 1) * 2**20] for i in range(count)]
    digests = b"".join(hashlib.sha256(block).digest() for block in blocks)
    return body + hashlib.sha256(digests).digest()
