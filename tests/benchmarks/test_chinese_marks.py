"""The marks of questions in Chinese and English, those that the rules were made without among them."""

import json

import pytest

from benchmarks.chinese import QUESTIONS, measure

pytestmark = pytest.mark.timeout(60)
CORPUS = json.loads(QUESTIONS.read_text("utf-8"))


@pytest.mark.parametrize(("half", "searched", "answered"), [("seen", 26, 24), ("unseen", 23, 21)])
def test_questions_are_found_and_answered(half: str, searched: int, answered: int) -> None:
    figures = measure(half, CORPUS[half], CORPUS["noise"])
    assert figures["search"] >= searched
    assert figures["offline"] >= answered
    assert figures["silent"] >= 3
