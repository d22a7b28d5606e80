"""A query's text, taken apart: phrases in quotes, words to leave out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.search.query.syntax import ParsedQuery, parse_text, required_terms


@pytest.mark.parametrize(
    ("text", "question", "phrases", "without"),
    [
        ("the boiler", "the boiler", (), ()),
        ('"the boiler" leaks', "the boiler leaks", ("the boiler",), ()),
        ("boiler -gas", "boiler", (), ("gas",)),
        ('boiler -"gas leak" oil', "boiler oil", (), ("gas leak",)),
        ("“精确的话”在哪里 -北京", "精确的话 在哪里", ("精确的话",), ("北京",)),
        ("well-known e-mail - a dash", "well-known e-mail - a dash", (), ()),
        ("it is -5 degrees, --flag", "it is -5 degrees, --flag", (), ()),
        ('a 5" screen', 'a 5" screen', (), ()),
        ("-gas", "", (), ("gas",)),
        ('""', '""', (), ()),
    ],
)
def test_taken_apart(text: str, question: str, phrases: tuple[str, ...], without: tuple[str, ...]) -> None:
    found = parse_text(text)
    assert (found.question, found.phrases, found.without) == (question, phrases, without)


def test_a_text_that_was_pasted_is_looked_for_as_it_stands() -> None:
    text = '- first -x\n- "second"'
    assert parse_text(text).question == text
    assert not parse_text(text).needs_text


@pytest.mark.parametrize(
    ("query", "said", "says"),
    [
        ('"the boiler"', "So the  Boiler\nleaks", True),
        ('"the boil"', "the boiler", False),
        ('"art"', "a party", False),
        ('"cafe"', "the Café", True),
        ('"精确"', "不精确的", True),
        ('"src/http"', "in src/http.py", True),
        ('-"gas leak"', "no gas, a leak", True),
        ('x -"gas leak"', "a gas leak", False),
        ("x -北京", "去北京玩", False),
    ],
)
def test_what_a_passage_says(query: str, said: str, says: bool) -> None:
    assert parse_text(query).matches(said) is says


@given(st.text(max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    found = parse_text(text)
    found.matches(text)
    required_terms(found.question)


@given(st.text(st.characters(codec="utf-8", exclude_characters='"“”\n\r'), min_size=1, max_size=30))
def test_what_says_a_phrase_is_told_to(phrase: str) -> None:
    if phrase.strip() and parse_text(f'"{phrase}"').phrases:
        assert parse_text(f'"{phrase}"').matches(f"before {phrase} after")


def test_a_name_that_a_question_quotes_need_not_stand_in_its_answer() -> None:
    assert parse_text('Who likes "The Hobbit"?') == ParsedQuery("Who likes The Hobbit ?")
    assert parse_text('likes "The Hobbit"').phrases == ("The Hobbit",)
    assert parse_text("谁喜欢“霍比特人”？").phrases == ()
