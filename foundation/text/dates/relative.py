"""Relative dates of a text, written out: `yesterday` of 8 May 2023 is `7 May 2023`, 上周三 of that day 2023年5月3日.

A date is as precise as its phrase: a day, a week, a month or a year. Rough phrases (`a few days ago`) are one step less
precise. Left out are phrases in code, in quotation marks, in quoted lines and on lines that begin with a time stamp,
and all of a sentence that names a date itself.
"""

import re
from datetime import date, datetime, timedelta, tzinfo
from typing import Final

from foundation.text.dates.calendar import FIRST, LAST, MONTH_NAMES, WEEKDAYS
from foundation.text.dates.spans import SIMPLE, DateSpan, entry_spans, mentioned_periods
from foundation.text.sentences import sentences

_ENGLISH: Final = re.compile(
    r"(?:the\s+)?day\s+(?:before\s+yesterday|after\s+tomorrow)|yesterday|tomorrow(?:\s+night)?|last\s+night"
    rf"|(?:last|past|previous|this|next|coming)\s+(?:{'|'.join(WEEKDAYS)})"
    r"|(?:last|previous|next|coming)\s+(?P<unit>week|month|year)|(?:last|past|previous|this|next|coming)\s+(?P<weekend>weekend)"
    rf"|(?P<of_year>(?:last|previous|next|coming)\s+(?:{'|'.join(MONTH_NAMES)}))"
    r"|(?P<rough>a\s+couple(?:\s+of)?|a\s+few|few|several|some)?.*\b(?P<far>day|night|week|weekend|fortnight|month|year)s?"
    r"\s+(?:ago|back|earlier|from\s+(?:now|today))|in\s.*\b(?P<later>day|week|month|year)s?",
    re.IGNORECASE | re.DOTALL,
)
_CHINESE: Final = re.compile(
    r"大?[前后]天|[昨明][天日晚夜]|前晚|[上下][上下]?个?(?:周|星期|礼拜)[一二三四五六日天]|[上下][上下]?个?(?P<weekend>周末)"
    r"|[上下][上下]?一?个?(?:(?P<unit>周|星期|礼拜|月))|(?P<year>大?前年|去年|上一年|明年|后年)"
    r"|(?P<rough>几|好几|数|[一二三四五六七八九两]{2})?[^半]*?(?P<far>天|日|周|星期|礼拜|月|年)之?以?前"
)
_HINT: Final = re.compile(
    r"\b(?:yesterday|tomorrow|last|past|previous|this|next|coming|ago|back|earlier|now|in)\b|[昨明前后後去上下]",
    re.IGNORECASE,
)
_SKIPPED: Final = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|^[ \t]*>.*$|^(?: {4}|\t).*$|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』"
    r"|\"[^\"\n]*\"|^\W{0,3}\d{1,4}[-/.:年]\d{1,2}.*$",
    re.MULTILINE | re.DOTALL,
)
_UNITS: Final = (
    dict.fromkeys("天日", "day") | dict.fromkeys("周期拜", "week") | {"末": "weekend", "月": "month", "年": "year"}
)
_COARSER: Final = {"day": "month", "weekend": "month", "week": "month", "month": "year", "year": ""}
_SAME: Final = {"night": "day", "weekend": "weekend", "fortnight": "week"}


def written_dates(text: str, at: datetime, zone: tzinfo | None = None) -> tuple[tuple[int, str], ...]:
    """The offset behind each relative date of what was said at that moment, and the date in the phrase's language. Days
    are `zone`'s, or the machine's."""
    if not _HINT.search(text):
        return ()
    skipped = [match.span() for match in _SKIPPED.finditer(text.replace("\r", "\n"))]
    found = [
        (span, written)
        for span in entry_spans(text, at, zone)
        if not any(first <= span.at < last for first, last in skipped) and (written := _written(text, span))
    ]
    if not found:
        return ()
    dated = [(part.start, part.end) for part in sentences(text) if _names_a_date(text[: part.end], part.start, found)]
    return tuple((span.to, date) for span, date in found if not any(first <= span.at < end for first, end in dated))


def _names_a_date(text: str, start: int, found: list[tuple[DateSpan, str]]) -> bool:
    """Whether the sentence from `start` on names a date, its relative ones aside."""
    rest, last = "", start
    for span, _ in found:
        if start <= span.at and span.to <= len(text):
            rest, last = f"{rest}{text[last : span.at]} … ", span.to
    return bool(mentioned_periods(rest + text[last:]))


def _written(text: str, span: DateSpan) -> str:
    """The date of the phrase; "" where it is no relative date, or too vague to be written."""
    phrase = text[span.at : span.to].strip()
    is_chinese = not phrase.isascii()
    match = (_CHINESE if is_chinese else _ENGLISH).fullmatch(phrase.translate(SIMPLE) if is_chinese else phrase)
    if match is None or span.start in (FIRST, LAST) or span.end == LAST:
        return ""
    word = next((value for name, value in match.groupdict().items() if value and name != "rough"), "day").lower()
    unit = _UNITS.get(word[-1]) or _SAME.get(word) or ("month" if word.split()[-1] in MONTH_NAMES else word)
    if match["rough"]:
        unit = _COARSER[unit]
        first, last = span.start - timedelta(days=2), span.end + timedelta(days=1)
        if not unit or first.year != last.year or (unit == "month" and first.month != last.month):
            return ""
    return _date_text(span.start, unit, is_chinese=is_chinese)


def _date_text(first: date, unit: str, *, is_chinese: bool) -> str:
    if unit == "week":
        first -= timedelta(days=first.weekday())
    month = MONTH_NAMES[first.month - 1].title()
    day = f"{first.year}年{first.month}月{first.day}日" if is_chinese else f"{first.day} {month} {first.year}"
    match unit:
        case "day":
            return day
        case "week" | "weekend":
            return f"{day}起的{'一周' if unit == 'week' else '周末'}" if is_chinese else f"{unit} of {day}"
        case "month":
            return f"{first.year}年{first.month}月" if is_chinese else f"{month} {first.year}"
        case _:
            return f"{first.year}年" if is_chinese else f"{first.year}"
