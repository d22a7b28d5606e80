"""The record: its text says what it holds, fits its limit, and names nothing that its original does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.observations.observation import (
    MAX_TOKENS,
    Importance,
    Observation,
    decode,
    fitted,
    identifiers,
    unsupported,
)

LINES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"], exclude_characters=","), min_size=1, max_size=400
)
TEXTS = st.text(max_size=3000)


def observation(
    title: str = "A title",
    facts: tuple[str, ...] = (),
    narrative: str = "",
    read: tuple[str, ...] = (),
    changed: tuple[str, ...] = (),
) -> Observation:
    return Observation(
        type="discovery",
        title=title,
        importance=Importance.INFORMATION,
        facts=facts,
        narrative=narrative,
        read=read,
        changed=changed,
        sources=("e_1",),
        original_tokens=10,
    )


OBSERVATIONS = st.builds(
    observation,
    title=LINES,
    facts=st.lists(TEXTS, max_size=30).map(tuple),
    narrative=TEXTS,
    read=st.lists(LINES, max_size=40).map(tuple),
    changed=st.lists(LINES, max_size=40).map(tuple),
)


@given(OBSERVATIONS)
def test_a_fitted_observation_takes_at_most_500_tokens(made: Observation) -> None:
    assert fitted(made).tokens <= MAX_TOKENS


@given(OBSERVATIONS)
def test_the_text_and_the_meta_give_the_observation_back(made: Observation) -> None:
    made = fitted(made)
    back = decode(made.text, made.fields("rules"))
    assert back is not None
    assert (back.text, back.fields("rules")) == (made.text, made.fields("rules"))


@given(OBSERVATIONS, TEXTS)
def test_what_is_not_unsupported_is_in_the_original(made: Observation, original: str) -> None:
    if not unsupported(made, original):
        for text in (made.title, *made.facts, made.narrative, *made.files):
            assert all(token in original for token in identifiers(text))


@pytest.mark.parametrize(
    ("said", "original"),
    [
        ("the port is 9090", "the port is 8080"),
        ("src/http.py was changed", "src/https.py was changed"),
        ("12 tests pass", "112 tests pass"),
        ("parse_header fails", "parse_headers fails"),
        ("see https://a.example/x", "see https://a.example/y"),
        ("version 3.1", "version 3.14"),
        ("retryAfter is read", "retry after is read"),
    ],
)
def test_an_identifier_that_the_original_does_not_have_is_unsupported(said: str, original: str) -> None:
    assert unsupported(observation(facts=(said,)), f"A title\n{original}")


@pytest.mark.parametrize(
    "said",
    [
        "the port is 8080",
        "a/src/http.py:12 was changed.",
        "“parse_header” fails",
        "exit 1, 3.14 and v2.0",
        "端口是 8080。",
    ],
)
def test_an_identifier_of_the_original_is_supported(said: str) -> None:
    original = "A title: the port is 8080. a/src/http.py:12: parse_header(x) exit 1 3.14 v2.0"
    assert unsupported(observation(facts=(said,)), original) == ()


def test_an_identifier_that_was_cut_may_be_the_beginning_of_one() -> None:
    assert unsupported(observation(title="see src/ht…"), "see src/http.py") == ()
    assert unsupported(observation(title="see src/ftp…"), "see src/http.py") == ("src/ftp",)


def test_an_entry_with_other_fields_is_no_observation() -> None:
    assert decode("An imported note.", {"type": "decision"}) is None
    assert decode("An imported note.", {"type": 7, "importance": "high"}) is None
