"""Embedders that fail, and one in another's place: words serve meanwhile, and vectors are never mixed."""

import time
from pathlib import Path

import numpy as np
import pytest

from foundation.paths import Workspace
from memory.memory import Memory
from memory.search.embedding import EmbedderSet
from memory.search.vectors import embedders
from memory.search.vectors import vectors as module
from memory.search.vectors.vectors import Vectors
from models.embed.errors import EmbedError
from tests.memory.search.conversation import Talk
from tests.memory.search.vectors.conftest import Opens
from tests.memory.search.vectors.fake_embedder import FakeEmbedder
from tests.memory.search.vectors.filled_memory import nearest, scattered, store_of

# ── embedders that fail ──


def test_a_server_that_is_down_leaves_words_and_is_asked_less_and_less(
    talk: Talk, vectors: Vectors, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    scattered(talk)
    vectors.fill()
    embedder.is_down = True
    asked: list[int] = []

    def count_asks(seconds: int) -> int:
        asked.clear()
        embed, embedder.embed = embedder.embed, lambda *_, **__: asked.append(1) or embed(["x"])
        for _ in range(seconds):
            assert vectors.ask(f"boiler {now[0]}") is None
            now[0] += 1
        embedder.embed = embed
        return len(asked)

    assert count_asks(600) <= 7
    assert "no server" in vectors.trouble
    embedder.is_down = False
    now[0] += module.LONGEST_PAUSE_S
    assert vectors.ask("boiler") is not None
    assert vectors.trouble == ""


def test_a_run_that_meets_a_server_that_is_down_keeps_what_it_made(
    talk: Talk, vectors: Vectors, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    scattered(talk, 100)

    def told(done: int, of: int) -> None:
        embedder.is_down = True

    filled = vectors.fill(on_progress=told)
    assert "no server" in filled.trouble
    assert not filled.done
    assert store_of(vectors).entries == 32
    embedder.is_down = False
    assert vectors.fill().trouble != ""  # it pauses
    monkeypatch.setattr(module, "monotonic", lambda: time.monotonic() + 1000)
    assert vectors.fill().done
    assert len(embedder.texts) == 100


def test_a_text_that_the_embedder_cannot_take_stops_nothing(
    talk: Talk, vectors: Vectors, embedder: FakeEmbedder
) -> None:
    seqs = scattered(talk, 40)
    bad = talk.say("xyzzy")
    half = talk.say("a good beginning of some words " + "and so on " * 20 + "xyzzy")
    embedder.refuses = "xyzzy"
    filled = vectors.fill()
    assert (filled.made, filled.done) == (42, True)
    asked = vectors.ask("boiler")
    assert asked is not None
    assert np.isnan(asked.of(np.array([bad.seq])))[0]
    assert not np.isnan(asked.of(np.array([half.seq, *seqs]))).any()
    assert vectors.fill().made == 0


def test_an_error_of_the_embedder_itself_is_told(talk: Talk, vectors: Vectors, embedder: FakeEmbedder) -> None:
    scattered(talk)

    def broken(*_: object, **__: object) -> None:
        raise EmbedError("No usable vectors", "It gave three vectors for five texts.")

    embedder.embed = broken
    assert vectors.fill().trouble == "It gave three vectors for five texts."
    assert vectors.trouble == "It gave three vectors for five texts."


def test_an_embedder_that_cannot_be_opened_is_told(memory: Memory, talk: Talk, tmp_path: Path) -> None:
    def no_folder() -> FakeEmbedder:
        raise EmbedError("Model not found", "There is no such folder.")

    scattered(talk)
    vectors = Vectors(memory.cold, memory.hot, memory.passage, tmp_path / "v", EmbedderSet(no_folder))
    assert vectors.ask("tea") is None
    assert vectors.trouble == "There is no such folder."


# ── another embedder ──


def test_the_old_vectors_serve_until_the_new_are_made(opens: Opens) -> None:
    old, new = FakeEmbedder("old"), FakeEmbedder("new", dimensions=48, salt="n")
    first = opens(old)
    talk = Talk(first)
    seqs = scattered(talk, 100)
    first.search.vectors.fill()

    vectors = opens(new, old).search.vectors
    vectors.fill(stop=lambda: len(new.texts) >= 64)
    assert nearest(vectors.ask("boiler needs a new valve number5")) == [seqs[5]]
    assert "boiler needs a new valve number5" in old.questions
    vectors.fill()
    assert nearest(vectors.ask("boiler needs a new valve number10")) == [seqs[10]]
    assert "boiler needs a new valve number10" in new.questions
    assert "boiler needs a new valve number10" not in old.questions


def test_words_alone_serve_where_the_old_embedder_cannot_be_asked(opens: Opens) -> None:
    old, new = FakeEmbedder("old"), FakeEmbedder("new", salt="n")
    first = opens(old)
    scattered(Talk(first), 100)
    first.search.vectors.fill()
    vectors = opens(new).search.vectors
    assert vectors.ask("boiler") is None
    vectors.fill(stop=lambda: len(new.texts) >= 64)
    assert vectors.ask("boiler") is None
    assert "still being made" in vectors.trouble
    old.questions.clear()
    vectors.fill()
    assert vectors.ask("boiler") is not None
    assert not old.questions


def test_another_model_under_the_same_name_is_never_compared(opens: Opens) -> None:
    memory = opens(FakeEmbedder("m"))
    seqs = scattered(Talk(memory), 10)
    memory.search.vectors.fill()
    other = FakeEmbedder("m", salt="another model")
    vectors = opens(other).search.vectors
    assert vectors.ask("boiler") is None
    assert "a different model" in vectors.trouble
    assert vectors.fill().made == 10
    assert nearest(vectors.ask("boiler needs a new valve number5")) == [seqs[5]]


def test_the_background_asks_no_model_where_nothing_is_missing(
    talk: Talk, vectors: Vectors, embedder: FakeEmbedder
) -> None:
    scattered(talk, 10)
    vectors.fill(seconds=60)
    embedder.questions.clear()
    embedder.texts.clear()
    assert vectors.fill(seconds=60).done
    assert not embedder.questions
    assert not embedder.texts
    talk.say("something new")
    assert vectors.fill(seconds=60).made == 1


def test_the_background_makes_anew_what_another_model_had_made(opens: Opens) -> None:
    memory = opens(FakeEmbedder("m"))
    scattered(Talk(memory), 10)
    memory.search.vectors.fill()
    vectors = opens(FakeEmbedder("m", salt="another model")).search.vectors
    assert vectors.ask("boiler") is None
    assert vectors.fill(seconds=60).made == 10
    assert vectors.ask("boiler") is not None


def test_a_model_of_another_size_under_the_same_name_starts_anew(opens: Opens) -> None:
    memory = opens(FakeEmbedder("m", dimensions=64))
    scattered(Talk(memory), 10)
    memory.search.vectors.fill()
    vectors = opens(FakeEmbedder("m", dimensions=32)).search.vectors
    assert vectors.ask("boiler") is None
    assert vectors.fill().made == 10
    assert vectors.ask("boiler") is not None


def test_vectors_of_an_embedder_that_nobody_uses_any_more_are_deleted(
    opens: Opens, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opens(FakeEmbedder("old"))
    scattered(Talk(memory))
    memory.search.vectors.fill()
    opens(FakeEmbedder("new")).search.vectors.fill()
    assert len(list(workspace.vectors.iterdir())) == 2
    monkeypatch.setattr("memory.search.vectors.embedders.UNUSED_S", -1.0)
    opens(FakeEmbedder("new")).search.vectors.fill()
    assert [path.name for path in workspace.vectors.iterdir()] == [embedders.folder_for(workspace.vectors, "new").name]


def test_much_that_is_new_does_not_switch_vectors_off(talk: Talk, vectors: Vectors) -> None:
    scattered(talk, 20)
    vectors.fill()
    scattered(talk, 15)
    assert vectors.ask("boiler") is not None
    scattered(talk, 200)
    vectors.cached_count = (-1e9, 0)
    assert vectors.ask("boiler again") is None
