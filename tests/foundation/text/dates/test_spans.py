"""Dates in words are the days that a person means by them."""

import time
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.text.dates.calendar import FIRST, LAST
from foundation.text.dates.spans import DateSpan, entry_spans, parse_span, question_spans, span_bounds, widened
from tests.foundation.text.dates.phrases import PHRASES

NOW = datetime(2026, 11, 21, 15, tzinfo=UTC)
pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


def shown(span: DateSpan) -> str:
    start, end = ("" if day in (FIRST, LAST) else str(day) for day in (span.start, span.end))
    return f"{start}..{end}" + f" ~{span.soft}" * bool(span.soft) + " yearless" * span.yearless


@pytest.mark.parametrize(("text", "expected"), PHRASES)
def test_what_is_said_in_words_is_meant_in_days(text: str, expected: str) -> None:
    assert "; ".join(map(shown, question_spans(text, NOW, UTC))) == expected


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        (UTC, "2026-12-30"),
        (timezone(timedelta(hours=9)), "2026-12-31"),
        (ZoneInfo("America/Los_Angeles"), "2026-12-30"),
        (ZoneInfo("Asia/Shanghai"), "2026-12-31"),
    ],
)
def test_yesterday_is_the_persons_own(zone: timezone, day: str) -> None:
    now = datetime(2026, 12, 31, 20, tzinfo=UTC)
    (span,) = question_spans("yesterday", now, zone)
    assert span.start == date.fromisoformat(day)


@pytest.mark.parametrize(
    ("today", "text", "start", "end"),
    [
        ("2026-03-14", "last March", "2025-03-01", "2025-04-01"),
        ("2026-01-02", "last month", "2025-12-01", "2026-01-01"),
        ("2026-01-02", "last quarter", "2025-10-01", "2026-01-01"),
        ("2026-01-02", "last week", "2025-12-22", "2025-12-29"),
        ("2026-01-15", "this winter", "2025-12-01", "2026-03-01"),
        ("2026-01-15", "last winter", "2024-12-01", "2025-03-01"),
        ("2024-02-29", "a year ago", "2023-02-28", "2023-03-01"),
        ("2026-03-31", "one month ago", "2026-02-28", "2026-03-01"),
        ("2026-11-23", "last weekend", "2026-11-21", "2026-11-23"),
        ("2026-11-22", "last weekend", "2026-11-14", "2026-11-16"),
        ("2026-11-16", "last Monday", "2026-11-09", "2026-11-10"),
        ("2026-11-16", "next Monday", "2026-11-23", "2026-11-24"),
        ("2026-12-31", "tomorrow", "2027-01-01", "2027-01-02"),
        ("2026-01-01", "去年国庆", "2025-10-01", "2025-10-08"),
        ("2026-01-01", "上周日", "2025-12-28", "2025-12-29"),
    ],
)
def test_the_ends_of_years_and_months_are_kept(today: str, text: str, start: str, end: str) -> None:
    (span,) = question_spans(text, datetime.fromisoformat(today).replace(tzinfo=UTC), UTC)
    assert (str(span.start), str(span.end)) == (start, end)


@pytest.mark.parametrize(
    ("text", "start", "days"),
    [
        ("I went there yesterday!", "2023-05-07", 1),
        ("We saw it last week", "2023-05-01", 7),
        ("The exam is on June 3rd", "2023-06-03", 1),
        ("It was in December", "2022-12-01", 31),
        ("We leave next Friday", "2023-05-12", 1),
        ("Last Saturday was fun", "2023-05-06", 1),
        ("我上个月去了北京", "2023-04-01", 30),
        ("昨天很累", "2023-05-07", 1),
    ],
)
def test_an_entry_speaks_of_days_from_its_own(text: str, start: str, days: int) -> None:
    (span,) = entry_spans(text, datetime(2023, 5, 8, 13, 56, tzinfo=UTC), UTC)
    assert (str(span.start), span.days) == (start, days)


def test_a_span_says_where_it_stands() -> None:
    text = "So, 兩週前 in Rome, and in early May 2023 at home"
    assert [text[span.at : span.to] for span in question_spans(text, NOW, UTC)] == ["兩週前", "early May 2023"]


@pytest.mark.parametrize("text", ["last March", "in the last March", "March", "去年三月", "two weeks ago", "the 90s"])
def test_what_is_a_date_and_nothing_else_is_taken_whole(text: str) -> None:
    assert parse_span(text, NOW, UTC)


@pytest.mark.parametrize("text", ["", "soon", "last March in Rome", "March or April", "tea yesterday", "2024-02-30"])
def test_what_says_more_is_not(text: str) -> None:
    assert parse_span(text, NOW, UTC) is None


def test_a_spans_bounds_are_moments_of_the_persons_days() -> None:
    (span,) = question_spans("yesterday", NOW, UTC)
    start, end = span_bounds(span, timezone(timedelta(hours=2)))
    assert (start.isoformat(), end.isoformat()) == ("2026-11-19T22:00:00+00:00", "2026-11-20T22:00:00+00:00")
    for text in ("before 2023", "after 2030"):
        (span,) = question_spans(text, NOW, UTC)
        for hours in (-9, 2):
            assert FIRST in (span.start, span.end) or LAST in (span.start, span.end)
            assert all(moment.tzinfo is UTC for moment in span_bounds(span, timezone(timedelta(hours=hours))))


def test_a_day_has_no_early_part() -> None:
    assert [span.days for span in question_spans("early yesterday, in early 2023", NOW, UTC)] == [1, 122]


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert question_spans("word " * 5000 + "yesterday", NOW, UTC) == ()
    assert len(question_spans("yesterday, " * 200, NOW, UTC)) == 64


def _is_within(day: date, spans: Sequence[DateSpan]) -> bool:
    return any(wide.start <= day < wide.end for wide in map(widened, spans))


def test_what_is_near_a_soft_span_is_within() -> None:
    found = question_spans("two weeks ago", NOW, UTC)
    days = [day for day in range(1, 21) if _is_within(date(2026, 11, day), found)]
    assert days == [4, 5, 6, 7, 8, 9, 10]
    assert _is_within(date(1, 1, 1), question_spans("before 2023", NOW, UTC))


@given(st.text(st.characters(codec=None)), st.datetimes(timezones=st.just(UTC)))
def test_no_text_and_no_moment_breaks_it(text: str, now: datetime) -> None:
    for found in (question_spans(text, now, UTC), entry_spans(text, now, UTC)):
        assert all(span.start < span.end and 0 <= span.at < span.to <= len(text) for span in found)


_WORDS = (
    "last next this early mid late March May week weekend of before after the since until between an"
    "d from to 5 2023 summer two few days ago Christmas Tuesday 去年 三月 上 周 末 底 前 后 国庆 到 十 日 年 号 半"
)


@given(st.lists(st.sampled_from(_WORDS.split())).map(" ".join), st.datetimes(timezones=st.just(UTC)))
def test_no_mixture_of_the_words_breaks_it(text: str, now: datetime) -> None:
    for one in (text, text.replace(" ", "")):
        assert all(
            span.start < span.end and 0 <= span.at < span.to <= len(one) for span in question_spans(one, now, UTC)
        )


def test_long_texts_take_no_longer_than_their_length() -> None:
    began = time.process_time()
    for piece in (
        "last ",
        "in ",
        "the week before ",
        "1 ",
        "12/",
        "early",
        "国庆",
        "一",
        "May 1, ",
        "2023-",
        " " * 7,
        "the ",
    ):
        question_spans(piece * (200_000 // len(piece)), NOW, UTC)
    assert time.process_time() - began < 8
