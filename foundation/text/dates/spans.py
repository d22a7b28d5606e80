"""Dates and spans in words, in English and in Chinese, resolved against a moment.

    spans("What did we plan last March?", now)      # the March that has ended last
    said("I went yesterday", entry.time)            # the day before the entry's own

Each text is read once for each form of date, and around each date a few words: the time is linear in its length.

Dates: those that a text speaks of, and those that a person types for a filter.
"""

import re
from datetime import UTC, date, datetime, time, tzinfo

from msgspec import Struct
from msgspec.structs import replace

from foundation.text.dates import chinese, english, modifiers
from foundation.text.dates.calendar import FEASTS, FIRST, LAST, MONTH_NAMES, SEASONS, WEEKDAYS, Days, shift_days
from foundation.text.dates.filter_dates import parse_moment
from foundation.text.dates.partial import DateMatch, PartialDate, YearChooser, latest, nearest, resolve_partial

_MONTH = r"(?P<month>" + "|".join(f"{name}|{name[:3]}\\.?" for name in MONTH_NAMES) + r"|sept\.?)"
_PERIODS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<year>\d{4})-(?P<number>\d{1,2})(?:-(?P<day>\d{1,2}))?\b",
        r"(?P<year>\d{4})\s{0,2}年(?:\s{0,2}(?P<number>\d{1,2})\s{0,2}月(?:\s{0,2}(?P<day>\d{1,2})\s{0,2}[日号號])?)?",
        r"(?P<number>\d{1,2})\s{0,2}月(?:\s{0,2}(?P<day>\d{1,2})\s{0,2}[日号號])?",
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+{_MONTH}(?![a-z])(?:,?\s+(?P<year>\d{{4}}))?",
        rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(?P<year>\d{{4}}))?",
        rf"\b{_MONTH}(?![a-z]),?\s+(?P<year>\d{{4}})\b",
        rf"\b(?:in|of|since|during|last|this|by|early|late|mid)[\s-]+{_MONTH}(?![a-z])",
        r"\b(?:in|since|during|by)\s+(?P<year>(?:19|20)\d{2})\b",
    )
]
SIMPLE = str.maketrans(
    "週兩個號後國慶聖誕節勞動禮這過間幾數臘時開長黃雙萬兒從當來約裡裏約鐘",
    "周两个号后国庆圣诞节劳动礼这过间几数腊时开长黄双万儿从当来约里里约钟",
)
_MOST = 64  # dates of one text: what names more is a table
_LONGEST = 20_000  # characters of a text that are read
_LEAD = re.compile(r"^(?:(?:in|on|during|the)\s+){1,3}", re.IGNORECASE)
_DATE_WORDS = frozenset(
    (
        *(word for name in MONTH_NAMES for word in (name, name[:3])),
        *WEEKDAYS,
        *(word for name in FEASTS for word in re.findall(r"[a-z]{3,}", name)),
        *(word for name in SEASONS for word in (name, f"{name}time")),
        *english.DECADES.split("|"),
        *(f"{unit}{ending}" for unit in (*english.UNITS, "hour", "minute", "year", "decade") for ending in ("", "s")),
        *("sept", "yesterday", "today", "tonight", "tomorrow", "morning", "afternoon", "evening", "valentines"),
        *("month", "months", "quarter", "half"),
    )
)
_DATE_DIGITS = re.compile(r"\d{4}|\d[/.]\d|\d0['’]?s|[qh][1-4]", re.IGNORECASE)
_HAN_DATE = re.compile(
    r"[年月日天周晚夜早晨春夏秋冬季节]|星期|礼拜|小时|分钟|[金假]周|国庆|五一|十一|元旦|圣诞|清明|除夕|元宵|端午"
)
_ANY_DAY = date(2100, 1, 1)  # for where the dates stand, and not which days they are
_CHAINED = 3  # modifiers of one date: `the week before the end of March`


class Period(Struct, frozen=True):
    """A year, month or day, as far as it is given."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


class DateMention(Struct, frozen=True):
    """A date in a text, and its span."""

    period: Period
    start: int
    end: int


class DateSpan(Struct, frozen=True):
    """A stretch of days that a text speaks of.

    `start` is its first day, `end` the day after its last; FIRST or LAST of `calendar` where it is open. `soft` are
    days around it that may be meant as well. `at` and `to` are where it stands in the text, in characters. `yearless`:
    no year was said, and this is the latest, or for what was said in an entry the nearest; `mentioned_periods` has it
    too.
    """

    start: date
    end: date
    soft: int = 0
    at: int = 0
    to: int = 0
    yearless: bool = False

    @property
    def days(self) -> int:
        """How long it is."""
        return (self.end - self.start).days


def question_spans(text: str, now: datetime, zone: tzinfo | None = None) -> tuple[DateSpan, ...]:
    """What a question of that moment speaks of, in the order of the text. Days are `zone`'s, or the machine's."""
    return _read(text, local_day(now, zone), latest)


def entry_spans(text: str, at: datetime, zone: tzinfo | None = None) -> tuple[DateSpan, ...]:
    """What an entry of that moment speaks of: its `yesterday` is the day before it, its `in July` the nearest one."""
    return _read(text, local_day(at, zone), nearest)


def parse_span(text: str, now: datetime, zone: tzinfo | None = None) -> DateSpan | None:
    """The span that the text is, and says nothing else: what a person types for a filter. Else None."""
    text = f"in the {_LEAD.sub('', text.strip())}"
    spans = _read(text, local_day(now, zone), latest)
    if len(spans) != 1:
        return None
    rest = text[: spans[0].at] + text[spans[0].to :]
    return spans[0] if rest.strip(" .,。，") in ("in", "in the") else None


def span_bounds(span: DateSpan, zone: tzinfo | None = None) -> tuple[datetime, datetime]:
    """Its first moment and the first one after it, in UTC."""
    return _midnight(span.start, zone), _midnight(span.end, zone)


def widened(span: DateSpan) -> DateSpan:
    """The span with the days around it that may be meant as well."""
    if FIRST in (span.start, span.end) or LAST in (span.start, span.end):
        return span
    start, end = shift_days(span.start, -span.soft), shift_days(span.end, span.soft)
    return replace(span, start=start or FIRST, end=end or LAST)


def local_day(moment: datetime, zone: tzinfo | None) -> date:
    """The local day of a moment in that zone. A moment without a zone is local already."""
    return moment.astimezone(zone).date() if moment.tzinfo else moment.date()


def _midnight(day: date, zone: tzinfo | None) -> datetime:
    if day in (FIRST, LAST):  # in any zone but its own it would be beyond the calendar
        return datetime.combine(day, time(), UTC)
    return datetime.combine(day, time(), zone).astimezone(UTC)


def _read(text: str, today: date, which: YearChooser) -> tuple[DateSpan, ...]:
    text = text[:_LONGEST] if text.isascii() else text[:_LONGEST].translate(SIMPLE)
    if not _may_name_dates(text):
        return ()
    parts = sorted(_parts(text, today), key=lambda placed: placed.at)[:_MOST]
    spans: list[DateSpan] = []
    index = 0
    while index < len(parts):
        after = parts[index + 1] if index + 1 < len(parts) else None
        if after and (span := _joined(text, parts[index], after, today, which)):
            spans.append(span)
            index += 2
            continue
        if span := _single(text, parts[index], today, which):
            spans.append(span)
        index += 1
    return tuple(spans)


def _may_name_dates(text: str) -> bool:
    """A quick look for any word that a date has: most texts have none, and need no search by each form of date."""
    if _DATE_DIGITS.search(text) or not _DATE_WORDS.isdisjoint(re.findall(r"[a-z]+", text.lower())):
        return True
    return not text.isascii() and _HAN_DATE.search(text) is not None


def names_holiday(text: str) -> bool:
    """Whether the text is the name of a holiday and nothing else, its year aside."""
    text = _LEAD.sub("", text.translate(SIMPLE).strip().lower().replace("’", "'"))
    return any(text.startswith(name) for name in FEASTS)


def _parts(text: str, today: date) -> list[DateMatch]:
    """The dates in order of the text, each span matched once, by the first rule that fits."""
    covered, matches = bytearray(len(text)), list[DateMatch]()
    for pattern, build in (*english.RULES, *(() if text.isascii() else chinese.RULES)):
        for match in pattern.finditer(text):
            at, to = match.span()
            if at == to or any(covered[at:to]):
                continue
            part = build(match, today)
            if part and (part.days or part.of) and _is_meant(part, match):
                covered[at:to] = b"\1" * (to - at)
                matches.append(DateMatch(part, at, to))
    return matches


def _is_meant(part: PartialDate, match: re.Match[str]) -> bool:
    """`may`, `march` and `fall` in small letters are times only after a word that says so."""
    return not part.needs or match[0].lower() not in ("may", "march", "fall") or match[0][0].isupper() or _is_led(match)


def _is_led(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 12) : match.start()]
    return (
        re.search(r"\b(?:in|since|early|late|mid|of|and|to|from|until|between)[\s-]+$", before, re.IGNORECASE)
        is not None
    )


def _single(text: str, placed: DateMatch, today: date, which: YearChooser) -> DateSpan | None:
    shaped = _shaped(text, placed, today, which)
    if shaped is None:
        return None
    span, is_explicit = shaped
    opened = _changed(text, span, modifiers.OPEN_BEFORE, modifiers.OPEN_AFTER, today)
    if opened:
        return opened
    if about := _about(text, span):
        return about
    before = text[max(0, span.at - modifiers.BESIDE) : span.at]
    return span if is_explicit or modifiers.PLAIN_BEFORE.search(before) else None


def _shaped(text: str, placed: DateMatch, today: date, which: YearChooser) -> tuple[DateSpan, bool] | None:
    """With what narrows it, and whether it is a date for certain."""
    days = resolve_partial(placed.part, today, which)
    if days is None:
        return None
    span = DateSpan(*days, placed.part.soft, placed.at, placed.to, placed.part.days is None)
    is_explicit = not placed.part.needs
    for _ in range(_CHAINED):
        changed = _changed(text, span, modifiers.SHAPING_BEFORE, modifiers.SHAPING_AFTER, today)
        if changed is None:
            break
        span, is_explicit = changed, True
    return span, is_explicit


def _changed(
    text: str, span: DateSpan, before: modifiers.ModifierRules, after: modifiers.ModifierRules, today: date
) -> DateSpan | None:
    """The date as its modifiers change it; None where they do not."""
    start = max(0, span.at - modifiers.BESIDE)
    left, right = text[start : span.at], text[span.to : span.to + modifiers.BESIDE]
    for pattern, change in before:
        if (match := pattern.search(left)) and (days := change((span.start, span.end), match, today)):
            return DateSpan(*days, _softer(span, days), start + match.start(), span.to, span.yearless)
    for pattern, change in after:
        if (match := pattern.match(right)) and (days := change((span.start, span.end), match, today)):
            return DateSpan(*days, _softer(span, days), span.at, span.to + match.end(), span.yearless)
    return None


def _softer(span: DateSpan, days: Days) -> int:
    """What is part of a month or more has no sharp ends."""
    length = (days[1] - days[0]).days
    is_part = length < span.days and length > 7
    return max(span.soft, min(length // 3, 120)) if is_part else span.soft


def _about(text: str, span: DateSpan) -> DateSpan | None:
    softer = span.soft + max(3, span.days // 3)
    before = modifiers.ABOUT_BEFORE.search(text[max(0, span.at - modifiers.BESIDE) : span.at])
    if before:
        at = span.at - len(before[0])
        return DateSpan(span.start, span.end, softer, at, span.to, span.yearless)
    if after := modifiers.ABOUT_AFTER.match(text, span.to):
        return DateSpan(span.start, span.end, softer, span.at, after.end(), span.yearless)
    return None


def _joined(text: str, begin: DateMatch, end: DateMatch, today: date, which: YearChooser) -> DateSpan | None:
    """`between March and May`, `from 2019 to 2021`, 三月到五月."""
    years = _years_of_two(begin.part, end.part, today, which)
    if years is None:
        return None
    first = _shaped(text, begin._replace(part=begin.part._replace(days=years[0], of=None)), today, which)
    second = _shaped(text, end._replace(part=end.part._replace(days=years[1], of=None)), today, which)
    if first is None or second is None or first[0].to > second[0].at:
        return None
    joint = modifiers.JOINED.fullmatch(text, first[0].to, second[0].at)
    led = modifiers.BETWEEN.search(text[max(0, first[0].at - modifiers.BESIDE) : first[0].at])
    closed = modifiers.IN_BETWEEN.match(text, second[0].to)
    if not joint or first[0].start >= second[0].end or not _holds_together(joint["by"], led, closed, first, second):
        return None
    at = first[0].at - len(led[0]) if led else first[0].at
    to = closed.end() if closed else second[0].to
    yearless = begin.part.days is None and end.part.days is None
    return DateSpan(first[0].start, second[0].end, max(first[0].soft, second[0].soft), at, to, yearless)


def _holds_together(
    by: str, led: re.Match[str] | None, closed: re.Match[str] | None, *two: tuple[DateSpan, bool]
) -> bool:
    if by.lower() in ("and", "和", "与", "跟"):
        return closed is not None or (led is not None and led[0].lower().startswith("between"))
    return led is not None or closed is not None or all(is_explicit for _, is_explicit in two)


def _years_of_two(begin: PartialDate, end: PartialDate, today: date, which: YearChooser) -> tuple[Days, Days] | None:
    """The days of both ends: a year given at one end applies to the other."""
    if begin.days and end.days:
        return begin.days, end.days
    if begin.of and end.days:
        candidates = [days for year in (end.days[0].year, end.days[0].year - 1) if year and (days := begin.of(year))]
        return next(((days, end.days) for days in candidates if days[0] <= end.days[0]), None)
    first = resolve_partial(begin, today, which)
    if first is None or end.of is None:
        return None
    years = [year for year in (first[0].year, first[0].year + 1) if year < LAST.year]
    second = next((days for year in years if (days := end.of(year)) and days[0] >= first[0]), None)
    return (first, second) if second else None


def without_dates(text: str) -> str:
    """The text without the dates that it names; holidays stay."""
    for span in reversed(_read(text, _ANY_DAY, latest)):
        if not names_holiday(text[span.at : span.to]):
            text = f"{text[: span.at].rstrip()} {text[span.to :].lstrip()}"
    return text.strip()


__all__ = [
    "DateMention",
    "DateSpan",
    "Period",
    "entry_spans",
    "local_day",
    "mentioned_periods",
    "names_holiday",
    "parse_moment",
    "question_spans",
    "span_bounds",
    "widened",
    "without_dates",
]


def mentioned_periods(text: str) -> tuple[DateMention, ...]:
    """The dates that a text speaks of, with or without a year. `question_spans` resolves those that need today's
    date."""
    mentions: list[DateMention] = []
    covered = bytearray(len(text))
    for pattern in _PERIODS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(covered[start:end]) or not (period := _period(match.groupdict())):
                continue
            covered[start:end] = b"\1" * (end - start)
            mentions.append(DateMention(period, start, end))
    return tuple(mentions)


def _period(groups: dict[str, str | None]) -> Period | None:
    year, number, day = (int(groups.get(name) or 0) for name in ("year", "number", "day"))
    name = (groups.get("month") or "").lower()[:3]
    month = number or next(
        (number_of_month for number_of_month, full in enumerate(MONTH_NAMES, 1) if name and full.startswith(name)), 0
    )
    if month > 12 or day > 31 or not (year or month):
        return None
    return Period(year or None, month or None, day or None)
