"""Relative dates are written out from the day of what was said."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.text.dates.calendar import MONTH_NAMES, WEEKDAYS
from foundation.text.dates.relative import written_dates

AT = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)  # a Monday
DAYS = st.dates(date(1990, 1, 1), date(2090, 1, 1))


def dates(text: str, at: datetime = AT) -> list[str]:
    return [written for _, written in written_dates(text, at, UTC)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went to a support group yesterday and it was great.", "7 May 2023"),
        ("We met the day before yesterday.", "6 May 2023"),
        ("It rained last night.", "7 May 2023"),
        ("I painted it two days ago!", "6 May 2023"),
        ("Last Friday we ran.", "5 May 2023"),
        ("See you next Friday.", "12 May 2023"),
        ("We moved last week.", "week of 1 May 2023"),
        ("We moved two weeks ago.", "week of 24 April 2023"),
        ("We hiked last weekend.", "weekend of 6 May 2023"),
        ("The fair is next month.", "June 2023"),
        ("I started three months ago.", "February 2023"),
        ("I read it last year.", "2022"),
        ("We married five years ago.", "2018"),
        ("Last July we swam.", "July 2022"),
        ("A few days ago I fell.", "May 2023"),
        ("A few months ago I fell.", "2023"),
        ("我昨天去了医院。", "2023年5月7日"),
        ("前天下雨了。", "2023年5月6日"),
        ("三天前我们见过。", "2023年5月5日"),
        ("上周三开会。", "2023年5月3日"),
        ("上週三開會。", "2023年5月3日"),
        ("上周搬的家。", "2023年5月1日起的一周"),
        ("下个月考试。", "2023年6月"),
        ("去年买的车。", "2022年"),
        ("两年前毕业。", "2021年"),
    ],
)
def test_a_phrase_is_as_precise_as_it_is(text: str, expected: str) -> None:
    assert dates(text) == [expected]


def test_the_offset_is_right_behind_the_phrase() -> None:
    text = "I came yesterday and leave next week, 后天 the latest."
    ends = [text[:end] for end, _ in written_dates(text, AT, UTC)]
    assert [end.rsplit(" ", 1)[-1] for end in ends] == ["yesterday", "week", "后天"]


@pytest.mark.parametrize(
    "text",
    [
        "Today is fine, and so is this week.",
        "Yesterday, 7 May, was fine.",
        "Last Friday (2023-05-05) we ran.",
        "昨天（5月7日）去了。",
        "```\nlog of yesterday\n```",
        "Run `date -d yesterday` first.",
        "> I went yesterday.",
        "He wrote: “I went yesterday.”",
        'The song "Yesterday" was on, she said "last week".',
        "[2021-03-02 10:33] Bob: see you tomorrow",
        "2021年3月2日 鲍勃：明天见",
        "over the last three weeks",
        "He has been away since last week.",
        "半年前见过。",
        "the past year",
        "A few years ago I fell.",
        "in the back of the last row",
        "",
    ],
)
def test_what_has_a_date_is_vague_or_is_not_the_speakers_own_stays(text: str) -> None:
    assert dates(text) == []


def test_another_sentence_may_name_a_date() -> None:
    assert dates("My birthday is 3 March 1990. Yesterday I ran.") == ["7 May 2023"]


def test_rough_days_over_the_end_of_a_month_are_not_written() -> None:
    assert dates("A few days ago I fell.", datetime(2023, 5, 3, tzinfo=UTC)) == []


def day_text(day: date) -> str:
    return f"{day.day} {MONTH_NAMES[day.month - 1].title()} {day.year}"


@given(DAYS, st.integers(2, 400))
def test_days_are_those_of_the_calendar(today: date, count: int) -> None:
    at = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    assert dates("We met yesterday.", at) == [day_text(today - timedelta(1))]
    assert dates(f"We met {count} days ago.", at) == [day_text(today - timedelta(count))]
    then = today - timedelta(count)
    assert dates(f"{count}天前见过。", at) == [f"{then.year}年{then.month}月{then.day}日"]


@given(DAYS, st.sampled_from(list(enumerate(WEEKDAYS))))
def test_weekdays_are_right_across_months_and_years(today: date, weekday: tuple[int, str]) -> None:
    number, name = weekday
    at = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    last = next(day for n in range(1, 8) if (day := today - timedelta(n)).weekday() == number)
    coming = next(day for n in range(1, 8) if (day := today + timedelta(n)).weekday() == number)
    assert dates(f"We met last {name}.", at) == [day_text(last)]
    assert dates(f"We meet next {name}.", at) == [day_text(coming)]
    in_last_week = today - timedelta(today.weekday() + 7 - number)
    of_last_week = f"{in_last_week.year}年{in_last_week.month}月{in_last_week.day}日"
    assert dates(f"上周{'一二三四五六日'[number]}见过。", at) == [of_last_week]


@given(DAYS)
def test_weeks_months_and_years_are_those_of_the_calendar(today: date) -> None:
    at = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    monday = today - timedelta(today.weekday() + 7)
    assert dates("We met last week.", at) == [f"week of {day_text(monday)}"]
    month_end = today.replace(day=1) - timedelta(1)
    assert dates("We met last month.", at) == [f"{MONTH_NAMES[month_end.month - 1].title()} {month_end.year}"]
    assert dates("We met last year.", at) == [f"{today.year - 1}"]


@given(st.text(st.characters(codec=None), max_size=200))
def test_any_text_has_ascending_offsets_within(text: str) -> None:
    ends = [end for end, _ in written_dates(text, AT, UTC)]
    assert ends == sorted(ends) and all(0 < end <= len(text) for end in ends)
