"""Keys that are pasted in one unbroken run: found as if each were matched alone, in time that grows with the text."""

import random
from string import ascii_letters, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.privacy import examine
from foundation.privacy.redaction import OffsetsBefore, Redaction, redact
from foundation.privacy.secret_scan import _hits, _matched, _tokens  # pyright: ignore[reportPrivateUsage]

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


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_skipping_what_a_token_covers_finds_the_same(text: str) -> None:
    every = sorted(candidate for hit in _hits(text, 0) for candidate in _matched(text, hit, 0, 0))
    spans: list[tuple[int, int, str]] = []
    for start, minus_end, _, rule in every:
        if not spans or start >= spans[-1][1]:
            spans.append((start, -minus_end, rule))
    assert [(span.start, span.end, span.rule) for span in _tokens(text, 0)] == spans


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
    [("AKIA", 16, 20_000), ("ghp_", 36, 10_000), ("xoxb-123456789012-", 24, 1), ("", 40, 0)],
    ids=["aws", "github", "slack", "hex"],
)
def test_twenty_thousand_keys_without_a_blank_are_found(prefix: str, length: int, marks: int) -> None:
    rng = random.Random(1)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" if prefix == "AKIA" else LETTERS if prefix else "0123456789abcdef"
    text = "".join(prefix + "".join(rng.choices(alphabet, k=length)) for _ in range(20_000))
    assert len(examine(text).secrets) == marks
