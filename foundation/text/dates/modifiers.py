"""Modifiers of dates: `early May`, `the weekend before July 4`, 三月初, 五月以来."""

import re
from collections.abc import Callable
from datetime import date, timedelta

from foundation.text.dates.calendar import (
    FIRST,
    LAST,
    WEEKDAYS,
    Days,
    number_of,
    shift_days,
    shift_months,
    week,
    weekend,
)

DateModifier = Callable[[Days, re.Match[str], date], Days | None]
"""From a date's days, what was said beside it, and today."""

BESIDE = 48
"""Characters before and after a date that are looked at."""

_WEEK = 7
_SHORTEST = 7  # days that have an early, a middle and a late part
_THE = r"(?:the\s{1,3})?"
_NUMBER = r"(?P<number>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|(?:a\s)?few|a\scouple(?:\sof)?)"


def _third(days: Days, which: int) -> Days | None:
    """The first, second or last third; of a day there is none."""
    length = (days[1] - days[0]).days
    if length < _SHORTEST:
        return None
    cut = [days[0] + timedelta(days=round(length * part / 3)) for part in range(4)]
    return cut[which], cut[which + 1]


def _early(days: Days, _: re.Match[str], __: date) -> Days | None:
    return _third(days, 0)


def _mid(days: Days, _: re.Match[str], __: date) -> Days | None:
    return _third(days, 1)


def _late(days: Days, _: re.Match[str], __: date) -> Days | None:
    return _third(days, 2)


def _week_of(days: Days, match: re.Match[str], _: date) -> Days | None:
    return None if (days[1] - days[0]).days > _WEEK else week(days[0], _side(match))


def _nth_week(days: Days, match: re.Match[str], _: date) -> Days | None:
    """Of a month: its first seven days, its last, its third weekend."""
    nth = ("last", "first", "second", "third", "fourth").index(match["nth"].lower())
    if match["unit"].lower() == "week":
        return _seven(days[1] - timedelta(days=_WEEK) if not nth else shift_days(days[0], _WEEK * (nth - 1)), days)
    saturdays = weekend(days[0])
    first = saturdays and (saturdays[0] if saturdays[0] >= days[0] else shift_days(saturdays[0], _WEEK))
    ending = weekend(days[1], 0 if days[1].weekday() == 6 else -1)
    saturday = (ending and ending[0]) if not nth else first and shift_days(first, _WEEK * (nth - 1))
    return (saturday, saturday + timedelta(days=2)) if saturday and days[0] <= saturday < days[1] else None


def _seven(first: date | None, within: Days) -> Days | None:
    return (first, first + timedelta(days=_WEEK)) if first and within[0] <= first < within[1] else None


def _weekend_of(days: Days, match: re.Match[str], _: date) -> Days | None:
    if (days[1] - days[0]).days > _WEEK:
        return None
    side, days_of_weekend = _side(match), weekend(days[0])
    if side < 0 and days_of_weekend and days_of_weekend[1] > days[0]:
        return weekend(days[0], -1)
    if side > 0 and days_of_weekend and days_of_weekend[0] < days[1]:
        return weekend(days[0], 1)
    return days_of_weekend


def _side(match: re.Match[str]) -> int:
    """-1 before, 1 after, 0 of it."""
    how = (match.groupdict().get("how") or "").lower()
    if how.startswith(("before", "prior", "preceding", "之前", "以前", "前")):
        return -1
    return 1 if how.startswith(("after", "following", "之后", "以后", "后")) else 0


def _adjacent_day(days: Days, match: re.Match[str], _: date) -> Days | None:
    first = shift_days(days[0], -1) if _side(match) < 0 else days[1]
    return _single_day(first)


def _adjacent_weekday(days: Days, match: re.Match[str], _: date) -> Days | None:
    on = WEEKDAYS.index(match["weekday"].lower())
    if _side(match) < 0:
        back = (days[0].weekday() - on) % 7 or 7
        return _single_day(shift_days(days[0], -back))
    return _single_day(shift_days(days[1], (on - days[1].weekday()) % 7))


def _adjacent_units(days: Days, match: re.Match[str], _: date) -> Days | None:
    number, unit = match["number"].lower(), match["unit"].lower()
    many = 2 if "couple" in number else 3 if "few" in number else number_of(number)
    many *= _side(match)
    if unit in ("month", "year"):
        return _single_day(shift_months(days[0], many * (12 if unit == "year" else 1)))
    return _single_day(shift_days(days[0], many * {"day": 1, "night": 1, "week": 7}[unit]))


def _single_day(first: date | None) -> Days | None:
    return (first, first + timedelta(days=1)) if first and first < LAST else None


def _since(days: Days, _: re.Match[str], today: date) -> Days:
    return days[0], _open(days[0], today)


def _after(days: Days, _: re.Match[str], today: date) -> Days:
    return days[1], _open(days[1], today)


def _open(first: date, today: date) -> date:
    after = shift_days(today, 1)
    return after if after and first < after else LAST


def _before(days: Days, _: re.Match[str], __: date) -> Days | None:
    return (FIRST, days[0]) if days[0] > FIRST else None


def _until(days: Days, _: re.Match[str], __: date) -> Days:
    return FIRST, days[1]


ModifierRules = tuple[tuple[re.Pattern[str], DateModifier], ...]


def _before_it(*rules: tuple[str, DateModifier]) -> ModifierRules:
    return tuple((re.compile(rf"(?<![\w'’]){pattern}\s{{0,3}}$", re.IGNORECASE), change) for pattern, change in rules)


def _after_it(*rules: tuple[str, DateModifier]) -> ModifierRules:
    return tuple((re.compile(pattern), change) for pattern, change in rules)


_BEFORE_AFTER = r"(?P<how>before|after|following|prior\sto|preceding)"
SHAPING_BEFORE = _before_it(
    (rf"{_THE}(?:early(?:\sin)?|(?:beginning|start|first\s(?:days|weeks|part))\sof)[\s-]{{1,3}}{_THE}", _early),
    (rf"{_THE}(?:mid|middle\sof)[\s-]{{1,3}}{_THE}", _mid),
    (rf"{_THE}(?:late(?:\sin)?|(?:end|last\s(?:days|weeks|part))\sof)[\s-]{{1,3}}{_THE}", _late),
    (rf"{_THE}(?P<nth>first|second|third|fourth|last)\s(?P<unit>week|weekend)\sof\s{{1,3}}{_THE}", _nth_week),
    (rf"{_THE}week\s(?:(?P<how>before|after|following|prior\sto)|of)\s{{1,3}}{_THE}", _week_of),
    (rf"{_THE}weekend\s(?:(?P<how>before|after|following|prior\sto)|of)\s{{1,3}}{_THE}", _weekend_of),
    (rf"{_THE}(?:day|night|evening)\s{_BEFORE_AFTER}\s{{1,3}}{_THE}", _adjacent_day),
    (rf"{_THE}(?P<weekday>{'|'.join(WEEKDAYS)})\s{_BEFORE_AFTER}\s{{1,3}}{_THE}", _adjacent_weekday),
    (rf"{_NUMBER}\s(?P<unit>day|night|week|month|year)s?\s{_BEFORE_AFTER}\s{{1,3}}{_THE}", _adjacent_units),
)
SHAPING_AFTER = _after_it(
    (r"\s?的?(?:月?初|上旬|早些时候)", _early),
    (r"\s?的?中旬", _mid),
    (r"\s?的?(?:下旬|月?底|月?末)", _late),
    (r"\s?(?P<how>之前|以前|前|之后|以后|后)的?(?:那个|一个)?周末", _weekend_of),
    (r"\s?的?那个?周末", _weekend_of),
    (r"\s?(?P<how>之前|前|之后|后)的?那?一?周", _week_of),
    (r"\s?的?(?:那一?|当)(?:周|个?星期)", _week_of),
    (r"\s?的?(?P<how>前)一天", _adjacent_day),
    (r"\s?的?(?:(?P<how>后)一天|第二天|次日)", _adjacent_day),
)
OPEN_BEFORE = _before_it(
    (r"(?:ever\s)?since\s{0,3}(?:about\s)?(?:the)?", _since),
    (r"after\s{0,3}(?:the)?", _after),
    (r"(?:before|prior\sto)\s{0,3}(?:the)?", _before),
    (r"(?:until|till|up\sto|through|by)\s{0,3}(?:the)?", _until),
)
OPEN_AFTER = _after_it(
    (r"\s?(?:以来|至今|起|开始)", _since),
    (r"\s?(?:以后|之后|过后|后(?!天|来|年))", _after),
    (r"\s?(?:以前|之前|前(?!后|天|夕|年))", _before),
)
ABOUT_BEFORE = re.compile(
    r"(?<!\w)(?:around|about|circa|roughly|approximately|near)\s{1,3}(?:the\s)?$|(?:大约|大概|约)$", re.IGNORECASE
)
ABOUT_AFTER = re.compile(r"\s?(?:前后|左右|附近)")
PLAIN_BEFORE = re.compile(
    r"(?<!\w)(?:in|on|of|during|for|at|over|throughout|within|from|dated|that|all|as\sof)\s{1,3}(?:the\s|all\s)?$|(?:在|于|从|自|是)$",
    re.IGNORECASE,
)
BETWEEN = re.compile(r"(?<!\w)(?:between|from)\s{1,3}(?:the\s)?$|(?:从|自|在)$", re.IGNORECASE)
JOINED = re.compile(
    r"\s{0,3}(?P<by>and|to|until|till|through|[–—~～-]{1,2}|到|至|和|与|跟)\s{0,3}(?:the\s)?", re.IGNORECASE
)
IN_BETWEEN = re.compile(r"\s?(?:之间|间)")
