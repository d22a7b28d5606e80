"""Peers are asked over the same turns; one that is not there says why, and the others are measured all the same."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks.corpora import Asked, Corpus, Store, Turn
from benchmarks.peers.peers import NotMeasured, Served, measured, texts
from benchmarks.peers.simple import Fts5, Grep

TEXTS = [("a", "Ann: the boat is red"), ("b", "Bo: the dog is ill"), ("c", "Ann: 我们昨天去了里斯本")]


@pytest.fixture
def corpus() -> Corpus:
    turns = tuple(Turn(id=name, conversation="one", text=text) for name, text in TEXTS)
    questions = (
        Asked(text="is the dog ill?", category="x", evidence=("b",)),
        Asked(text="who won?", category="adversarial"),
    )
    return Corpus(name="tiny", stores=(Store(name="s", turns=turns, questions=questions),))


def quiet(_words: str) -> None: ...


@pytest.mark.parametrize("peer", [Fts5(), Fts5("trigram"), Grep()])
def test_plain_ways_find_the_turn_that_holds_the_words(peer: Fts5 | Grep) -> None:
    peer.open("one")
    peer.add(TEXTS)
    assert peer.ask('is "the dog" ill?', 2)[0] == "b"
    assert peer.ask("?!", 2) == []


def test_trigrams_find_chinese_where_words_do_not() -> None:
    found: dict[str, list[str]] = {}
    for tokenizer in ("unicode61", "trigram"):
        peer = Fts5(tokenizer)
        peer.open("one")
        peer.add(TEXTS)
        found[tokenizer] = peer.ask("昨天去了哪里", 2)
    assert found == {"unicode61": [], "trigram": ["c"]}


def test_a_store_opened_anew_is_empty() -> None:
    peer = Grep()
    peer.open("one")
    peer.add(TEXTS)
    peer.open("two")
    assert peer.ask("dog", 2) == []


def test_only_questions_that_have_an_answer_are_asked(corpus: Corpus, tmp_path: Path) -> None:
    _, answers = measured("grep", corpus, python=None, folder=tmp_path / "p", model=None, progress=quiet)
    assert [(each.wanted, each.ranks, each.found) for each in answers] == [(1, (1,), None)]


def test_who_said_it_stands_before_what_was_said() -> None:
    turns = (Turn(id="1", conversation="c", text="hi", speaker="Ann"), Turn(id="2", conversation="c", text="ho"))
    assert texts(Store(name="s", turns=turns, questions=())) == [("1", "Ann: hi"), ("2", "ho")]


def test_a_peer_without_a_model_or_a_python_is_not_measured(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="--peer-model"):
        measured("mem0", corpus, python=None, folder=tmp_path / "p", model=None, progress=quiet)
    with pytest.raises(NotMeasured, match="there is no"):
        Served("mem0", tmp_path / "python", tmp_path, tmp_path)


def test_a_peer_that_is_not_installed_says_so(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chromadb.py").write_text("raise ImportError('No module named chromadb')", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(NotMeasured, match="ImportError: No module named chromadb"):
        measured("chromadb", corpus, python=Path(sys.executable), folder=tmp_path / "p", model=tmp_path, progress=quiet)


def fake_peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[object]) -> None:
    """A process in a peer's place that says these lines, one for each that it is told."""
    script = tmp_path / "fake_server.py"
    said = [json.dumps(line) for line in lines]
    script.write_text(
        f"import sys\nfor line in {said!r}:\n    print(line, flush=True)\n    if not sys.stdin.readline(): break\n",
        "utf-8",
    )
    monkeypatch.setattr("benchmarks.peers.peers._SERVING", script)


def test_a_served_peer_is_told_and_asked_in_lines(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_peer(tmp_path, monkeypatch, [{"ready": "1.0"}, {"ok": True}, {"ok": True}, {"ids": ["a", "b"], "ms": 1.0}])
    version, answers = measured(
        "mem0", corpus, python=Path(sys.executable), folder=tmp_path / "p", model=tmp_path, progress=quiet
    )
    assert version == "1.0"
    assert [each.ranks for each in answers] == [(2,)]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "said nothing"),
        ([{"error": "ValueError: no"}], "ValueError: no"),
        ([{"ready": "1"}, {"ok": True}], "its process"),
    ],
)
def test_a_served_peer_that_fails_says_why(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[object], why: str
) -> None:
    fake_peer(tmp_path, monkeypatch, lines)
    with pytest.raises(NotMeasured, match=why):
        measured("mem0", corpus, python=Path(sys.executable), folder=tmp_path / "p", model=tmp_path, progress=quiet)


def test_what_a_dying_peer_told_is_the_reason(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "fake_server.py"
    script.write_text("raise SystemExit('out of memory')", "utf-8")
    monkeypatch.setattr("benchmarks.peers.peers._SERVING", script)
    with pytest.raises(NotMeasured, match="ended with 1 and said out of memory"):
        measured("mem0", corpus, python=Path(sys.executable), folder=tmp_path / "p", model=tmp_path, progress=quiet)
