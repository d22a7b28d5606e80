"""Words that a person hid, said again by others: found as they stand, however they are split."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundation.privacy import EchoFilter, EchoFilterStream, clear, hidden_texts
from tests.examples import examples

KEY = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5"


def stored(message: str, answer: str) -> str:
    return EchoFilter(hidden_texts(message)).clear(answer)


def streamed(echoes: EchoFilter, chunks: list[str]) -> str:
    stream = EchoFilterStream(echoes)
    return "".join([*map(stream.feed, chunks), stream.close()])


@pytest.mark.parametrize(
    ("message", "hidden"),
    [
        ("a <private>Berta Zork</private> b", ("Berta Zork",)),
        ("a <private>Berta <private>in</private> Zork</private> b", ("Berta in Zork",)),
        ("a <private>Berta Zork", ("Berta Zork",)),
        ("no tags", ()),
        ("`<private>` is a tag", ()),
        (f"use {KEY} now", (KEY,)),
        (f"<private>use {KEY} now</private>", (f"use {KEY} now", KEY)),
    ],
)
def test_a_message_tells_what_it_hides(message: str, hidden: tuple[str, ...]) -> None:
    assert hidden_texts(message) == hidden


@pytest.mark.parametrize(
    ("inner", "answer", "kept"),
    [
        ("Berta Zork", "Hello BERTA\n  zork!", "Hello [private]!"),
        ("Berta Zork.", "So Berta Zork it is.", "So [private] it is."),
        ("one line of it\nand the other line", "> and the other LINE <", "> [private] <"),
        ("one line of it\nshort", "short one line of it", "short [private]"),
        (f"mydb {KEY}", f"it is mydb {KEY}.", "it is [private]."),
        ("Zork", "zorkzork", "[private][private]"),
        ("Zor", "zor", "zor"),
        ("this and that", "this and that", "this and that"),
        ("!@#$%^&*", "it is !@#$%^&*", "it is [private]"),
        ("private", "<private>Zork</private> private", "[private] private"),
        ("Berta Zork", "Berta; Zork", "Berta; Zork"),
    ],
)
def test_hidden_words_leave_a_mark(inner: str, answer: str, kept: str) -> None:
    assert stored(f"<private>{inner}</private>", answer) == kept


def test_a_hidden_line_takes_no_sign_away_from_another_secret() -> None:
    hidden = EchoFilter(["-----BEGIN RSA PRIVATE KEY-----\npassword:\nabcdefghi"])
    body = "MIIEpAIBAAKCAQEA7bq1Vd9zQ2kX0nT8sLwY"
    answer = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\npassword: q8Zr2LkV9xTn4WbY7mPd"
    assert body not in hidden.clear(answer)
    assert "q8Zr2LkV9xTn4WbY7mPd" not in hidden.clear(answer)


def test_arguments_are_looked_through_as_what_they_say() -> None:
    echoes = EchoFilter(['Berta "Zork"', "4711"])
    arguments = [
        json.dumps({"note": 'for Berta "Zork"', "list": [4711, {'berta "zork"': True}], "one": 1}),
        json.dumps({"deep": json.dumps(['Berta "Zork"'])}),
        "".join(['{"note": "', *(f"\\u{ord(letter):04x}" for letter in 'Berta "Zork"'), '"}']),
        '{"note": "4711", "note": "x"}',
        '{"note": "cut off: Berta \\"Zork\\"',
    ]
    for one in arguments:
        for made in (echoes.json(one), echoes.fields({"arguments": one})["arguments"], echoes.result(one)):
            flat = re.sub(r"\\+", "", made).lower()
            assert "zork" not in flat, made
            assert "4711" not in flat, made
            assert "\\u00" not in made
    assert json.loads(echoes.json(arguments[0])) == {
        "note": "for [private]",
        "list": ["[private]", {"[private]": True}],
        "one": 1,
    }
    assert echoes.json('{"one":  1}') == '{"one":  1}'


def test_only_the_beginning_of_a_hidden_text_waits() -> None:
    stream = EchoFilterStream(EchoFilter(["Berta Zork"]))
    assert stream.feed("the end, ber") == "the end, "
    assert stream.feed("ries, Berta") == "berries, "
    assert stream.feed(" \n") == ""
    assert stream.feed("Zork, ") == "[private], "
    assert stream.feed("berta") == ""
    assert stream.close() == "berta"


def test_a_long_hidden_text_is_taken_out_in_parts() -> None:
    words = " ".join(f"word{number}x" for number in range(800))
    echoes = EchoFilter([words])
    left = echoes.clear(f"before {words.upper()} after")
    assert "WORD" not in left
    assert left.startswith("before [private]")
    assert left.endswith("[private] after")
    assert streamed(echoes, [words[at : at + 7] for at in range(0, len(words), 7)]) == echoes.clear(words)


LETTERS = st.text("ab \n", max_size=12)
CHUNKS = st.lists(st.text("abAB \n<>", max_size=6) | st.sampled_from(["<private>", "</private>", KEY]), max_size=20)


@pytest.mark.timeout(60)
@settings(max_examples=examples(400), deadline=None)
@given(st.lists(LETTERS, max_size=5), CHUNKS)
def test_where_chunks_end_changes_nothing(hidden: list[str], chunks: list[str]) -> None:
    echoes = EchoFilter(hidden)
    assert streamed(echoes, chunks) == echoes.clear("".join(chunks))


@pytest.mark.timeout(60)
@settings(max_examples=examples(400), deadline=None)
@given(LETTERS, st.text("abAB \n", max_size=60))
def test_no_occurrence_stays(hidden: str, answer: str) -> None:
    words = hidden.split()
    if len(" ".join(words)) < 4 or {"a"}.issuperset(words):
        return
    pattern = r"\s+".join(map(re.escape, words))
    assert not re.search(pattern, EchoFilter([hidden]).clear(answer), re.IGNORECASE)
    assert EchoFilter([hidden]).clear(answer) == re.sub(pattern, "[private]", clear(answer), flags=re.IGNORECASE) or (
        "\n" in hidden
    )


HIDDEN = "zanzibar quokka marmalade"


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("run: echo zanzibar quo…", "run: echo [private]…"),
        ("it says 'zanzibar quokka marm…' there", "it says '[private]…' there"),
        ("Zanzibar  …", "[private]  …"),
        ("a zan…", "a zan…"),  # too little to tell from others' words
        ("zanzibar is an island …", "zanzibar is an island …"),
    ],
)
def test_the_beginning_of_a_hidden_text_before_the_mark_of_a_cut_is_hidden(answer: str, left: str) -> None:
    message = f"<private>{HIDDEN}</private>"
    assert stored(message, answer) == left
    for size in (1, 3, 7):
        chunks = [answer[at : at + size] for at in range(0, len(answer), size)]
        assert streamed(EchoFilter(hidden_texts(message)), chunks) == left


@given(st.integers(0, 60), st.sampled_from([HIDDEN, f"{HIDDEN} {KEY}"]))
def test_a_text_is_cleared_before_it_is_shortened(most: int, words: str) -> None:
    shortened = EchoFilter(hidden_texts(f"<private>{HIDDEN}</private>")).shortened(f"They told me {words}.", most)
    assert len(shortened) <= most + len("[private]")
    assert not re.search(r"zanz|quok|marm|ghp_", shortened)
