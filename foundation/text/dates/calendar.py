"""The calendar and its words: months, weekdays, seasons, feasts and numbers, in English and in Chinese."""

import calendar
from collections.abc import Callable, Sequence
from datetime import date, timedelta

Days = tuple[date, date]
"""A first day, and the day after the last."""

OfYear = Callable[[int], Days | None]
"""What recurs each year: its days in a year, None where it has none or none is known."""

FIRST, LAST = date.min, date.max
"""The ends of what is open."""

MONTH_NAMES: Sequence[str] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
WEEKDAYS: Sequence[str] = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}
NUMBERS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
    )
} | {"a": 1, "an": 1, "fifteen": 15, "twenty": 20, "thirty": 30}
_DIGITS = {digit: number for number, digit in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}

_NEW_YEAR = (  # the Chinese New Year, 2000 to 2040: month and day
    "205 124 212 201 122 209 129 218 207 126 214 203 123 210 131 219 208 128 216 205 125 212 201 122 210 129 217 206"
    " 126 213 203 123 211 131 219 208 128 215 204 124 212"
)
_MID_AUTUMN = "924 913 1001 921 910 929 917 1006 925 915 1003 922 912"  # 2018 to 2030
_DRAGON_BOATS = "618 607 625 614 603 622 610 531 619 609 528 616 605"  # 2018 to 2030


def month_number(name: str) -> int:
    """1 for `Jan.`, 9 for `sept`."""
    return next(number for number, full in enumerate(MONTH_NAMES, 1) if full.startswith(name.lower()[:3]))


def number_of(word: str) -> int:
    """Of digits, of an English word, or of a Chinese one up to 99; of a year's four digits too. 0 where it is none."""
    word = word.lower()
    if word.isdecimal():
        return int(word)
    if word in NUMBERS:
        return NUMBERS[word]
    if len(word) == 4 and all(letter in _DIGITS for letter in word):
        return int("".join(str(_DIGITS[letter]) for letter in word))
    word = word.replace("廿", "二十").replace("卅", "三十")
    tens, ten, ones = word.partition("十")
    if any(letter not in _DIGITS for letter in tens + ones) or len(tens) > 1 or len(ones) > 1:
        return 0
    if not ten:
        return _DIGITS[tens] if tens else 0
    return 10 * (_DIGITS[tens] if tens else 1) + (_DIGITS[ones] if ones else 0)


def make_day(year: int, month: int, number: int) -> Days | None:
    try:
        first = date(year, month, number)
        return first, first + timedelta(days=1)
    except (ValueError, OverflowError):
        return None


def months(year: int, month: int, count: int = 1) -> Days | None:
    """So many whole months from that one on; `month` may lie outside of 1 to 12."""
    first, after = _first_of(year, month), _first_of(year, month + count)
    return (first, after) if first and after else None


def week(of: date, weeks: int = 0) -> Days | None:
    """The week from Monday on that holds the day, or one so many weeks from it."""
    first = shift_days(of, 7 * weeks - of.weekday())
    after = shift_days(first, 7) if first else None
    return (first, after) if first and after else None


def weekend(of: date, weeks: int = 0) -> Days | None:
    """Saturday and Sunday of that week."""
    days = week(of, weeks)
    return (days[1] - timedelta(days=2), days[1]) if days else None


def shift_days(from_day: date, days: int) -> date | None:
    """None beyond what a calendar holds."""
    try:
        return from_day + timedelta(days=days)
    except OverflowError:
        return None


def shift_months(from_day: date, count: int) -> date | None:
    """The same day so many months on; the last of the month where it has no such day."""
    first = _first_of(from_day.year, from_day.month + count)
    return first and first.replace(day=min(from_day.day, calendar.monthrange(first.year, first.month)[1]))


def _first_of(year: int, month: int) -> date | None:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return date(year, month, 1) if 1 <= year <= LAST.year else None


def _fixed(month: int, number: int, days: int = 1) -> OfYear:
    def of(year: int) -> Days | None:
        found = make_day(year, month, number)
        return found and (found[0], found[0] + timedelta(days=days)) if year < LAST.year else None

    return of


def _nth(month: int, weekday: int, nth: int) -> OfYear:
    """The nth weekday of a month; -1 is the last."""

    def of(year: int) -> Days | None:
        if not 1 <= year < LAST.year:
            return None
        days = [number for number in calendar.Calendar().itermonthdays2(year, month) if number[0]]
        found = [number for number, on in days if on == weekday]
        return make_day(year, month, found[nth if nth < 0 else nth - 1])

    return of


def _listed(since: int, days: str, shift: int = 0, count: int = 1) -> OfYear:
    """A feast of another calendar, by a table."""
    table = [divmod(int(listed), 100) for listed in days.split()]

    def of(year: int) -> Days | None:
        if not since <= year < since + len(table):
            return None
        first = date(year, *table[year - since]) + timedelta(days=shift)
        return first, first + timedelta(days=count)

    return of


def _easter(year: int) -> Days | None:
    """By Butcher's rule, in the Gregorian calendar."""
    if not 1583 <= year < LAST.year:
        return None
    a, b, c = year % 19, year // 100, year % 100
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    m = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    month, number = divmod(h + m - 7 * ((a + 11 * h + 22 * m) // 451) + 114, 31)
    return make_day(year, month, number + 1)


FEASTS: dict[str, OfYear] = {
    "christmas eve": _fixed(12, 24),
    "christmas": _fixed(12, 24, 3),
    "new year's eve": _fixed(12, 31),
    "new year's": _fixed(1, 1),
    "valentine's": _fixed(2, 14),
    "halloween": _fixed(10, 31),
    "independence day": _fixed(7, 4),
    "fourth of july": _fixed(7, 4),
    "4th of july": _fixed(7, 4),
    "thanksgiving": _nth(11, 3, 4),
    "labor day": _nth(9, 0, 1),
    "memorial day": _nth(5, 0, -1),
    "mother's day": _nth(5, 6, 2),
    "father's day": _nth(6, 6, 3),
    "easter": _easter,
    "国庆": _fixed(10, 1, 7),
    "十一黄金周": _fixed(10, 1, 7),
    "五一": _fixed(5, 1, 5),
    "劳动节": _fixed(5, 1, 5),
    "元旦": _fixed(1, 1),
    "跨年": _fixed(12, 31, 2),
    "圣诞": _fixed(12, 24, 3),
    "平安夜": _fixed(12, 24),
    "情人节": _fixed(2, 14),
    "清明": _fixed(4, 4, 3),
    "儿童节": _fixed(6, 1),
    "双十一": _fixed(11, 11),
    "万圣节": _fixed(10, 31),
    "春节": _listed(2000, _NEW_YEAR, 0, 7),
    "除夕": _listed(2000, _NEW_YEAR, -1),
    "过年": _listed(2000, _NEW_YEAR, -1, 8),
    "元宵": _listed(2000, _NEW_YEAR, 14),
    "中秋": _listed(2018, _MID_AUTUMN),
    "端午": _listed(2018, _DRAGON_BOATS),
}
"""Feasts with their days. Those of the Chinese calendar are known for the years of the tables."""
