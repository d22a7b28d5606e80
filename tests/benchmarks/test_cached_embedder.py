"""A benchmark's vectors are made once, whatever runs again."""

from pathlib import Path

import numpy as np

from benchmarks.proof.embedders import KeptEmbedder
from tests.memory.search.vectors.fake_embedder import FakeEmbedder


def test_a_text_is_embedded_once_in_one_run_and_in_the_next(tmp_path: Path) -> None:
    fake = FakeEmbedder()
    kept = KeptEmbedder(fake, tmp_path / "cache" / "vectors.db")
    first = kept.embed(["a", "bb", "a"])
    kept.close()
    again = KeptEmbedder(fake, tmp_path / "cache" / "vectors.db")
    assert np.array_equal(again.embed(["bb", "ccc", "a"]), [fake.vector(text) for text in ("bb", "ccc", "a")])
    assert np.array_equal(first, [fake.vector(text) for text in ("a", "bb", "a")])
    assert sorted(fake.texts) == ["a", "bb", "ccc"]
    assert not fake.questions
    again.close()


def test_a_question_has_another_vector_than_the_same_words_as_a_text(tmp_path: Path) -> None:
    fake = FakeEmbedder()
    kept = KeptEmbedder(fake, tmp_path / "vectors.db")
    kept.embed(["x"])
    kept.embed(["x"], query=True)
    assert (fake.texts, fake.questions) == (["x"], ["x"])
    kept.close()


def test_another_embedder_has_vectors_of_its_own_and_no_text_has_none(tmp_path: Path) -> None:
    one, other = FakeEmbedder(), FakeEmbedder("other")
    for fake in (one, other):
        kept = KeptEmbedder(fake, tmp_path / "vectors.db")
        kept.embed(["x"])
        assert kept.embed([]).shape == (0, one.dimensions)
        kept.close()
    assert one.texts == other.texts == ["x"]
