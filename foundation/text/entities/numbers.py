"""Entities with a number: dates as far as they are given, money, flights, versions.

A number is looked at with a few characters before and after it. `2026-03-01` is also 2026-03, 2026 and 03-01, as each
is asked for; `¥300` is yuan or yen, and found as either.

How far the rules look.

Two-character codes of airlines.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

from foundation.lazy_pattern import lazy_pattern

MOST_PLACES = 50_000
"""Places of one text that a rule looks at: more numbers or names than a long book has are a table, and are found by
their words."""


def split_names(names: str) -> frozenset[str]:
    """The names of a list that is written with blanks between them."""
    return frozenset(names.split())


def find_matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches of the pattern, up to a limit."""
    return islice(pattern.finditer(text), MOST_PLACES)


CLEAR: Final = split_names(
    "BA CA MU CZ UA DL LH AF KL EK QR QF SQ CX JL NH KE OZ TK LX IB AY SK SU EY TG VN NZ HU WN EI JQ KQ AA MH"
)
"""Airlines whose code and three digits mean nothing else."""

AIRLINES: Final = CLEAR | split_names(
    "AC AI AK AM AS AT AV AZ B6 BI BR BT CI CM D7 DY ET F9 FJ FM FR FZ G3 GA GF GS HA HO HX HY IX JD JO JU KC KM KN KU"
    " KX LA LO LY MD ME MF MK MS NK NS OD OS PC PG PK PR PX PY QW QZ RJ RO S7 SA SC SN SV TN TO TP TR TV U2 UL UX VA VJ"
    " VS VY W6 WB WF WS WY XJ XQ ZH 3K 3U 5J 6E 8L 9C"
)


_NUMBER = lazy_pattern(r"[0-9](?:[0-9,.:/\-]*[0-9])?")
_LONGEST = 32
_BEFORE, _AFTER = 24, 16  # characters that are looked at around a number

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}
_VERBS = frozenset({"may", "march", "mar"})
_MONTH_BEFORE = lazy_pattern(r"(?<![A-Za-z])([A-Za-z]{3,9})\.? ?$")
_MONTH_AFTER = lazy_pattern(
    r"(?:st|nd|rd|th)?(?: of)?[ -]([A-Za-z]{3,9})(?![A-Za-z])\.?(?:,?[ -]([12][0-9]{3})(?!\d))?"
)
_THEN_YEAR = lazy_pattern(r"(?:st|nd|rd|th)?,? ([12][0-9]{3})(?![\d-])")
_AFTER_DAY = lazy_pattern(r"(?:st|nd|rd|th)?(?![\w%])(?! ?(?:%|percent|times|people|years|days|hours|minutes|km|kg))")
_WITH_YEAR = lazy_pattern(r"([12]\d{3})([-/.])(\d{1,2})(?:\2(\d{1,2}))?")
_YEAR_BEFORE = lazy_pattern(r"(?:^|[\s(])(?:in|since|by|of|until|till|before|after|during|year|from) $", re.IGNORECASE)
_HAN_DATE = lazy_pattern(r"(\d{4}) ?年(?: ?(\d{1,2}) ?月(?: ?(\d{1,2}) ?[日号])?)?|(\d{1,2}) ?月 ?(\d{1,2}) ?[日号]")
_YEARS = range(1800, 2200)

_SIGNS = {
    "$": ("usd",),
    "€": ("eur",),
    "£": ("gbp",),
    "¥": ("cny", "jpy"),
    "￥": ("cny", "jpy"),
    "₩": ("krw",),
    "₹": ("inr",),
}
_BESIDE = frozenset("$€£¥￥₩₹.,-")
_SIGN_BEFORE = lazy_pattern(r"(?:(?<![A-Za-z])(US|CA|C|AU|A|HK|NZ|SG|S|NT|CN|JP))?([$€£¥￥₩₹]) ?$")
_OTHER_DOLLARS = {
    "CA": "cad",
    "C": "cad",
    "AU": "aud",
    "A": "aud",
    "HK": "hkd",
    "NZ": "nzd",
    "SG": "sgd",
    "S": "sgd",
    "NT": "twd",
}
_CODES = "usd eur gbp cny rmb jpy krw inr chf cad aud hkd nzd sgd twd sek nok dkk".split()  # noqa: SIM905
CURRENCIES = frozenset(_CODES) - {"rmb"}
_WORDS = {
    **{code: code for code in _CODES},
    "rmb": "cny",
    "dollar": "usd",
    "dollars": "usd",
    "bucks": "usd",
    "euro": "eur",
    "euros": "eur",
    "yuan": "cny",
    "yen": "jpy",
    "francs": "chf",
    "rupees": "inr",
    "元": "cny",
    "块": "cny",
    "人民币": "cny",
    "美元": "usd",
    "美金": "usd",
    "欧元": "eur",
    "英镑": "gbp",
    "日元": "jpy",
    "日圆": "jpy",
    "港币": "hkd",
    "港元": "hkd",
    "円": "jpy",
}
_TIMES = {
    "k": 1e3,
    "m": 1e6,
    "bn": 1e9,
    "b": 1e9,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "百": 1e2,
    "千": 1e3,
    "万": 1e4,
    "亿": 1e8,
}
_SCALE = lazy_pattern(r" ?(?:(k|m|bn|b)(?![A-Za-z])|(thousand|million|billion)\b|([百千万亿]))", re.IGNORECASE)
_CURRENCY = lazy_pattern(
    r" ?(?:(usd|eur|gbp|cny|rmb|jpy|krw|inr|chf|cad|aud|hkd|nzd|sgd|twd|sek|nok|dkk|dollars?|bucks|euros?|yuan|yen"
    r"|francs|rupees)(?![A-Za-z])|(美元|美金|欧元|英镑|日元|日圆|港币|港元|人民币|元|円|块(?=钱|[，。！？,.!?\s]|$)))",
    re.IGNORECASE,
)
_CODE_BEFORE = lazy_pattern(r"(?<![A-Za-z])(USD|EUR|GBP|CNY|RMB|JPY|CHF|CAD|AUD|HKD|SGD) ?$")
_AMOUNT = lazy_pattern(r"\d+(?:\.\d+)?|\d{1,3}(?:,\d{3})+(?:\.\d+)?")

_FLIGHT_BEFORE = lazy_pattern(r"(?<![A-Za-z0-9])(?:([A-Z]{2}|[A-Z][0-9])([ -]?)|([a-z]{2}|[a-z][0-9]))$")
_FLIGHT_TALK = lazy_pattern(
    r"flight|\bfl[iy]|boarding|airline|\bgate\b|check[- ]?in|航班|飞机|登机|值机|航空", re.IGNORECASE
)
_LETTER_AFTER = lazy_pattern(r"[A-Za-z_]|[.-]?\d")

_VERSION_BEFORE = lazy_pattern(r"(?:(?<![A-Za-z0-9])[vV]|\b(?:version|release)s? |版本 ?)$", re.IGNORECASE)
_SOFTWARE = split_names(
    "python node nodejs java php ruby perl go golang rust swift kotlin scala django flask fastapi rails react vue"
    " angular svelte numpy pandas pytorch torch tensorflow keras sqlite postgres postgresql mysql redis mongodb docker"
    " kubernetes linux ubuntu debian fedora android ios ipados macos chrome firefox safari git gcc clang cuda npm pip"
    " typescript electron unity blender nginx textual palimpsest"
)
_DOTTED = lazy_pattern(r"\d{1,6}(?:\.\d{1,6}){0,3}")
_NAME_BEFORE = lazy_pattern(r"(?<![A-Za-z])([A-Za-z]{2,12}) $")
_SUFFIX = lazy_pattern(r"(?:-?(?:alpha|beta|rc|a|b|dev|post)\.?\d{1,4})(?![A-Za-z0-9])", re.IGNORECASE)


def numbers(text: str) -> Iterator[tuple[str, str]]:
    done = 0  # what stands before it is part of a date already
    for match in find_matches(_NUMBER, text):
        start, end = match.span()
        if end - start > _LONGEST or start < done or (match[0].isdigit() and _is_bare(text, start, end)):
            continue
        if (han := _HAN_DATE.match(text, start)) and han.end() > end:
            done = han.end()
            yield from (("date", value) for value in _calendar(*_parts(han)))
            continue
        number, before, after = match[0], text[max(0, start - _BEFORE) : start], text[end : end + _AFTER]
        last = before[-1:]
        if last and (last.isascii() and (last.isalpha() or last in "_#")):
            yield from _attached(number, before, after, text, start)
        elif values := _money(number, before, after):
            yield from (("money", value) for value in values)
        elif dates := _date(number, before, after):
            yield from (("date", value) for value in dates)
        elif versions := _version(number, before, after):
            yield from (("version", value) for value in versions)
        elif last in " -" and (flight := _flight(number, before, after, text, start)):
            yield "flight", flight


def _is_bare(text: str, start: int, end: int) -> bool:
    """Whether no word or currency symbol is next to it: a quick check that settles most numbers of a table."""
    before = text[max(0, start - 2) : start].rstrip(" ")[-1:]
    after = text[end : end + 2].lstrip(" ")[:1]
    if before.isdigit() and start > 2 and text[start - 3].isupper():  # `U2 8001`
        return False
    return not (after.isalpha() or before.isalpha() or before in _BESIDE)


def _attached(number: str, before: str, after: str, text: str, start: int) -> Iterator[tuple[str, str]]:
    """A number right after a letter: `v1.2.3`, `BA249`, `USD120`."""
    if before[-1] in "vV" and "." in number and (versions := _version(number, before, after)):
        yield from (("version", value) for value in versions)
    elif flight := _flight(number, before, after, text, start):
        yield "flight", flight
    elif _CODE_BEFORE.search(before):
        yield from (("money", value) for value in _money(number, before, after))


def _flight(number: str, before: str, after: str, text: str, start: int) -> str:
    """Two characters of an airline and two to four digits (IATA Resolution 762): airlines that stand for nothing else
    by themselves, the others only in talk of flying. So are small letters, with three digits or more."""
    if not (number.isdigit() and 1 <= len(number) <= 4) or _LETTER_AFTER.match(after):
        return ""
    match = _FLIGHT_BEFORE.search(before)
    if not match:
        return ""
    airline = match[1] or match[3].upper()
    if airline not in AIRLINES or (match[3] and len(number) < 3):
        return ""
    alone = match[1] in CLEAR and len(number) >= 3 and not match[2]
    if alone or _FLIGHT_TALK.search(text, max(0, start - 60), start + 40):
        return f"{airline}{number.lstrip('0') or '0'}"
    return ""


def _money(number: str, before: str, after: str) -> tuple[str, ...]:
    symbol, code = _SIGN_BEFORE.search(before) if before[-1:] in " $€£¥￥₩₹" else None, None
    scale = _SCALE.match(after)
    named = _CURRENCY.match(after, scale.end() if scale else 0)
    if not symbol and not named:
        code = _CODE_BEFORE.search(before) if before[-2:].rstrip()[-1:].isupper() else None
        if not code:
            return ()
    amount = number.rsplit("-", 1)[-1].rstrip(":/")
    if not _AMOUNT.fullmatch(amount):
        return ()
    much = float(amount.replace(",", ""))
    if scale and (symbol or named or code) and not (scale[1] and scale[1] in "mb" and not symbol):
        much *= _TIMES[scale[0].strip().lower()]
    shown = f"{much:.2f}".rstrip("0").rstrip(".")
    return tuple(f"{currency}{shown}" for currency in _currencies(symbol, named, code))


def _currencies(
    symbol: re.Match[str] | None, named: re.Match[str] | None, code: re.Match[str] | None
) -> tuple[str, ...]:
    if named:
        return (_WORDS[(named[1] or named[2]).lower()],)
    if code:
        return (_WORDS[code[1].lower()],)
    if symbol is None:
        return ()
    if symbol[2] == "$" and symbol[1] in _OTHER_DOLLARS:
        return (_OTHER_DOLLARS[symbol[1]],)
    if symbol[1] in {"CN", "JP"}:
        return ("cny",) if symbol[1] == "CN" else ("jpy",)
    return _SIGNS[symbol[2]]


def _date(number: str, before: str, after: str) -> tuple[str, ...]:
    if match := _WITH_YEAR.fullmatch(number):
        return _calendar(int(match[1]), int(match[3]), int(match[4] or 0)) if _is_dated(match) else ()
    if not number.isdigit():
        return ()
    value = int(number) if len(number) <= 4 else 0
    if len(number) <= 2 and 1 <= value <= 31:
        return _day_of_month(value, before, after)
    if len(number) == 4 and value in _YEARS and not after[:1].isalnum() and _YEAR_BEFORE.search(before):
        return _calendar(value, 0, 0) if 1900 <= value <= 2100 else ()
    if len(number) == 4 and 1900 <= value <= 2100 and (month := _month(_MONTH_BEFORE.search(before))):
        return _calendar(value, month, 0)  # March 2026
    return ()


def _parts(han: re.Match[str]) -> tuple[int, int, int]:
    year, month, day, only_month, only_day = (int(part or 0) for part in han.groups())
    return year, month or only_month, day or only_day


def _is_dated(match: re.Match[str]) -> bool:
    """`2026-03` is a month, `2026.3` and `2026/3` are not by themselves."""
    return bool(match[4]) or (match[2] == "-" and len(match[3]) == 2)


def _day_of_month(day: int, before: str, after: str) -> tuple[str, ...]:
    """`March 5`, `March 5th, 2026`, `5 March 2026`, `5th of March`."""
    year = _THEN_YEAR.match(after)
    month = _month(_MONTH_BEFORE.search(before), sure=bool(year))
    if month and _AFTER_DAY.match(after):
        return _calendar(int(year[1]) if year else 0, month, day)
    match = _MONTH_AFTER.match(after) if after[:1] in {" ", "-", "s", "n", "r", "t"} else None
    if match and (month := _month(match, sure=bool(match[2]) or not match[0].startswith((" ", "-")))):
        return _calendar(int(match[2] or 0), month, day)
    return ()


def _month(match: re.Match[str] | None, *, sure: bool = False) -> int:
    """1 to 12, 0 for none. `may` and `march` in small letters are verbs, unless an ordinal or a year is there."""
    if match is None or (match[1] in _VERBS and not (sure or " of " in match[0])):
        return 0
    return _MONTHS.get(match[1].lower(), 0)


@lru_cache(maxsize=1 << 12)
def _calendar(year: int, month: int, day: int) -> tuple[str, ...]:
    """A date as far as it is given, in each form in which it is queried; empty for an invalid day."""
    if (year and year not in _YEARS) or month > 12 or day > 31 or (day and not month):
        return ()
    if not month:
        return (f"{year}",) if year else ()
    if not day:
        return (f"{year}-{month:02}", f"{year}") if year else ()
    dates = (f"{year}-{month:02}-{day:02}", f"{year}-{month:02}", f"{year}") if year else ()
    return (*dates, f"{month:02}-{day:02}")


def _version(number: str, before: str, after: str) -> tuple[str, ...]:
    """`v1.2`, `1.2.3`, `Python 3.12`; not an address of a network, nor a plain 1.2."""
    if not _DOTTED.fullmatch(number):
        return ()
    parts = number.split(".")
    match = _VERSION_BEFORE.search(before)
    name = None if match else _NAME_BEFORE.search(before)
    software = name[1].lower() if name and name[1].lower() in _SOFTWARE else ""
    if not (match or software or len(parts) == 3) or len(parts) > 4 or (len(parts) == 4 and not match):
        return ()
    if len(parts) == 1 and not (match and before[-1:] not in "vV"):
        return ()
    suffix = _SUFFIX.match(after)
    version = number + (suffix[0].lower() if suffix else "")
    values = [version, *(".".join(parts[:length]) for length in range(2, len(parts) + 1))]
    return tuple(dict.fromkeys((*values, *([f"{software} {number}"] if software else ()))))
