from datetime import UTC, datetime, timedelta, timezone

import pytest

from foundation.errors import Misuse
from foundation.text.dates.spans import Period, mentioned_periods, parse_moment

NOW = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "start", "end"),
    [
        ("2026-03-01", "2026-03-01T00:00", "2026-03-02T00:00"),
        ("2026-02", "2026-02-01T00:00", "2026-03-01T00:00"),
        ("2024", "2024-01-01T00:00", "2025-01-01T00:00"),
        ("yesterday", "2026-03-13T00:00", "2026-03-14T00:00"),
        ("today", "2026-03-14T00:00", "2026-03-15T00:00"),
        ("昨天", "2026-03-13T00:00", "2026-03-14T00:00"),
        ("2026-03-01T08:30", "2026-03-01T08:30", "2026-03-01T08:30"),
        ("2026-03-01T08:30+02:00", "2026-03-01T06:30", "2026-03-01T06:30"),
        ("30d", "2026-02-12T09:26:53", "2026-02-12T09:26:53"),
        ("2 weeks ago", "2026-02-28T09:26:53", "2026-02-28T09:26:53"),
        ("last March", "2025-03-01T00:00", "2025-04-01T00:00"),
        ("Two weeks ago", "2026-02-28T00:00", "2026-03-01T00:00"),
        ("last summer", "2025-06-01T00:00", "2025-09-01T00:00"),
        ("the weekend before July 4, 2023", "2023-07-01T00:00", "2023-07-03T00:00"),
        ("去年三月", "2025-03-01T00:00", "2025-04-01T00:00"),
        ("前天", "2026-03-12T00:00", "2026-03-13T00:00"),
        ("上个月", "2026-02-01T00:00", "2026-03-01T00:00"),
    ],
)
def test_dates_as_they_are_typed(said: str, start: str, end: str) -> None:
    assert parse_moment(said, NOW, zone=UTC) == datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert parse_moment(said, NOW, end=True, zone=UTC) == datetime.fromisoformat(end).replace(tzinfo=UTC)


def test_a_day_is_the_persons_own() -> None:
    zone = timezone(timedelta(hours=9))
    assert parse_moment("2026-03-01", NOW, zone=zone) == datetime(2026, 2, 28, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    "said", ["", "soon", "last tea", "2026-13", "2026-02-30", "99999999999d", "9999-12-31x", "0000"]
)
def test_what_is_no_date_is_said_so(said: str) -> None:
    with pytest.raises(Misuse, match="is not a date"):
        parse_moment(said, NOW)


@pytest.mark.parametrize("said", ["0001-01-01", "0001", "0001-01-01T00:00", "9999-12-31T23:59"])
def test_a_date_that_utc_does_not_have_is_no_date(said: str) -> None:
    hours = 9 if said.startswith("0") else -9
    with pytest.raises(Misuse, match="is not a date"):
        parse_moment(said, NOW, zone=timezone(timedelta(hours=hours)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What happened on 5 July, 2023?", [Period(2023, 7, 5)]),
        ("the 3rd of March", [Period(None, 3, 3)]),
        ("July 5th and August 2022", [Period(2022, 8, None), Period(None, 7, 5)]),
        ("2023年7月5日的会议", [Period(2023, 7, 5)]),
        ("10月", [Period(None, 10, None)]),
        ("in May", [Period(None, 5, None)]),
        ("in 2022", [Period(2022, None, None)]),
        ("on 2026-03-14", [Period(2026, 3, 14)]),
        ("May I march in?", []),
        ("version 3.51.3 of 2048 files", []),
    ],
)
def test_dates_that_a_question_speaks_of(text: str, expected: list[Period]) -> None:
    assert {date.period for date in mentioned_periods(text)} == set(expected)
