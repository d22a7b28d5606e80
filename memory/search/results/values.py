"""Extracts the values of a sentence: dates, times, amounts, versions, numbers and names.

    “The ferry leaves Piraeus at 09:40 on Friday.”  →  time 9:40, date fri, name piraeus

Rules for English and Chinese normalise the values: `1,200 euros` and `€1200` are one amount.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from foundation.text.folding import fold

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?:mon|tues?|wednes|wed|thurs?|fri|satur|sat|sun)(?:day)?s?"
_HAN_NUMBER = "零〇一二两三四五六七八九十百千万半"
_CURRENCY = r"(?:dollars?|euros?|pounds?|yuan|rmb|usd|eur|gbp|cny|bucks)"
_UNITS = {"dollar": "$", "usd": "$", "buck": "$", "euro": "€", "eur": "€", "pound": "£", "gbp": "£"}
_WORDS = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety",
)
_WORTH = {word: n if n < 20 else 10 * (n - 18) for n, word in enumerate(_WORDS)}

VALUE = re.compile(
    r"(?<![A-Za-z0-9])(?:"  # no value begins within a word
    rf"(?P<date>\b\d{{4}}-\d{{1,2}}(?:-\d{{1,2}})?\b|\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b(?:,? \d{{4}}\b)?|\b{_DAY}\b|\b(?!may\b){_MONTH}\b"
    rf"|(?:\d{{4}}年)?[\d{_HAN_NUMBER}]{{1,3}}月(?:[\d{_HAN_NUMBER}]{{1,3}}[日号])?|[\d{_HAN_NUMBER}]{{1,3}}号"
    rf"|(?:周|星期|礼拜)[一二三四五六日天])"
    rf"|(?P<time>\b\d{{1,2}}[:：]\d{{2}}(?: ?[ap]\.?m\b\.?)?|\b\d{{1,2}} ?[ap]\.?m\b\.?|\b(?:noon|midnight)\b"
    rf"|[\d{_HAN_NUMBER}]{{1,3}}点(?:半|[\d{_HAN_NUMBER}]{{1,3}}分)?)"
    rf"|(?P<money>[$€£¥] ?\d[\d,.]*\d?[kKmM]?|\b\d[\d,.]* ?{_CURRENCY}\b|\b(?:{'|'.join(_WORDS[1:])}) {_CURRENCY}\b"
    rf"|[\d.{_HAN_NUMBER}]+(?:元|块|美元|欧元))"
    r"|(?P<version>\bv\d+(?:\.\d+)*\b|\b\d+\.\d+\.\d+(?:\.\d+)*\b)"
    r"|(?P<code>(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9][\w-]*\b)"
    rf"|(?P<number>\d[\d,]*(?:\.\d+)?|\b(?:{'|'.join(_WORDS)}|hundred|thousand|million)\b)"
    rf"|(?P<count>[{_HAN_NUMBER}]{{1,6}}(?=[个只本岁次条张位人名台辆层楼天年周公米])))",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,;:] )(?!I\b)[A-Z][\w'’-]*[\w](?: [A-Z][\w'’-]*\w)*")
NEGATION = re.compile(
    r"\b(?:not|no longer|never|no more|cannot|without|none|neither|nor|no)\b|n['’]t\b"
    r"|不再|不[是会能要想用喜吃喝去在行可]|没有|没[能去用]|别再|从不",
    re.IGNORECASE,
)


class ExtractedValue(Struct, frozen=True):
    """A normalised value, its kind and its span."""

    kind: str
    value: str
    start: int
    end: int


def values(text: str) -> Iterator[ExtractedValue]:
    """Values, then names; a name at the start of a sentence looks like any word, and is left out."""
    taken: list[tuple[int, int]] = []
    for match in VALUE.finditer(text):
        kind = match.lastgroup or ""
        taken.append(match.span())
        yield ExtractedValue("number" if kind == "count" else kind, _normalise(kind, match[0]), *match.span())
    for match in _NAME.finditer(text):
        if not any(start < match.end() and match.start() < end for start, end in taken):
            yield ExtractedValue("name", fold(match[0]), *match.span())


class ClaimValues(Struct, frozen=True):
    """Values and negation of a text: near-duplicates must agree in them."""

    values: frozenset[tuple[str, str]]
    denies: bool


def extract_claims(text: str) -> ClaimValues:
    """The values of a text, and whether it denies something."""
    return ClaimValues(
        frozenset((value.kind, value.value) for value in values(text)), NEGATION.search(text) is not None
    )


def differ(values: ClaimValues, other: ClaimValues) -> bool:
    """Whether each has a value that the other lacks, or one denies and the other does not."""
    return values.denies != other.denies or bool(values.values - other.values and other.values - values.values)


def _normalise(kind: str, value: str) -> str:
    bare = fold(value).strip()
    match kind:
        case "date":
            return _date(bare)
        case "time":
            return bare.replace("：", ":").replace(" ", "").replace(".", "").removeprefix("0")
        case "money":
            return _money(bare)
        case "version":
            return bare.removeprefix("v")
        case "number" | "count":
            return str(_WORTH.get(bare, bare.replace(",", "")))
        case _:
            return bare


def _date(text: str) -> str:
    if text[0] in "周星礼":
        return "周" + text[-1].replace("天", "日")
    words = re.findall(r"[a-z]+|\d+|[^\sa-z\d,.-]+", text)
    normalised = [word[:3] if word[:3] in _MONTHS or (word[0].isalpha() and word.isascii()) else word for word in words]
    return " ".join(sorted(word for word in normalised if word not in {"st", "nd", "rd", "th", "of"}))


def _money(text: str) -> str:
    amount = re.sub(r"[^\d.km]", "", re.sub(r"[a-z]{2,}", "", text)).strip(".") or next(
        (str(_WORTH[word]) for word in text.split() if word in _WORTH), text
    )
    unit = next((sign for word, sign in _UNITS.items() if word in text), "")
    return (unit or next((sign for sign in "$€£¥元块" if sign in text), "")) + amount
