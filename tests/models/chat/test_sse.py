"""Server-sent events, however the bytes are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.chat.sse import EventParser, ServerEvent


def parsed(*chunks: bytes) -> list[ServerEvent]:
    parser = EventParser()
    return [event for chunk in chunks for event in parser.feed(chunk)] + parser.close()


STREAM = (
    "\ufeff: keepalive 1/2\n\ndata: first\r\n\r\n: keepalive 2/2\r\ndata: two\rdata: lines\r\r"
    'event: named\ndata:no blank\nid: 7\nretry: 10\n\nunknown\n\ndata: {"t": "白色 🐋 é"}\n\ndata:\n\n'
    "event: no data\n\ndata: three\r\ndata: more\r\n\r\n"
).encode()
EVENTS = [
    ServerEvent("message", "first"),
    ServerEvent("message", "two\nlines"),
    ServerEvent("named", "no blank"),
    ServerEvent("message", '{"t": "白色 🐋 é"}'),
    ServerEvent("message", ""),
    ServerEvent("message", "three\nmore"),
]


def test_comments_names_line_ends_and_several_lines() -> None:
    assert parsed(STREAM) == EVENTS


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_any_cut_gives_the_same_events(size: int) -> None:
    assert parsed(*(STREAM[i : i + size] for i in range(0, len(STREAM), size))) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_any_cuts_give_the_same_events(cuts: list[int]) -> None:
    marks = [0, *sorted(cuts), len(STREAM)]
    assert parsed(*(STREAM[a:b] for a, b in pairwise(marks))) == EVENTS


@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1)),
    st.integers(1, 9),
)
def test_what_was_sent_is_what_comes(texts: list[str], size: int) -> None:
    sent = "".join(f"data: {text}\n\n" for text in texts).encode()
    assert [event.data for event in parsed(*(sent[i : i + size] for i in range(0, len(sent), size)))] == texts


def test_an_end_without_its_empty_line_still_completes_the_event() -> None:
    assert parsed(b"data: [DONE]") == [ServerEvent("message", "[DONE]")]
