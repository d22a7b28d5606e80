"""The terms of a long text, found piece by piece, are those of the whole."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.text import analysis
from foundation.text.analysis import analyse
from foundation.text.identifiers import parts_of
from foundation.text.term_codec import TermRuns, pack_terms

WORDS = st.sampled_from(
    [
        "the",
        "Tent",
        "C++",
        "#travel",
        "src/a_file.py",
        "https://example.org/a?b=c",
        "中文，软件。",
        "don't",
        "v1.2",
        "\n",
        "🏕",
    ]
)
TEXTS = st.lists(WORDS | st.text(max_size=9), max_size=60).map(" ".join)
COUNTS = st.dictionaries(st.text("abé中🏕\ud800", min_size=1, max_size=4), st.integers(1, 300), max_size=20)


@given(TEXTS, st.integers(1, 40))
def test_pieces_give_the_terms_of_the_whole(text: str, size: int) -> None:
    whole = analyse(text, "Sarah", {"summary": "Read a file"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "PIECE", size)
        assert analyse(text, "Sarah", {"summary": "Read a file"}) == whole


@given(st.lists(COUNTS, max_size=6), st.integers(0, 9))
def test_runs_are_merged_to_what_would_be_packed_at_once(pieces: list[dict[str, int]], held: int) -> None:
    runs, counts = TermRuns(most_held=held), dict[str, int]()
    for piece in pieces:
        runs.add(piece)
        counts |= {term: counts.get(term, 0) + count for term, count in piece.items()}
    assert runs.packed("3", ["=b:c", "=a:b"]) == pack_terms(counts, "3", ["=b:c", "=a:b"])


def test_each_part_of_a_token_of_megabytes_is_held_once() -> None:
    chance = random.Random(1)
    token = ".".join(chance.choice(["aB", "getHTTP", "x", "1st"]) for _ in range(200_000))
    wholes, parts = parts_of(token)
    assert set(wholes) == {"gethttp", "1st"}
    assert set(parts) == {"ab", "get", "http", "x", "1"}
    assert len(wholes) + len(parts) < 20
