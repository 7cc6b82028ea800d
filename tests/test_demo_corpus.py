"""The demo's corpus: how it is chosen, what is in it, and its stored vectors."""

from __future__ import annotations

import hashlib
import json
import struct
from array import array
from pathlib import Path

import pytest

from tools import build_demo_vectors as vectors
from tools import generate_demo_corpus as corpus

ROOT = Path(__file__).resolve().parent.parent
COMMITTED = ROOT / "assets" / "demo-corpus.json"


@pytest.fixture(scope="module")
def entries() -> list[list[str]]:
    found: list[list[str]] = json.loads(COMMITTED.read_text("utf-8"))["entries"]
    return found


def test_the_committed_corpus_is_small_varied_and_fit_to_show(entries: list[list[str]]) -> None:
    assert 2000 <= len(entries) <= 3000
    assert COMMITTED.stat().st_size < 400_000
    assert len({(words.split("; ")[0], kind, text) for words, kind, text in entries}) == len(
        entries
    )
    assert len({kind for _, kind, _ in entries}) >= 20
    for words, kind, definition in entries:
        assert corpus.SHORTEST <= len(definition) <= corpus.LONGEST
        assert not corpus.UNFIT.search(f"{words} {definition}"), words
        assert (words, kind, definition) == tuple(map(str.strip, (words, kind, definition)))
        assert len(words.split("; ")) <= corpus.MAX_WORDS


def test_the_corpus_names_its_source_and_licence() -> None:
    head = json.loads(COMMITTED.read_text("utf-8"))
    assert "WordNet 3.0, Copyright 2006 by Princeton University" in head["source"]
    licence = (ROOT / head["licence"]).read_text("utf-8")
    assert "Permission to use, copy, modify and distribute" in licence
    assert "Title to copyright in this software, database and" in licence


def test_definitions_lose_examples_and_remarks() -> None:
    assert corpus.definition('a thing (of some sort) that is; "it is"; "was"') == "a thing that is"
    assert corpus.definition("the act of x; the state of y") == "the act of x"
    assert corpus.definition('be loud: "the crowd roared"') == "be loud"


@pytest.fixture
def wordnet(tmp_path: Path) -> Path:
    """Two animals, a proper name, an offensive entry and a verb, in WordNet's file format."""
    nouns = [
        '00000001 05 n 02 cat 0 true_cat 0 000 | a small furry animal that purrs; "a cat"',
        "00000002 05 n 01 dog 0 000 | a loyal animal that barks at strangers",
        "00000003 05 n 01 Rex 0 001 @i 00000002 n 0000 | a dog that had a name of its own",
        "00000004 18 n 01 cad 0 000 | offensive word for a man of no manners",
    ]
    verbs = [
        "00000005 38 v 01 dog 0 000 | go after with the intent to catch",
        "00000006 38 v 01 wander 0 000 | move about without any destination",
    ]
    (tmp_path / "data.noun").write_text("\n".join(["  1 licence", *nouns]) + "\n")
    (tmp_path / "data.verb").write_text("\n".join(verbs) + "\n")
    (tmp_path / "data.adj").write_text("")
    (tmp_path / "index.noun").write_text(
        "cat n 1 0 1 1 00000001  \ndog n 1 0 1 1 00000002  \nrex n 1 0 1 0 00000003  \n"
        "true_cat n 1 0 1 0 00000001  \ncad n 1 0 1 0 00000004  \n"
    )
    (tmp_path / "index.verb").write_text("dog v 1 0 1 0 00000005  \nwander v 1 0 1 1 00000006  \n")
    (tmp_path / "index.adj").write_text("")
    (tmp_path / "index.adv").write_text("")
    (tmp_path / "cntlist.rev").write_text("cat%1:05:00:: 1 18\ndog%1:05:00:: 1 42\n")
    return tmp_path


def test_choice_from_a_small_wordnet(wordnet: Path) -> None:
    chosen = corpus.choose(wordnet)
    assert [(concept.words, concept.tags) for concept in chosen] == [
        (("cat", "true cat"), 18),
        (("dog",), 42),
        (("wander",), 0),
    ]
    lines = json.loads(corpus.render(chosen))["entries"]
    assert lines[0] == ["cat; true cat", "animal", "a small furry animal that purrs"]
    assert lines[2][1] == "verb"


class Lengths:
    """Embeds a text as [its length, 0]."""

    fingerprint = "ab" * 32
    dim = 2

    def embed(self, text: str) -> array[float]:
        return array("f", [len(text), 0])


def test_vectors_file() -> None:
    content = json.dumps({"entries": [["cat; true cat", "animal", "purrs"], ["a", "b", "c"]]})
    file = vectors.build_vectors(content.encode(), Lengths())
    assert vectors.entry_text(["cat; true cat", "animal", "purrs"]) == "cat (animal): purrs"
    assert file[:8] == b"TERNVEC1"
    assert file[8:40].hex() == Lengths.fingerprint
    assert file[40:72] == hashlib.sha256(content.encode()).digest()
    assert struct.unpack("<II4f", file[72:]) == (2, 2, 19.0, 0.0, 8.0, 0.0)
