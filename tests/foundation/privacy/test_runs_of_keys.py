"""Keys that are pasted in one unbroken run: nothing of any is left, in time that grows with the text."""

import random
import re
from itertools import pairwise
from string import ascii_letters, digits

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foundation.privacy import clear, examine
from foundation.privacy.redaction import OffsetsBefore, Redaction, redact
from foundation.privacy.secret_scan import _hits, _matched, _tokens  # pyright: ignore[reportPrivateUsage] - the test looks inside
from tests.foundation.privacy.test_privacy import FRIENDS, SECRETS

LETTERS = ascii_letters + digits
PIECES = (
    "ghp_" + LETTERS[:36],
    "AKIA" + "Q3EGRLIH4XUZ5TPN",
    "xoxb-123456789012-" + LETTERS[:24],
    "xoxb-12345678901",
    "sk-proj-" + LETTERS[7:55],
    "https://u:" + "Pa5sw0rdXy@",
    "12345678:AA" + LETTERS[:33],
    "0123456789abcdef0123456789abcdef-us1",
    "eyJ" + LETTERS[:20] + ".eyJ" + LETTERS[3:23] + "." + LETTERS[:12],
    "-",
    "_",
    "=\n",
    "\\\n",
    " ",
    "a",
    "7",
)


GITHUB, SLACK, MAILCHIMP, JWT = PIECES[0], PIECES[3], PIECES[7], PIECES[8]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@example(f"{GITHUB}{SLACK}\\\n{MAILCHIMP}")  # the second one begins within the first and goes on in the next line
@example(f"{JWT}{PIECES[1]}{GITHUB}{GITHUB}\\\n {MAILCHIMP}{GITHUB}")
@example(f"{JWT}{SLACK}\\\na-7{JWT}")  # the first one ends beyond the run in which the second one begins
def test_skipping_what_a_token_covers_finds_the_same(text: str) -> None:
    every = sorted(candidate for hit in _hits(text, 0) for candidate in _matched(text, hit, 0, 0))
    spans: list[tuple[int, int, str]] = []
    free = 0
    for start, minus_end, _, rule in every:
        if -minus_end > free:
            spans.append((max(start, free), -minus_end, rule))
            free = -minus_end
    assert [(span.start, span.end, span.rule) for span in _tokens(text, 0)] == spans


def left_of(text: str) -> list[str]:
    """What stands between the marks of the cleared text."""
    return list(filter(None, re.split(r"\[secret: [a-z0-9-]+\]", clear(text))))


@pytest.mark.parametrize("first", SECRETS)
def test_nothing_is_left_of_two_keys_that_are_joined(first: str) -> None:
    for second, key in SECRETS.items():
        assert left_of(SECRETS[first] + key) == [], second


@pytest.mark.parametrize("name", SECRETS)
def test_nothing_is_left_of_three_keys_of_a_kind_or_of_three_kinds(name: str) -> None:
    key = SECRETS[name]
    assert left_of(key * 3) == []
    for other, second in pairwise(SECRETS):
        assert left_of(SECRETS[other] + key + SECRETS[second]) == [], (other, second)


@given(st.lists(st.sampled_from(list(SECRETS.values())), min_size=1, max_size=9).map("".join), st.sampled_from(PIECES))
def test_nothing_is_left_of_a_run_and_clearing_it_twice_changes_nothing(run: str, after: str) -> None:
    assert left_of(run) == []
    for text in (run + after, after + run, run[:-9] + after):
        assert clear(clear(text)) == clear(text)


@pytest.mark.parametrize("name", FRIENDS)
def test_what_stands_by_a_run_of_keys_stays(name: str) -> None:
    text = FRIENDS[name]
    assert clear(f"{text} {SECRETS['github-pat'] * 2} {text}") == f"{text} {'[secret: github-pat]' * 2} {text}"


@pytest.mark.parametrize("word", ["sk-learn", "hf_hub", "pat", "SK", "MTU", "_v2", "-us", "gho_"])
def test_a_word_that_joins_a_key_stays(word: str) -> None:
    before, after = SECRETS["airtable-token"], SECRETS["aws-access-key"]
    assert (
        clear(f"{before}-{word} {after}_{word} {word}")
        == f"[secret: airtable-token]-{word} [secret: aws-access-key]_{word} {word}"
    )


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.text("m", max_size=4)), max_size=8))
def test_an_offset_of_the_redacted_text_leads_back(gaps: list[tuple[int, int, str]]) -> None:
    spans: list[Redaction] = []
    end = 0
    for gap, length, mark in gaps:
        spans.append(Redaction(end + gap, end + gap + length, mark))
        end += gap + length
    text = "".join(chr(0x4E00 + number) for number in range(end + 5))
    before = OffsetsBefore(spans)
    for offset, character in enumerate(redact(text, spans)):
        if character != "m":
            assert text[before.offset(offset)] == character


@pytest.mark.timeout(60)  # it took six minutes while each key was matched to the end of the run
@pytest.mark.parametrize(
    "prefix,length,marks",
    [("AKIA", 16, 20_000), ("ghp_", 36, 20_000), ("xoxb-123456789012-", 24, 1), ("", 40, 0)],
    ids=["aws", "github", "slack", "hex"],
)
def test_twenty_thousand_keys_without_a_blank_are_found(prefix: str, length: int, marks: int) -> None:
    rng = random.Random(1)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" if prefix == "AKIA" else LETTERS if prefix else "0123456789abcdef"
    text = "".join(prefix + "".join(rng.choices(alphabet, k=length)) for _ in range(20_000))
    assert len(examine(text).secrets) == marks
