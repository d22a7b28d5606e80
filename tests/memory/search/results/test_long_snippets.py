"""The snippet of a long text is the same, whether or not the tokens far from its words are counted."""

import random
import sysconfig
from pathlib import Path

import pytest

from memory.search.results import snippets
from memory.search.results.snippets import best_windows


def _queries() -> list[tuple[str, dict[str, float], int]]:
    chance = random.Random(3)
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("[a-d]*.py"), key=lambda path: -path.stat().st_size)[:12]
    made: list[tuple[str, dict[str, float], int]] = []
    for text in (path.read_text("utf-8", "replace")[:40_000] for path in files):
        words = sorted({word.lower() for word in text.split() if word.isalpha() and len(word) > 3})
        for tokens in (60, 200):
            worth = {word: chance.uniform(0.5, 6) for word in (*chance.sample(words, 3), "zeppelin")}
            made.append((text, worth, tokens))
    return made


def test_tokens_far_from_the_words_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    queries = _queries()
    guessed = [best_windows(*query) for query in queries]
    monkeypatch.setattr(snippets, "_near", lambda edges, *_: set(range(len(edges))))
    assert guessed == [best_windows(*query) for query in queries]
    assert len({spans[0] for spans in guessed}) > 10
