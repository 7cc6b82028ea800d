"""Choose the demo's corpus, a small reverse dictionary, from the WordNet 3.0 database files.

    python3 -m tools.generate_demo_corpus /usr/share/wordnet [--out assets/demo-corpus.json]

The folder holds `data.noun`, `cntlist.rev` and so on (Debian: package wordnet-base). An entry is a
concept: its words, what kind of thing it is, its definition. Each kind has a quota, filled with
the best known concepts: words in their commonest sense, ranked by how often that sense was tagged
in running text, by the word's place in the engine's vocabulary (commonest first) and by how often
WordNet's own glosses use it. The same files give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOKENIZER = ROOT / "assets" / "tokenizer.json"

# WordNet's lexicographer files: number → (kind shown in the demo, entries wanted).
KINDS = {
    4: ("activity", 140), 5: ("animal", 235), 6: ("thing", 620), 7: ("quality", 45),
    8: ("body", 80), 9: ("idea", 50), 10: ("language", 90), 11: ("event", 60),
    12: ("feeling", 95), 13: ("food", 190), 14: ("group", 45), 15: ("place", 60),
    17: ("nature", 110), 18: ("person", 260), 19: ("phenomenon", 55), 20: ("plant", 120),
    21: ("money", 30), 25: ("shape", 30), 26: ("state", 60), 27: ("substance", 90),
    28: ("time", 50), 29: ("verb", 30), 30: ("verb", 35), 31: ("verb", 20), 32: ("verb", 40),
    33: ("verb", 10), 34: ("verb", 15), 35: ("verb", 45), 36: ("verb", 25), 37: ("verb", 20),
    38: ("verb", 55), 39: ("verb", 20), 40: ("verb", 10), 41: ("verb", 15), 43: ("verb", 6),
    0: ("adjective", 100),
}  # fmt: skip
PARTS = ("noun", "verb", "adj")
# The commonest adjectives and verbs are dull to find: the first this many of the vocabulary.
DULL = {0: 6000, **dict.fromkeys(range(29, 44), 3500)}
MAX_WORDS = 4
UNUSUAL = 99
SHORTEST, LONGEST = 18, 170  # characters of a definition

# Not for a page that anyone may open: by stem, in a word or in a definition.
UNFIT = re.compile(
    r"\b(sex|coit|copulat|genital|penis|vagina|vulva|scrot|testi[cs]|breast|nipple|erotic|porn|nud[ei]"
    r"|prostitut|whore|brothel|incest|rape|mastur|orgasm|sperm|semen|condom|contracept|abort|menstru"
    r"|excre|feces|faec|fecal|urin|defecat|rectum|anus|anal|buttock|vomit|flatus|toilet"
    r"|kill|murder|suicid|slaughter|massacre|tortur|behead|corpse|cadaver|execut(?:ed|ion)|hang(?:ed|ing)"
    r"|slave|negro|blacks\b|race\b|racial|racis|ethnic|tribe|jew|nazi|gypsy|muslim|islam|christ|catholic|hindu"
    r"|offensive|disparag|derogat|vulgar|obscen|slang|slur|insult|contempt|stupid|idiot|moron|retard"
    r"|narcot|heroin|cocaine|marijuana|cannabis|opium|amphetamine|drunk|intoxicat"
    r"|fat person|ugly|cripple|insane|lunatic|demented|savage|primitive|inferior"
    r"|homosex|lesbian|transvest|virgin|concubin|mistress|adulter|bastard|harlot|bitch)",
    re.IGNORECASE,
)


# Words that WordNet puts first in a sense few would think of.
UNEXPECTED = frozenset(
    re.split(
        r",\s+",
        """accused, admiral, afghan, andrena, angelica, argentine, baba, beef, ben, blanc, builder,
        chad, charlotte, chess, clary, class feeling, climber, cling, col, collins, combine,
        commuter, compact, concentration camp, costa, duff, dun, emperor, eyes, falls, feeder,
        gemma, geneva, giant, gourd, homo, intermediate, jean, large white, ling, liza, longer,
        mara, marc, milo, must, portable, queen, representation, rod, royal, safe, shire, shook,
        sierra, silva, simple, small white, sour, springer, stifle, timothy, tuna, twins, upright,
        veronica, viceroy, ways""",
    )
)


@dataclass(frozen=True)
class Concept:
    file: int  # the lexicographer file, which has the quota
    words: tuple[str, ...]
    gloss: str
    tags: int  # times the first word was tagged with this sense in running text
    sense: int  # 1 for what the first word most often means, as far as is known

    @property
    def head(self) -> str:
        return self.words[0]


def tag_counts(folder: Path) -> dict[str, dict[tuple[int, str], int]]:
    """Word → (lexicographer file, number of the sense there) → times tagged."""
    counts: dict[str, dict[tuple[int, str], int]] = defaultdict(dict)
    for line in (folder / "cntlist.rev").read_text("latin-1").splitlines():
        key, _, times = line.split(" ")
        word, sense = key.split("%")
        _, file, number, *_ = sense.split(":")
        counts[word][int(file), number] = int(times)
    return counts


def sense_order(folder: Path) -> dict[str, dict[str, list[str]]]:
    """Word → file ending → offsets of its synsets there, commonest first."""
    senses: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for ending in (*PARTS, "adv"):
        for line in (folder / f"index.{ending}").read_text("latin-1").splitlines():
            if not line.startswith(" "):
                word, _, count, *rest = line.split()
                senses[word][ending] = rest[-int(count) :]
    return senses


def concepts(folder: Path) -> Iterator[Concept]:
    """Every synset of the kinds we want, proper names excepted."""
    tagged, senses = tag_counts(folder), sense_order(folder)
    for ending in PARTS:
        for line in (folder / f"data.{ending}").read_text("latin-1").splitlines():
            if line.startswith(" "):  # the licence, at the top
                continue
            facts, _, gloss = line.partition(" | ")
            offset, file, _, size, *rest = facts.split()
            if int(file) not in KINDS or "@i" in rest:
                continue
            pairs = rest[: 2 * int(size, 16)]
            words = [re.sub(r"\((?:a|p|ip)\)$", "", word) for word in pairs[::2]]
            head = words[0].lower()
            counts = tagged[head]
            tags = counts.get((int(file), f"{int(pairs[1], 16):02d}"), 0)
            order = senses[head].get(ending, [])
            sense = order.index(offset) + 1 if offset in order else UNUSUAL
            if tags < max(counts.values(), default=0):
                # A noun may mean a thing less often than an action: "desert", "pilot".
                sense += 1 if ending == "noun" else UNUSUAL
            yield Concept(
                file=int(file),
                words=tuple(word.replace("_", " ") for word in words),
                gloss=definition(gloss),
                tags=tags,
                sense=sense,
            )


def definition(gloss: str) -> str:
    """The first definition of a gloss, without examples and remarks in brackets."""
    text = re.split(r'; "|;\s+--|: "', gloss)[0]
    text = re.sub(r"\([^)]*\)", " ", text).split(";")[0]
    return " ".join(text.split()).strip(" ,.:")


def fit(concept: Concept) -> bool:
    """Fit to be shown: a common word with a plain definition that offends nobody."""
    return (
        concept.sense <= 3
        and re.fullmatch(r"[a-z][a-z' -]{2,22}", concept.head) is not None
        and concept.head not in UNEXPECTED
        and SHORTEST <= len(concept.gloss) <= LONGEST
        and concept.gloss.count(" ") >= 2
        and '"' not in concept.gloss
        and not any(UNFIT.search(text) for text in (*concept.words, concept.gloss))
    )


def gloss_words(folder: Path) -> Counter[str]:
    """How often each word, and each pair of words, occurs in all of WordNet's glosses."""
    words: Counter[str] = Counter()
    for ending in PARTS:
        for line in (folder / f"data.{ending}").read_text("latin-1").splitlines():
            gloss = re.findall(r"[a-z'-]+", line.partition(" | ")[2].lower())
            words.update(gloss)
            words.update(f"{one} {two}" for one, two in pairwise(gloss))
    return words


def choose(folder: Path) -> list[Concept]:
    """The best known concepts of every kind, sorted by their first word."""
    used = gloss_words(folder)
    ranks: dict[str, int] = json.loads(TOKENIZER.read_text("utf-8"))["model"]["vocab"]

    def rank(concept: Concept) -> int:
        """The place in the vocabulary; of a compound its rarer word's, and a little behind."""
        words = re.split("[ -]", concept.head)
        return max(ranks.get(word, 40_000) for word in words) + 20_000 * (len(words) - 1)

    def fame(concept: Concept) -> float:
        uses = used[concept.head] + used[concept.head + "s"]
        known = math.log1p(concept.tags) + 0.5 * math.log1p(uses)
        return known - rank(concept) / 8000 - 1.5 * (concept.sense - 1)

    candidates = [concept for concept in concepts(folder) if fit(concept)]
    candidates.sort(key=lambda concept: (-fame(concept), concept.words, concept.gloss))
    room = {file: wanted for file, (_, wanted) in KINDS.items()}
    chosen: dict[tuple[str, int], Concept] = {}
    for concept in candidates:
        place = (concept.head, concept.file)
        if (
            room[concept.file] > 0
            and place not in chosen
            and rank(concept) > DULL.get(concept.file, 0)
        ):
            room[concept.file] -= 1
            chosen[place] = concept
    return sorted(chosen.values(), key=lambda concept: (concept.words, concept.gloss))


def render(chosen: list[Concept]) -> str:
    """The corpus as JSON, one entry a line so that changes can be read."""
    head = {
        "title": "A small reverse dictionary",
        "source": "WordNet 3.0, Copyright 2006 by Princeton University. All rights reserved.",
        "licence": "LICENSES/WordNet-3.0.txt",
        "fields": ["words", "kind", "definition"],
    }
    entries = [
        json.dumps(["; ".join(words_of(concept)), KINDS[concept.file][0], concept.gloss])
        for concept in chosen
    ]
    body = json.dumps(head, indent=1)[:-2]
    return body + ',\n "entries": [\n  ' + ",\n  ".join(entries) + "\n ]\n}\n"


def words_of(concept: Concept) -> list[str]:
    """A concept's words for show: the first few, without those a reader would not miss."""
    return list(dict.fromkeys(concept.words))[:MAX_WORDS]


def main() -> None:
    parser = argparse.ArgumentParser(description="Choose the demo's corpus from WordNet.")
    parser.add_argument("dict", type=Path, help="folder of WordNet's data.* and cntlist.rev")
    parser.add_argument("--out", type=Path, default=ROOT / "assets" / "demo-corpus.json")
    arguments = parser.parse_args()
    chosen = choose(arguments.dict)
    text = render(chosen)
    arguments.out.write_text(text, "utf-8")
    print(f"{arguments.out.name}: {len(chosen)} entries, {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
