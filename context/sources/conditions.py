"""Conditions of the rules in system.yaml, and the entity kinds that they may name.

The patterns have no nested repeats, so that backtracking is bounded.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Self

from msgspec import Struct, field

from foundation.lazy_pattern import lazy_pattern
from foundation.regex import PatternBudget, SafePattern
from foundation.text.entities.numbers import AIRLINES, CLEAR
from foundation.text.folding import fold

_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_EXTENSIONS = (
    "py|js|ts|tsx|md|txt|json|ya?ml|toml|cfg|ini|conf|xml|csv|pdf|png|jpe?g|docx?|xlsx?|html?|css|sh|go|rs|c|h|cpp|java"
    "|rb|php|kt|swift|sql|log|lock"
)

_BEFORE, _AFTER = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
"""The ends of a word of Latin letters and digits. Between one and a Chinese character there is no `\\b`."""
_NAMED_DAY = (
    r"大?[后後前]天|[昨今明][天日晚夜早]|(?:上|下|这|這|本)?[个個]?(?:周|週|星期|礼拜|禮拜)[一二三四五六日天末]"
    r"|[上下这這本][个個]?(?:周|週|星期|礼拜|禮拜|月)|[去今明后後前]年"
    r"|农历|農曆|阴历|陰曆|[正腊臘]月|大年(?:初|三十)"
    r"|[一二三四五六七八九十]{1,2}月(?:[一二三四五六七八九十廿]{1,3}[日号號]?)?"
)  # a day, week, month or year

_PATTERNS: dict[str, re.Pattern[str]] = {
    # Two characters of airline, one a letter at least, then digits (IATA Resolution 762); see _is_flight. An airline
    # with a digit needs three digits: M340 and A320 are models of cars and aircraft.
    "flight_number": lazy_pattern(
        r"(?<![A-Za-z0-9])(?:([A-Z]{2})([ -]?)([0-9]{2,4})|([A-Z][0-9]|[0-9][A-Z])([ -]?)([0-9]{3,4}))[A-Z]?"
        r"(?![A-Za-z0-9]|[.,-][0-9])|(?<![A-Za-z0-9])([a-z]{2})([0-9]{3,4})"
        r"(?![A-Za-z0-9]|[.,-][0-9])"
    ),
    "url": lazy_pattern(rf"{_BEFORE}(?:https?://|www\.)[^\s<>\"'）】」，。；、]{{3,2000}}", re.IGNORECASE),
    "email": lazy_pattern(r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}\.[A-Za-z0-9.-]{2,190}", re.ASCII),
    "date": lazy_pattern(
        r"\b[12][0-9]{3}[-/.][01]?[0-9][-/.][0-3]?[0-9]\b"
        r"|\b[0-3]?[0-9][./][01]?[0-9][./][12][0-9]{3}\b"
        rf"|\b(?:{_MONTHS})[a-z]{{0,6}}\.? [0-3]?[0-9](?:st|nd|rd|th)?\b"
        rf"|\b[0-3]?[0-9](?:st|nd|rd|th)? (?:of )?(?:{_MONTHS})[a-z]{{0,6}}\b"
        rf"|[0-9]{{1,4}}年|[0-9]{{1,2}}月[0-9]{{1,2}}[日号]|{_NAMED_DAY}",
        re.IGNORECASE | re.ASCII,
    ),
    "money": lazy_pattern(
        r"[$€£¥￥₩₹] ?[0-9][0-9,.]{0,20}"
        rf"|{_BEFORE}[0-9][0-9,.]{{0,20}} ?(?:usd|eur|gbp|jpy|cny|rmb|chf|dollars?|euros?|pounds?|yen|yuan){_AFTER}"
        r"|[0-9][0-9,.]{0,20} ?(?:万|千|百|亿)?(?:元|块|美元|欧元|日元|英镑)",
        re.IGNORECASE,
    ),
    "file_path": lazy_pattern(
        r"(?<![\w/])(?:~|\.{1,2})?/[\w.-]{1,100}/?[\w./-]{0,300}"
        r"|(?<=[\u3400-\u9fff])(?:(?:~|\.{1,2})/[A-Za-z0-9_.-]|/[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-])[\w./-]{0,300}"
        rf"|{_BEFORE}[A-Za-z]:\\[^\s<>|?*\"]{{1,300}}"
        rf"|(?<![\w@/:.-])(?:[\w.-]{{1,60}}/){{0,12}}[\w-]{{1,100}}\.(?:{_EXTENSIONS}){_AFTER}(?!@)"
    ),
    "code": lazy_pattern(
        r"```|`[^`\n]{2,200}`"
        r"|^\s{0,40}(?:def|class|import|from|function|const|let|var|public|private|fn|func|#include)\b[^\n]{0,200}[({:;<]"
        r"|Traceback \(most recent call last\)|[A-Za-z_]\w{0,80}\([^)\n]{0,200}\)\s?[;{]",
        re.MULTILINE,
    ),
}

ENTITIES = tuple(_PATTERNS)
"""The kinds that `entity:` may name."""


_FLIGHT_CONTEXT = lazy_pattern(
    r"\b(?:flights?|fly|flies|flying|flew|flown|boarding|airlines?|airways|airport|check(?:ing)?[- ]?in|gate|layover"
    r"|flug|vuelo|vol|voo|volo)\b|航班|飞机|登机|值机|航空|机场|乘机|起飞|航廈|班機|フライト|搭乗|空港|항공|탑승|비행",
    re.IGNORECASE,
)
_CONTEXT_BEFORE, _CONTEXT_AFTER = 80, 60  # characters around a number in which a word of flying is looked for
_CLEAR_WITH_DIGIT = frozenset({"U2", "3U", "5J", "6E", "9C"})
_YEAR = lazy_pattern(r"(?:19|20)[0-9]{2}")


def _is_flight(match: re.Match[str]) -> bool:
    """Whether a flight is meant. Airlines whose code means little else need no further word, unless a year follows, as
    in `CA 2020`; the others need a word of flying nearby: `X5 2020` is a car, `S7-1200` a controller."""
    start, end = max(0, match.start() - _CONTEXT_BEFORE), match.end() + _CONTEXT_AFTER
    is_named = _FLIGHT_CONTEXT.search(match.string, start, end) is not None
    if match[7]:  # small letters
        return is_named and match[7].upper() in AIRLINES
    code, separator, number = match.group(1, 2, 3) if match[1] else match.group(4, 5, 6)
    is_clear = code in CLEAR or code in _CLEAR_WITH_DIGIT
    if is_clear and len(number) >= 3 and not (separator and _YEAR.fullmatch(number)):
        return True
    if code not in AIRLINES and (separator or not code.isalpha()):
        return False
    return is_named


def _entities(kind: str, text: str) -> Iterator[str]:
    for match in _PATTERNS[kind].finditer(text):
        if kind != "flight_number" or _is_flight(match):
            yield match.group().strip()


def has_entity(kind: str, text: str) -> bool:
    """Whether `text` contains an entity of this kind. Raises KeyError for an unknown kind."""
    return next(_entities(kind, text), None) is not None


def entities_in(kind: str, text: str) -> list[str]:
    """Entities of this kind, in order."""
    return list(_entities(kind, text))


ATTACHMENTS = ("any", "text", "image", "json", "calendar")
"""The kinds that `attachment:` may name."""

_HOURS = lazy_pattern(r"([01]?[0-9]|2[0-4]):([0-5][0-9])\s?[-–]\s?([01]?[0-9]|2[0-4]):([0-5][0-9])")
_LATIN = lazy_pattern(r"[A-Za-z0-9_\u00c0-\u024f]")


class HourRange(Struct, frozen=True):
    """A range of the day in minutes since midnight, local time. A range that ends before it starts spans midnight."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parses `22:00-06:00`. Raises ValueError."""
        match = _HOURS.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"`{text}` is not a time range like 22:00-06:00")
        hours = [int(digits) for digits in match.groups()]
        return cls(hours[0] * 60 + hours[1], hours[2] * 60 + hours[3])

    def holds(self, moment: datetime) -> bool:
        """Whether the range contains the moment, in the moment's own time zone; the end is exclusive."""
        minute = moment.hour * 60 + moment.minute
        if self.first <= self.last:
            return self.first <= minute < self.last
        return minute >= self.first or minute < self.last


MOST_MESSAGES = 3
"""Messages of the person that a condition sees: the present one and those before it."""


class ConditionInput(Struct, frozen=True):
    """Input of a condition: the message, the local time, and the kinds of the attachments.

    `earlier` are the person's messages before it, the newest first; a condition sees MOST_MESSAGES in all.
    """

    text: str
    now: datetime
    attachments: frozenset[str] = frozenset()
    budget: PatternBudget = field(default_factory=PatternBudget)
    earlier: tuple[str, ...] = ()


class Condition(Struct, frozen=True):
    """A conjunction of the given keys; the values of one key are alternatives.

    Patterns, keywords and entities may each be in another of the last `messages` messages.
    """

    patterns: tuple[SafePattern, ...] = ()
    keywords: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    times: tuple[HourRange, ...] = ()
    attachments: tuple[str, ...] = ()
    messages: int = MOST_MESSAGES

    def holds(self, inputs: ConditionInput) -> bool:
        """Whether every given key matches."""
        now = (
            (self.times, lambda: any(hours.holds(inputs.now) for hours in self.times)),
            (self.attachments, lambda: any(kind in inputs.attachments for kind in self.attachments)),
        )
        texts = (inputs.text, *inputs.earlier)[: self.messages]
        return all(test() for given, test in now if given) and all(
            any(test(text) for text in texts) for test in self._text_tests(inputs)
        )

    def concerns_message(self, inputs: ConditionInput) -> bool:
        """Whether the message itself matches one of the keys at least, where `holds`: earlier ones match the others."""
        tests = self._text_tests(inputs)
        return not tests or any(test(inputs.text) for test in tests)

    def _text_tests(self, inputs: ConditionInput) -> list[Callable[[str], bool]]:
        tests: tuple[tuple[Sequence[object], Callable[[str], bool]], ...] = (
            (self.patterns, lambda text: any(pattern.matches(text, inputs.budget) for pattern in self.patterns)),
            (self.keywords, lambda text: has_keyword(text, self.keywords)),
            (self.entities, lambda text: any(has_entity(kind, text) for kind in self.entities)),
        )
        return [test for given, test in tests if given]


def has_keyword(text: str, keywords: Sequence[str]) -> bool:
    """Whether the text contains a keyword: as a whole word in Latin script. Traditional and simplified characters, full
    and half width are the same."""
    folded = fold(text)
    return any(_contains_word(fold(keyword), folded) for keyword in keywords)


def _contains_word(word: str, text: str) -> bool:
    offset = text.find(word)
    while offset >= 0:
        before, after = text[offset - 1 : offset], text[offset + len(word) : offset + len(word) + 1]
        begins = not (_LATIN.match(word[0]) and _LATIN.match(before))
        ends = not (_LATIN.match(word[-1]) and _LATIN.match(after))
        if begins and ends:
            return True
        offset = text.find(word, offset + 1)
    return False
