"""Dates in English words: `last March`, `two weeks ago`, `the spring of 2024`, `Q3 2025`."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial

from foundation.text.dates.calendar import (
    FEASTS,
    MONTH_NAMES,
    NUMBERS,
    SEASONS,
    WEEKDAYS,
    Days,
    make_day,
    month_number,
    months,
    number_of,
    shift_days,
    shift_months,
    week,
    weekend,
)
from foundation.text.dates.partial import WHICH, PartialDate, resolve_partial

Build = Callable[[re.Match[str], date], PartialDate | None]
"""From what was matched and today's date."""

BLURRED = 15
"""Days around a season: nobody's summer begins on the first of June."""

_S = r"[ \t\n-]{1,3}"
MONTH = r"(?P<month>" + "|".join(f"{name}|{name[:3]}\\b\\.?" for name in MONTH_NAMES) + r"|sept\b\.?)(?![a-z])"
_WEEKDAY = r"(?P<weekday>" + "|".join(WEEKDAYS) + r")"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)(?:time)?\b"
_FEAST = r"(?P<feast>" + "|".join(re.escape(f).replace("'", "['’]?") for f in FEASTS if f.isascii()) + r")(?:\s+day)?\b"
_NUMBER = r"(?P<number>\d{1,3}|" + "|".join(sorted(NUMBERS, key=len, reverse=True)) + r")"
_SOME = rf"(?:(?P<some>a\s+couple(?:\s+of)?|a\s+few|few|several|some)|{_NUMBER})"
_UNIT = r"(?P<unit>day|week|weekend|month|year|decade|night|fortnight|hour|minute)s?\b"
_OF_YEAR = (
    r"(?:,?\s{1,3}(?:of\s+|in\s+)?(?:(?P<year>(?:1[5-9]|2[01])\d\d)\b(?!\s*(?:km|kg|%|files|people))"
    r"|(?P<shift>last|this|next)\s+year\b))"
)
DECADES = "twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties"
_LED_DECADE = r"(?:\bthe\s|(?<=early\s)|(?<=mid[\s-])|(?<=late\s))"
_WHICH = r"(?P<which>last|past|this|next|coming|previous)"
_COUPLE, _FEW = 2, 3
UNITS = {"day": 1, "night": 1, "week": 7, "weekend": 7, "fortnight": 14}
_HOLDS = {"day": 0, "night": 0, "week": 3, "weekend": 3, "fortnight": 4, "month": 15, "year": 120, "decade": 1200}
_YEARS = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1}


def _year(match: re.Match[str], today: date) -> int:
    """The explicit year, 0 without one."""
    groups = match.groupdict()
    if groups.get("year"):
        return int(groups["year"])
    return today.year + _YEARS[groups["shift"].lower()] if groups.get("shift") else 0


def _in_year(
    match: re.Match[str], today: date, of: Callable[[int], Days | None], soft: int, *, needs: bool
) -> PartialDate:
    year = _year(match, today)
    return PartialDate(of(year), soft=soft) if year else PartialDate(None, of, soft, needs)


def _day_of_month(match: re.Match[str], today: date) -> PartialDate:
    of = partial(_month_day, month_number(match["month"]), int(match["day"]))
    return _in_year(match, today, of, 0, needs=False)


def _month_day(month: int, number: int, year: int) -> Days | None:
    return make_day(year, month, number)


def _days_of_month(match: re.Match[str], today: date) -> PartialDate:
    """`July 3 to 7`."""
    month, numbers = month_number(match["month"]), (int(match["day"]), int(match["last"]))

    def of(year: int) -> Days | None:
        first, last = (make_day(year, month, number) for number in numbers)
        return (first[0], last[1]) if first and last and first[0] < last[1] else None

    return _in_year(match, today, of, 0, needs=False)


def _month(match: re.Match[str], today: date) -> PartialDate:
    month = month_number(match["month"])
    return _in_year(match, today, lambda year: months(year, month), 0, needs=True)


def _season(match: re.Match[str], today: date) -> PartialDate:
    first = SEASONS[match["season"].lower()]
    return _in_year(match, today, lambda year: months(year, first, 3), BLURRED, needs=True)


def _feast(match: re.Match[str], today: date) -> PartialDate:
    name = re.sub(r"\s+", " ", match["feast"].lower().replace("’", "'"))
    of = FEASTS.get(name) or FEASTS[name.replace("s eve", "'s eve") if "'" not in name else name]
    return _in_year(match, today, of, 2, needs=False)


def _quarter(match: re.Match[str], today: date) -> PartialDate:
    word = match["quarter"].lower()
    quarter = int(word) if word.isdigit() else ("first", "second", "third", "fourth").index(word) + 1
    return _in_year(match, today, lambda year: months(year, 3 * quarter - 2, 3), 0, needs=False)


def _half(match: re.Match[str], today: date) -> PartialDate:
    first = 1 if (match["half"] or match["half_word"]).lower() in ("1", "first") else 7
    return _in_year(match, today, lambda year: months(year, first, 6), 0, needs=True)


def _calendar(match: re.Match[str], _: date) -> PartialDate | None:
    year, month, number = (int(match[name]) if match[name] else 0 for name in ("year", "number", "day"))
    days = make_day(year, month, number) if number else months(year, month) if 1 <= month <= 12 else None
    return PartialDate(days) if days else None


def _numbers(match: re.Match[str], _: date) -> PartialDate | None:
    """`7/4/2023`: the month first, as in the United States, unless it cannot be; `4.7.2023`: the day first."""
    first, second, year = int(match["one"]), int(match["other"]), int(match["year"])
    month, number = (second, first) if match["mark"] == "." or first > 12 else (first, second)
    days = make_day(year, month, number)
    return PartialDate(days) if days else None


def _decade(match: re.Match[str], _: date) -> PartialDate | None:
    words = DECADES.split("|")
    groups = match.groupdict()
    decade = (groups.get("decade") or "").lower()
    if decade in words:
        first = 1920 + 10 * words.index(decade) if decade != "twenties" else 2020
    elif groups.get("century"):
        first = int(groups["century"] + groups["tens"])
    else:
        first = int(groups["tens"]) + (1900 if int(groups["tens"]) >= 30 else 2000)
    return PartialDate(months(first, 1, 120))


def _bare_year(match: re.Match[str], today: date) -> PartialDate | None:
    """A number of four digits that can be a year which somebody speaks of."""
    return None if int(match["year"]) > today.year + 5 else PartialDate(months(int(match["year"]), 1, 12), needs=True)


def _near(match: re.Match[str], today: date) -> PartialDate | None:
    phrase = re.sub(r"\s+", " ", match[0].lower())
    shift = -2 if "before" in phrase else 2 if "after" in phrase else -1 if phrase in ("yesterday", "last night") else 0
    shift = 1 if phrase in ("tomorrow", "tomorrow night") else shift
    first = shift_days(today, shift)
    return PartialDate((first, first + timedelta(days=1))) if first and first < date.max else None


def _which_unit(match: re.Match[str], today: date) -> PartialDate | None:
    """`last week`, `this month`, `next year`, `the past year`."""
    shift, unit, is_past = _YEARS[match["which"].lower()], match["unit"].lower(), match["which"].lower() == "past"
    if is_past and unit in ("week", "month", "year"):
        return _back(1, unit, today)
    days = None
    if unit == "week":
        days = week(today, shift)
    elif unit == "weekend":
        saturday = weekend(today)
        ended = saturday is not None and saturday[1] <= today
        days = weekend(today, shift + (ended if shift < 0 else 0))
    elif unit == "month":
        days = months(today.year, today.month + shift)
    elif unit == "quarter":
        days = months(today.year, 3 * ((today.month - 1) // 3) + 1 + 3 * shift, 3)
    elif unit == "year":
        days = months(today.year + shift, 1, 12)
    elif unit == "decade":
        days = months(today.year // 10 * 10 + 10 * shift, 1, 120)
    return PartialDate(days, soft=1 if unit in ("week", "weekend") else 0) if days else None


def _last_few(match: re.Match[str], today: date) -> PartialDate | None:
    """`the last three months`, `the past few weeks`: up to today. `next` from today on."""
    many, unit = _many(match), match["unit"].lower()
    if match["which"].lower() in ("next", "coming"):
        after = _moved(today, many, unit)
        return PartialDate((today, after)) if after else None
    return _back(many, unit, today, 2 if match["some"] else 0)


def _back(many: int, unit: str, today: date, soft: int = 0) -> PartialDate | None:
    first, after = _moved(today, -many, unit), shift_days(today, 1)
    return PartialDate((first, after), soft=soft * _HOLDS.get(unit, 0)) if first and after else None


def _ago(match: re.Match[str], today: date) -> PartialDate | None:
    return _at_distance(-_many(match), match, today)


def _from_now(match: re.Match[str], today: date) -> PartialDate | None:
    return _at_distance(_many(match), match, today)


def _at_distance(many: int, match: re.Match[str], today: date) -> PartialDate | None:
    unit = match["unit"].lower()
    first = _moved(today, many, unit)
    after = shift_days(first, 1) if first else None
    if not first or not after:
        return None
    soft = max(_HOLDS.get(unit, 0), abs(many) // 7 if unit in ("day", "night") else 0)
    if match["some"]:
        soft = max(2 * soft, 2 if unit == "day" else 0)
    return PartialDate((first, after), soft=soft)


def _many(match: re.Match[str]) -> int:
    if match["some"]:
        return _COUPLE if "couple" in match["some"].lower() else _FEW
    return number_of(match["number"])


def _moved(today: date, many: int, unit: str) -> date | None:
    if unit in UNITS:
        return shift_days(today, many * UNITS[unit])
    if unit in ("hour", "minute"):
        return today
    return shift_months(today, many * {"month": 1, "year": 12, "decade": 120}[unit])


def _half_ago(match: re.Match[str], today: date) -> PartialDate | None:
    first = shift_months(today, -6)
    return PartialDate((first, first + timedelta(days=1)), soft=30) if first else None


def _weekday(match: re.Match[str], today: date) -> PartialDate | None:
    """`last Tuesday` is the latest before today, `next Tuesday` the first after it, `on Tuesday` the latest."""
    which = (match["which"] or "").lower()
    back = (today.weekday() - WEEKDAYS.index(match["weekday"].lower())) % 7
    if which in ("last", "past", "previous"):
        shift = -(back or 7)
    elif which in ("next", "coming"):
        shift = 7 - back
    else:
        shift = -back if not which else WEEKDAYS.index(match["weekday"].lower()) - today.weekday()
    first = shift_days(today, shift)
    return PartialDate((first, first + timedelta(days=1)), needs=not which) if first and first < date.max else None


def _which_of_year(match: re.Match[str], today: date) -> PartialDate | None:
    """`last March`, `this summer`, `next Christmas`."""
    build = _month if match["month"] else _season if match["season"] else _feast
    part = build(match, today)
    days = resolve_partial(part, today, WHICH[match["which"].lower()])
    return PartialDate(days, soft=part.soft) if days else None


RULES: tuple[tuple[re.Pattern[str], Build], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), build)
    for pattern, build in (
        (r"(?<![\d.-])(?P<year>(?:1[5-9]|2[01])\d\d)-(?P<number>\d{1,2})(?:-(?P<day>\d{1,2}))?(?![\d-])", _calendar),
        (
            r"(?<![\d/.])(?P<one>\d{1,2})(?P<mark>[/.])(?P<other>\d{1,2})(?P=mark)(?P<year>(?:19|20)\d\d)"
            r"(?![\d/.]\d)",
            _numbers,
        ),
        (
            rf"\b{MONTH}\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s?(?:to|until|through|[-–—])\s?"
            rf"(?P<last>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:/-]){_OF_YEAR}?",
            _days_of_month,
        ),
        (rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?{_S}{MONTH}{_OF_YEAR}?", _day_of_month),
        (rf"\b{MONTH}{_S}(?:the\s)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:]){_OF_YEAR}?", _day_of_month),
        (rf"\b{_WHICH}{_S}(?:{MONTH}|{_SEASON}|{_FEAST})", _which_of_year),
        (rf"\b{_FEAST}{_OF_YEAR}?", _feast),
        (rf"\b{MONTH}{_OF_YEAR}?", _month),
        (rf"\b{_SEASON}{_OF_YEAR}?", _season),
        (r"\b(?P<year>(?:19|20)\d\d)\s{0,2}q(?P<quarter>[1-4])\b", _quarter),
        (rf"\bq(?P<quarter>[1-4])\b{_OF_YEAR}?", _quarter),
        (rf"\b(?:the\s+)?(?P<quarter>first|second|third|fourth)\s+quarter\b{_OF_YEAR}?", _quarter),
        (rf"\b(?:h(?P<half>[12])|(?:the\s+)?(?P<half_word>first|second)\s+half){_OF_YEAR}", _half),
        (r"\b(?:the\s+)?(?P<century>1[89]|20)(?P<tens>\d0)['’]?s\b", _decade),
        (rf"{_LED_DECADE}['’]?(?P<tens>\d0)['’]?s\b", _decade),
        (rf"{_LED_DECADE}(?P<decade>{DECADES})\b", _decade),
        (r"\b(?:the\s+)?day\s+before\s+yesterday\b|\b(?:the\s+)?day\s+after\s+tomorrow\b", _near),
        (r"\byesterday\b|\blast\s+night\b|\btomorrow(?:\s+night)?\b|\btoday\b|\btonight\b", _near),
        (r"\bthis\s+(?:morning|afternoon|evening)\b", _near),
        (rf"\b{_WHICH}{_S}(?P<unit>week|weekend|month|quarter|year|decade)\b(?!\s+of\b)", _which_unit),
        (rf"\bearlier\s+(?P<which>this){_S}(?P<unit>week|month|year)\b", _which_unit),
        (rf"\b(?P<which>last|past|next|coming){_S}{_SOME}\s+{_UNIT}", _last_few),
        (r"\bhalf\s+a\s+year\s+ago\b", _half_ago),
        (rf"\b{_SOME}\s+{_UNIT}\s+(?:ago|back|earlier)\b", _ago),
        (rf"\bin\s+{_SOME}\s+{_UNIT}(?=\s{{0,3}}(?:[.,;!?]|$))", _from_now),
        (rf"\b{_SOME}\s+{_UNIT}\s+from\s+(?:now|today)\b", _from_now),
        (rf"\b(?:{_WHICH}{_S})?{_WEEKDAY}\b", _weekday),
        (r"(?<![\w.,/-])(?P<year>(?:19|20)\d\d)(?![\w/-]|[.,:]\d)", _bare_year),
    )
)
