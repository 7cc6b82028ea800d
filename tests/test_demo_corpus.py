"""The demo's corpus: how it is chosen, what is in it, and its index."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tern_tools import SearchIndex, split_sentences

from tools import build_demo_index
from tools import generate_demo_corpus as corpus

ROOT = Path(__file__).resolve().parent.parent
COMMITTED = ROOT / "assets" / "demo-corpus.json"
STORED = ROOT / "dist" / "web" / "demo" / "demo-index.bin"


@pytest.fixture(scope="module")
def committed() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(COMMITTED.read_text("utf-8"))
    return found


def test_a_few_thousand_passages_of_some_sentences_on_everything(
    committed: dict[str, Any],
) -> None:
    entries = committed["entries"]
    assert 2000 <= len(entries) <= 4000
    assert len({title for title, *_ in entries}) == len(entries)
    topics = [topic for _, topic, _, _ in entries]
    for shown, wanted in corpus.TOPICS.values():
        assert wanted * 0.8 <= topics.count(shown) <= wanted
    for title, _, about, text in entries:
        assert 2 <= len(split_sentences(text)) <= corpus.MOST_SENTENCES, title
        assert corpus.SHORTEST <= len(text) <= corpus.LONGEST, title
        assert text.endswith((".", "!", "?", '"', "'", "”")), title
        assert not any(corpus.UNFIT.search(part) for part in (title, about, text)), title
        assert not corpus.BROKEN.search(text), title


def test_it_is_small_on_the_wire() -> None:
    assert len(gzip.compress(COMMITTED.read_bytes())) < 700_000


def test_the_corpus_names_its_source_and_licence(committed: dict[str, Any]) -> None:
    assert "Wikipedia, by its contributors; shortened" in committed["source"]
    licence = (ROOT / committed["licence"]).read_text("utf-8")
    assert "Attribution-ShareAlike 4.0 International" in licence
    assert "Disclaimer of Warranties" in licence
    notices = (ROOT / "THIRD_PARTY_NOTICES.md").read_text("utf-8")
    assert "CC BY-SA 4.0 (text: `LICENSES/CC-BY-SA-4.0.txt`)" in notices


def test_asides_in_brackets_go_and_sentences_stay_whole() -> None:
    spoken = "The viola ( vee-OH-lə (Italian: [ˈvjɔːla])) is played\nwith a bow , mostly."
    assert corpus.clean(spoken) == "The viola is played with a bow, mostly."
    text = "One is here. Two is there. " + "A long one " * 60 + "ends."
    assert corpus.first_sentences(text, split_sentences) == "One is here. Two is there."
    assert corpus.first_sentences("Only one here.", split_sentences) == ""
    assert corpus.first_sentences("One. Two. Three is cut off", split_sentences) == "One. Two."


def entry(title: str, topic: str, extract: str, description: str = "A thing") -> dict[str, str]:
    return {"title": title, "topic": topic, "extract": extract, "description": description}


def test_choice_from_a_small_source() -> None:
    rest = "It was known to everybody for a very long time. " * 3
    source = {
        str(number): entry(*fields)
        for number, fields in enumerate(
            [
                ("Violin", "Arts", f"A violin has strings. {rest}"),
                ("Lute", "Arts", f"A lute is older than the violin. {rest}"),
                ("Brothel", "Society and social sciences", f"A brothel is a house. {rest}"),
                ("Music", corpus.UNKNOWN, f"Music is an art of sound, as on the violin. {rest}"),
                ("Torn", "Arts", f"A torn ( text. {rest}"),
                ("Elsewhere", "Astrology", f"Of no topic that is wanted. {rest}"),
            ]
        )
    }
    chosen = corpus.choose(source, split_sentences, lambda texts: [[1.0, 0.0]] * len(texts))
    assert [(passage.title, passage.topic) for passage in chosen] == [
        ("Lute", "Arts"),
        ("Music", "Arts"),
        ("Violin", "Arts"),
    ]
    assert corpus.fame(source)["violin"] == 3
    content = json.loads(corpus.render(chosen))
    assert content["entries"][0][:3] == ["Lute", "Arts", "A thing"]


def test_a_quota_takes_the_best_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "TOPICS", {"Arts": ("Arts", 1)})
    rest = "It was known to everybody for a very long time. " * 3
    source = {
        "a": entry("Lute", "Arts", f"A lute is older than the violin. {rest}"),
        "b": entry("Violin", "Arts", f"A violin has strings. {rest}"),
    }
    chosen = corpus.choose(source, split_sentences, lambda texts: [[1.0]] * len(texts))
    assert [passage.title for passage in chosen] == ["Violin"]
    chosen = corpus.choose(
        source, split_sentences, lambda texts: [[1.0]] * len(texts), lambda text: "strings" in text
    )
    assert [passage.title for passage in chosen] == ["Lute"]


class Lengths:
    """Embeds a text as one of two directions."""

    fingerprint = "ab" * 32
    dim = 2
    max_seq_len = 128

    def embed(self, text: str) -> list[float]:
        return [1.0, 0.0] if len(text) % 2 else [0.0, 1.0]

    def embed_batch(self, texts: list[str], **_: Any) -> list[list[float]]:
        return [self.embed(text) for text in texts]

    def token_count(self, text: str) -> tuple[int, bool]:
        return len(text.split()) + 2, False


def test_the_index_of_a_corpus() -> None:
    content = {
        "address": "https://example.org/wiki/",
        "entries": [["Pi & co", "Mathematics", "A number", "It is odd. Yes."]],
    }
    [document] = build_demo_index.documents(content)
    assert document == {
        "id": "0",
        "text": "It is odd. Yes.",
        "title": "Pi & co",
        "source": "https://example.org/wiki/Pi_%26_co",
        "meta": {"topic": "Mathematics", "about": "A number"},
    }
    index = SearchIndex.load(Lengths(), build_demo_index.build_index(content, Lengths()))
    assert [found.id for found in index.documents()] == ["0"]
    assert index.vectors == "int8"


def test_the_stored_index_has_a_passage_an_entry(committed: dict[str, Any]) -> None:
    """So that what is read of an entry is all of it."""
    from tern_engine import Engine

    index = SearchIndex.load(Engine.load(), STORED.read_bytes())
    assert len(index) == index.passage_count == len(committed["entries"])
