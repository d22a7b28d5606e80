"""Texts in passages: all of the text, cut at sentence ends, none too long."""

from hypothesis import given
from hypothesis import strategies as st

from memory.search.vectors.passages import MOST, TOKENS, passages
from models.tokens import estimate

SENTENCE = "The keeper of the lighthouse wrote every evening what he had seen that day. "


def test_a_short_text_is_one_passage() -> None:
    assert passages("  The boiler is from 2019.\n") == ["The boiler is from 2019."]


def test_nothing_has_no_passage() -> None:
    assert passages(" \n\t ") == []


def test_a_long_text_is_cut_at_sentence_ends() -> None:
    found = passages(SENTENCE * 60)
    assert len(found) > 2
    assert all(piece.endswith("day.") for piece in found)
    assert " ".join(found) == (SENTENCE * 60).strip()


def test_chinese_is_cut_at_its_own_marks() -> None:
    found = passages("灯塔看守人每天晚上都写下他白天看到的一切。" * 60)
    assert len(found) > 2
    assert all(piece.endswith("。") for piece in found)


def test_what_has_no_sentences_is_cut_too() -> None:
    found = passages("0123456789abcdef" * 400)
    assert len(found) > 2
    assert "".join(found) == "0123456789abcdef" * 400


def test_there_is_an_end_to_it() -> None:
    assert len(passages(SENTENCE * 20_000)) == MOST


@given(st.text(alphabet="ab 中。.\n!?0", max_size=6000))
def test_passages_hold_all_the_text_and_none_is_too_long(text: str) -> None:
    found = passages(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(piece == piece.strip() and piece for piece in found)
    assert all(estimate(piece) <= TOKENS * 1.3 for piece in found)
