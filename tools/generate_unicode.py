"""Writes pyapp/tern_engine/_unicode.py: what `tokenizers` does to each character, frozen.

    python tools/generate_unicode.py            writes the file
    python tools/generate_unicode.py --check    fails when the file is not what would be written

The tables come from the library's own answers, one scalar value at a time, and never from
`unicodedata`: the library mixes several Unicode versions (and a mistake or two), and Python's
version differs between hosts. Each fact that the engine's shortcuts rest on is checked here, so a
new version of the library that breaks one stops the generation.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import tokenizers
from tokenizers.normalizers import NFD, BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

TARGET = Path(__file__).resolve().parent.parent / "pyapp/tern_engine/_unicode.py"

BARRIER = "\0"
HANGUL = range(0xAC00, 0xD7A4)
SCALARS = [chr(point) for point in (*range(0xD800), *range(0xE000, 0x110000))]
# Stands between characters in one long text, so that a table takes a few calls instead of a
# million. No step below produces or consumes it, and it is a starter: no mark moves across it.
FENCE = "0"

# Marks of the lowest and the highest canonical combining class of all (1 and 240).
LOWEST_MARK, HIGHEST_MARK = "\u0334", "\u0345"


def _step(**enabled: bool) -> Callable[[str], str]:
    """One step of the BERT normalizer, the others switched off."""
    steps = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    return BertNormalizer(**{step: enabled.get(step, False) for step in steps}).normalize_str


def _each(step: Callable[[str], str], texts: Iterable[str]) -> list[str]:
    """`step` of every text."""
    texts = list(texts)
    done = step(FENCE.join(texts)).split(FENCE)
    if len(done) != len(texts):
        raise SystemExit("a normalization step moved across the fence character")
    return done


class Library:
    """The library's answers.

    clean, chinese, decomposed, lower, whole: scalar value -> text after that step alone, or after
    all of them; only where it differs from the character.
    nonspacing: marks that accent stripping removes. movable: of a combining class other than 0.
    separate: punctuation, which the pre-tokenizer makes a word of its own.
    """

    def __init__(self) -> None:
        scalars = [char for char in SCALARS if char != FENCE]
        nfd = NFD().normalize_str

        def table(step: Callable[[str], str]) -> dict[str, str]:
            answers = zip(scalars, _each(step, scalars), strict=True)
            return {char: new for char, new in answers if char != new}

        self.clean = table(_step(clean_text=True))
        self.chinese = table(_step(handle_chinese_chars=True))
        self.decomposed = table(nfd)
        self.lower = table(_step(lowercase=True))
        self.whole = table(BertNormalizer(True, True, True, True).normalize_str)

        # Only what decomposition leaves alone can meet the steps after it.
        stable = [char for char in scalars if char not in self.decomposed]
        stripped = _each(_step(strip_accents=True), stable)
        self.nonspacing = {char for char, left in zip(stable, stripped, strict=True) if not left}
        # A mark of class 1 moves before any higher class; one of class 240 moves after any lower.
        after = _each(nfd, (char + LOWEST_MARK for char in stable))
        before = _each(nfd, (HIGHEST_MARK + char for char in stable))
        self.movable = {
            char
            for char, a, b in zip(stable, after, before, strict=True)
            if a != char + LOWEST_MARK or b != HIGHEST_MARK + char
        }
        self.separate = self._separate(stable)

    @staticmethod
    def _separate(stable: list[str]) -> set[str]:
        split = BertPreTokenizer().pre_tokenize_str
        # A word of one character is punctuation, or has a word boundary on both sides by chance.
        alone = {word for word, _ in split(FENCE.join(stable)) if len(word) == 1}
        return {char for char in alone if len(split(FENCE + char + FENCE)) == 3}


def _check(fact: bool, text: str) -> None:
    if not fact:
        raise SystemExit(f"tokenizers {tokenizers.__version__} breaks an assumption: {text}")


def whitespace(library: Library) -> str:
    """The characters that separate words, before anything else happens to them."""
    _check(
        set(library.clean.values()) == {"", " "}, "cleaning drops a character or makes it a space"
    )
    return "".join(sorted({" "} | {char for char, new in library.clean.items() if new}))


def fates(library: Library) -> dict[str, str]:
    """Scalar value -> what stands in its place once a text is clean, split and lower-cased.

    "" is nothing. BARRIER is nothing too, but marks on its two sides do not trade places. A
    separate word stands between two spaces. Characters that stay as they are have no entry.
    """
    result = library.clean.copy()
    touched = {*library.whole, *library.nonspacing, *library.separate} - result.keys()
    for char in sorted(touched):
        fate = ""
        for part in library.decomposed.get(char, char):
            if part in library.nonspacing:
                fate += "" if part in library.movable else BARRIER
            else:
                for low in library.lower.get(part, part):
                    fate += f" {low} " if low in library.separate else low
        result[char] = f" {fate} " if char in library.chinese else fate
        _check(
            result[char].replace(BARRIER, "").replace(" ", "")
            == library.whole.get(char, char).replace(" ", ""),
            f"the steps on U+{ord(char):04X} add up to the whole normalizer",
        )
    _check(
        all(new == f" {char} " for char, new in library.chinese.items()),
        "a Chinese character gets a space on both sides",
    )
    return result


def mark_classes(library: Library) -> list[str]:
    """Marks that survive normalization and move, as groups of equal combining class, ascending."""
    movable = library.movable - library.nonspacing
    for char in movable:
        _check(
            not any(char in table for table in (library.clean, library.chinese, library.lower))
            and char not in library.separate,
            f"the movable mark U+{ord(char):04X} is an ordinary part of a word",
        )
    nfd = NFD().normalize_str

    def compare(a: str, b: str) -> int:
        return (nfd(a + b) != a + b) - (nfd(b + a) != b + a)

    groups: list[str] = []
    for char in sorted(sorted(movable), key=functools.cmp_to_key(compare)):
        if groups and compare(groups[-1][0], char) == 0:
            groups[-1] += char
        else:
            groups.append(char)
    return groups


def check_hangul(library: Library) -> None:
    """Syllables decompose by arithmetic, so they need no table."""
    for point in HANGUL:
        index = point - HANGUL.start
        jamo = chr(0x1100 + index // 588) + chr(0x1161 + index % 588 // 28)
        if index % 28:
            jamo += chr(0x11A7 + index % 28)
        _check(library.whole[chr(point)] == jamo, f"U+{point:04X} is a regular Hangul syllable")


def ranges(chars: Iterable[str]) -> str:
    """ "0-8 b e-1f": inclusive ranges in hexadecimal."""
    runs: list[list[int]] = []
    for point in sorted(map(ord, chars)):
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return " ".join(f"{a:x}" if a == b else f"{a:x}-{b:x}" for a, b in runs)


def blocks(single: dict[str, str]) -> list[tuple[int, str]]:
    """(first code point, replacements of it and the ones after it), short gaps bridged."""
    result: list[tuple[int, str]] = []
    for char, new in sorted(single.items()):
        point = ord(char)
        if result:
            first, text = result[-1]
            gap = [chr(p) for p in range(first + len(text), point)]
            if len(gap) <= 3:
                # A bridged character is replaced by itself, or else has a table of its own.
                result[-1] = (first, text + "".join(gap) + new)
                continue
        result.append((point, new))
    return result


def _wrapped(text: str) -> str:
    """A string literal over several lines, each ending between two words."""
    lines, line = [], ""
    for word in text.split(" "):
        if len(line) + len(word) > 90:
            lines.append(line)
            line = ""
        line += word + " "
    lines.append(line.rstrip())
    return "(\n" + "".join(f'    "{line}"\n' for line in lines) + ")"


def _literal(text: str, room: int = 86) -> list[str]:
    """ASCII literals that add up to `text`; escapes keep marks and right-to-left text readable."""
    pieces, piece = [], ""
    for char in text:
        escaped = ascii(char)[1:-1] if char != '"' else '\\"'
        if len(piece) + len(escaped) > room:
            pieces.append(piece)
            piece = ""
        piece += escaped
    return [f'"{piece}"' for piece in (*pieces, piece)]


def _wrapped_literal(text: str) -> str:
    return "(\n" + "".join(f"    {piece}\n" for piece in _literal(text)) + ")"


def render(library: Library) -> str:
    """The text of _unicode.py."""
    check_hangul(library)
    spaces = whitespace(library)
    fate = fates(library)
    _check(
        all(char.isspace() for char in spaces)
        and not any(part.isspace() for new in fate.values() for part in new if part != " "),
        "what str.split() splits at after normalization is the space alone",
    )

    dropped = {char for char, new in fate.items() if new == ""}
    barriers = {char for char, new in fate.items() if new == BARRIER}
    separate, changed = set(), {}
    for char, new in fate.items():
        if new in ("", BARRIER, " ") or ord(char) in HANGUL:
            continue
        bare = new.strip(" ")
        if new != bare:
            separate.add(char)
        if bare != char:
            changed[char] = bare
    _check(
        all(fate[char] == f" {changed.get(char, char)} " for char in separate)
        and not any(" " in new for new in changed.values()),
        "a character gives part of a word or one separate word",
    )
    # A lone surrogate is read as U+FFFD, which cleaning drops.
    dropped |= set(map(chr, range(0xD800, 0xE000)))

    single = {char: new for char, new in changed.items() if len(new) == 1}
    several = {char: new for char, new in changed.items() if len(new) > 1}

    out = [HEADER.format(version=tokenizers.__version__)]
    out += ["# Between words.", f"SPACES = {_wrapped_literal(spaces)}", ""]
    out += ["# Leave nothing behind.", f"DROPPED = {_wrapped(ranges(dropped))}", ""]
    out += [
        "# Leave nothing behind, but marks on their two sides keep their order.",
        f"BARRIERS = {_wrapped(ranges(barriers))}",
        "",
    ]
    out += [
        "# Words of their own, whatever stands beside them.",
        f"SEPARATE = {_wrapped(ranges(separate))}",
        "",
    ]
    out += ["# First code point, then the characters that replace it and its followers."]
    out += ["REPLACED: tuple[tuple[int, str], ...] = ("]
    for first, text in blocks(single):
        pieces = _literal(text)
        line = f"    (0x{first:X}, {pieces[0]}),"
        if len(pieces) == 1 and len(line) <= 100:
            out.append(line)
        else:
            out += ["    (", f"        0x{first:X},"]
            out += [f"        {piece}" for piece in pieces[:-1]]
            out += [f"        {pieces[-1]},", "    ),"]
    out += [")", ""]
    out += ["# Replaced by several characters.", "EXPANDED: dict[int, str] = {"]
    for char, new in sorted(several.items()):
        out.append(f"    0x{ord(char):X}: {_literal(new)[0]},")
    out += ["}", ""]
    out += [
        "# Marks that survive and move: within a run of them, an earlier group goes first.",
        "MARKS: tuple[str, ...] = (",
    ]
    for group in mark_classes(library):
        pieces = _literal(group)
        out += [f"    {piece}" for piece in pieces[:-1]] + [f"    {pieces[-1]},"]
    out += [")", ""]
    return "\n".join(out)


HEADER = '''"""What tokenizers {version} does to each character.

Written by tools/generate_unicode.py: do not edit.

Characters in no table stay as they are. Hangul syllables decompose by arithmetic and are in none.
Range tables read "first-last" or "only", inclusive, in hexadecimal. _normalize.py applies them.
"""
'''


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    text = render(Library())
    if check:
        if TARGET.read_text(encoding="utf-8") != text:
            print(f"{TARGET.name} is not current: run python tools/generate_unicode.py")
            return 1
        return 0
    TARGET.write_text(text, encoding="utf-8", newline="\n")
    print(f"{TARGET.name}: {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
