"""Titles of conversations are short."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.turn.title import MAX_CHARS, short_title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("How is the boiler?", "How is the boiler?"),
        ("Hi! Could you please mend the failing test? It is in calc.py.", "Mend the failing test?"),
        ("add is wrong in calc\nIt returns 3.", "add is wrong in calc"),
        ("你好，请问我的座位号是多少？谢谢", "我的座位号是多少？"),
        ("Please", "Please"),
        ("Hidden treasure", "Hidden treasure"),
        ("", ""),
    ],
)
def test_a_title_is_the_first_sentence_without_its_polite_opening(text: str, title: str) -> None:
    assert short_title(text) == title


@given(st.text())
def test_a_title_is_one_short_line(text: str) -> None:
    title = short_title(text)
    assert len(title) <= MAX_CHARS + 3 and "\n" not in title  # a letter may have a capital of three
    assert title or not text.split("\n", 1)[0].strip()
