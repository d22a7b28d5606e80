"""A time can be told by an event, and then the event is what is to be found."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.text.dates.event_anchors import AnchorSide, event_anchors

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


@pytest.mark.parametrize(
    ("text", "event", "side"),
    [
        ("What did I eat before the move?", "the move", AnchorSide.BEFORE),
        ("Where did Ann live before she moved to Berlin?", "she moved to Berlin", AnchorSide.BEFORE),
        ("Before the move, where did I work?", "the move", AnchorSide.BEFORE),
        ("Who called after my surgery", "my surgery", AnchorSide.AFTER),
        ("What changed since the wedding?", "the wedding", AnchorSide.AFTER),
        ("two days after the party", "the party", AnchorSide.AFTER),
        ("During our trip to Japan and who came?", "our trip to Japan", AnchorSide.DURING),
        ("After Melanie's birthday what did she do", "Melanie's birthday", AnchorSide.AFTER),
        ("we met before moving to Paris", "moving to Paris", AnchorSide.BEFORE),
        ("搬家之前我住在哪里", "搬家", AnchorSide.BEFORE),
        ("她结婚之后做了什么", "结婚", AnchorSide.AFTER),
        ("我在大学期间学了什么", "大学", AnchorSide.DURING),
    ],
)
def test_events_that_tell_a_time(text: str, event: str, side: AnchorSide) -> None:
    (anchor,) = event_anchors(text)
    assert (anchor.event, anchor.side) == (event, side)
    assert (
        text[anchor.at : anchor.to]
        .lower()
        .replace("之前", "")
        .replace("之后", "")
        .replace("期间", "")
        .endswith(event.lower())
    )


@pytest.mark.parametrize(
    "text",
    [
        "before July 4",
        "after the weekend",
        "三个月之前",
        "两年以后",
        "follow up after lunch",
        "before it",
        "",
        "since 2019",
    ],
)
def test_dates_and_bare_words_are_no_events(text: str) -> None:
    assert event_anchors(text) == ()


@given(st.text(st.characters(codec=None)))
def test_no_text_breaks_it(text: str) -> None:
    assert all(0 <= anchor.at < anchor.to <= len(text) and anchor.event for anchor in event_anchors(text))


def test_long_texts_take_no_longer_than_their_length() -> None:
    began = time.process_time()
    for piece in ("before the ", "after ", "搬家之前", "a", "走", "while I "):
        event_anchors(piece * (200_000 // len(piece)))
    assert time.process_time() - began < 8
