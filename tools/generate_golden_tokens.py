"""Writes tests/golden/tokens.json: texts and the ids that `tokenizers` gives them.

    python tools/generate_golden_tokens.py            writes the file
    python tools/generate_golden_tokens.py --check    fails when the file is not current

The file checks the tokenizer where the library does not run. It holds

    texts    name, text (times `repeat` where there is one), ids, truncated
    scalars  the ids of every Unicode scalar value between `before` and `after`, as hashes: entry i
             is about U+i000 to U+iFFF (surrogates left out) and holds the first 16 hex digits of
             the SHA-256 of those texts' ids as little-endian uint32, one text after the other
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import tokenizers

ROOT = Path(__file__).resolve().parent.parent
TOKENIZER_JSON = ROOT / "assets/tokenizer.json"
TARGET = ROOT / "tests/golden/tokens.json"
MAX_LENGTH = 128
BLOCK = 0x1000
BEFORE, AFTER = "A", "B"

# Article 1 of the Universal Declaration of Human Rights, and a few other things people write.
TEXTS = {
    "arabic": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميرًا.",
    "bengali": "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে।",
    "chinese": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。",
    "czech": "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv.",
    "english": "All human beings are born free and equal in dignity and rights. They are endowed "
    "with reason and conscience and should act towards one another in a spirit of brotherhood.",
    "french": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont "
    "doués de raison et de conscience et doivent agir les uns envers les autres…",
    "georgian": "ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით.",
    "german": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit "
    "Vernunft und Gewissen begabt; STRASSE, Straße, STRAẞE.",
    "greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι. ΟΔΥΣΣΕΥΣ ὁ Ἀχιλλεύς",
    "hebrew": "כָּל בְּנֵי הָאָדָם נוֹלְדוּ בְּנֵי חוֹרִין וְשָׁוִים בְּעֶרְכָּם וּבִזְכֻיּוֹתֵיהֶם.",
    "hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है।",
    "japanese": "すべての人間は、生まれながらにして自由であり、ガギグゲゴ「ﾊﾟﾋﾟ」と平等である。",
    "khmer": "មនុស្សទាំងអស់ កើតមកមានសេរីភាព និងសមភាព ក្នុងផ្នែកសេចក្ដីថ្លៃថ្នូរនិងសិទ្ធិ។",
    "korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "polish": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i praw. Łódź",
    "portuguese": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. AÇÃO",
    "russian": "Все люди рождаются свободными и равными в своём достоинстве и правах. ЁЛКА, Йод",
    "spanish": "Todos los seres humanos nacen libres e iguales en dignidad, ¿verdad? ¡Sí!",
    "tamil": "மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; சமமானவர்கள்.",
    "thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "tibetan": "འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས་ཆེ་མཐོངས་དང༌།",
    "turkish": "Bütün insanlar hür, haysiyet ve haklar eşit doğarlar. İSTANBUL ılık IŞIK",
    "vietnamese": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.",
    "code": "def f(x: int) -> str:\n\treturn f'{x!r:>8}'  # see https://example.org/a_b?c=d&e=%20#f",
    "mail": "From: <a.b+c@example.com>\r\nSubject: Re: Q3—numbers (1,234.56 €; +7 %)\r\n\r\nHi…",
    "emoji": "ok 👍🏽 family 👨‍👩‍👧‍👦 flag 🇩🇪 heart ❤️ keycap 1️⃣",
    "maths": "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ≠ β, x² + y² ≤ ½, 𝒜𝔹𝕔 𝟙 ℵ₀",
    "product reviews": "Works great!!! 10/10 would buy again... didn't expect that for $5 ;-)",
}

# Each the exemplar of a kind of mistake.
HARD = {
    "empty": "",
    "only spaces": " \t\n\r\u00a0\u3000",
    "final sigma": "ΟΔΟΣ",
    "ideographs outside the BMP": "𠀀𠮷野家",
    "extension E begins late": "a\U0002b820b a\U0002b920b",
    "unassigned in Python": "A\U0001e000B",
    "unassigned": "A\u0378B",
    "lone surrogates": "a\ud800b \udfff c\udc00\ud800d",
    "lone surrogate in a special token": "[MA\ud800SK]",
    "replacement character": "a\ufffdb",
    "mask": "[MASK] token",
    "special tokens": "[PAD][UNK][CLS][SEP][MASK]",
    "special tokens glued": "x[MASK]y ,[SEP]. [[CLS]] [MASK",
    "special tokens in other words": "[mask] [ MASK ] [MASK\u0301] [M\0ASK] \u0301[MASK]",
    "separators that are not spaces": "a\x0bb a\x1cb a\x1fb a\x85b a\u180eb a\u200bb",
    "spaces": "a\tb\nc\rd e\u00a0f\u1680g\u2000h\u2028i\u2029j\u202fk\u205fl\u3000m",
    "controls": "a\0b a\x7fb a\u00adb a\u200db a\ufeffb a\ue000b",
    "dotted capital i": "İİ I\u0307 ıI",
    "kelvin and angstrom": "\u212a \u212b \u2126",
    "precomposed and decomposed": "é e\u0301 ṩ s\u0323\u0307 s\u0307\u0323",
    "decomposed punctuation": "a\u037eb a≠b a≮b a\u1fefb",
    "compatibility ideographs": "豈更\U0002f800\ufa0e",
    "hangul": "각 \u1100\u1161\u11a8 힣 가",
    "marks that trade places": "a\u08d4\U00011446b a\u08d4\u0301\U00011446b",
    "marks that cannot": "a\u08d4\u0e31\U00011446b a\u08d4\u034f\U00011446b",
    "marks alone": "\u0301 \u0e31 \u08d4 \u20dd",
    "musical symbols": "\U0001d15e \U0001d160\U0001d16d \U0001d1c0",
    "vowel signs": "க\u0bca க\u0bc6\u0bbe \u09cb \u0dde",
    "underscore and symbols": "a_b a+b a€b a°b a§b a´b a˜b #hash @at ~ ` ^ | <>",
    "contractions": "don't it's o'clock rock'n'roll",
    "case pairs": "ǄǅǆẞßŉſﬁﬃԱև ΐ Ⅷ ⓐ Ꭰꭰ 𐐀 𞤀",
    "hundred": "a" * 100,
    "hundred and one": "a" * 101,
    "hundred after stripping": "a\u0301" * 100,
    "hundred and one apart": "a" * 100 + ",a",
    "exactly full": "word " * 126,
    "one too many": "word " * 127,
    "full, then nothing": "word " * 126 + " \u0301\0 ",
    "full, then a mask": "word " * 126 + "[MASK]",
    "cut inside a word": "word " * 125 + "embeddingsless",
}

REPEATED = {"fifty thousand": ("a", 50_000), "long document": ("A sentence, repeated. ", 4_000)}


def block_hash(ids: Callable[[str], list[int]], block: int) -> str:
    """Of a block of scalar values: see the top of the module. Empty for one of surrogates."""
    whole = hashlib.sha256()
    count = 0
    for point in range(block * BLOCK, (block + 1) * BLOCK):
        if not 0xD800 <= point < 0xE000:
            count += 1
            for index in ids(BEFORE + chr(point) + AFTER):
                whole.update(index.to_bytes(4, "little"))
    return whole.hexdigest()[:16] if count else ""


def golden() -> dict[str, Any]:
    """The content of the file."""
    library = tokenizers.Tokenizer.from_file(str(TOKENIZER_JSON))

    def ids(text: str) -> list[int]:
        readable = ("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
        return library.encode("".join(readable)).ids

    cases = []
    texts = {name: (text, 1) for name, text in (TEXTS | HARD).items()} | REPEATED
    for name, (text, repeat) in texts.items():
        whole = ids(text * repeat)
        truncated = len(whole) > MAX_LENGTH
        case: dict[str, Any] = {"name": name, "text": text}
        if repeat > 1:
            case["repeat"] = repeat
        case["ids"] = [*whole[: MAX_LENGTH - 1], whole[-1]] if truncated else whole
        case["truncated"] = truncated
        cases.append(case)
    return {
        "oracle": f"tokenizers {tokenizers.__version__}",
        "tokenizer_json_sha256": hashlib.sha256(TOKENIZER_JSON.read_bytes()).hexdigest(),
        "max_length": MAX_LENGTH,
        "texts": cases,
        "scalars": {
            "before": BEFORE,
            "after": AFTER,
            "hashes": [block_hash(ids, block) for block in range(0x110000 // BLOCK)],
        },
    }


def render(content: dict[str, Any]) -> str:
    """One text a line, in ASCII: lone surrogates have no other form."""
    cases = [json.dumps(case) for case in content["texts"]]
    rest = {key: value for key, value in content.items() if key != "texts"}
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in rest.items()]
    return "\n".join(
        chain(["{"], lines, [' "texts": [', "  " + ",\n  ".join(cases), " ]", "}", ""])
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    text = render(golden())
    if check:
        if TARGET.read_text(encoding="utf-8") != text:
            print(f"{TARGET.name} is not current: run python tools/generate_golden_tokens.py")
            return 1
        return 0
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(text, encoding="utf-8", newline="\n")
    print(f"{TARGET.name}: {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
