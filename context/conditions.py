"""When a rule of system.yaml holds."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Self

from msgspec import Struct, field

from context.entities import names_a
from foundation.regex import Patience, SafePattern

ATTACHMENTS = ("any", "text", "image", "json", "calendar")
"""The kinds that `attachment:` may name."""

_HOURS = re.compile(r"([01]?[0-9]|2[0-4]):([0-5][0-9])\s?[-–]\s?([01]?[0-9]|2[0-4]):([0-5][0-9])")
_LATIN = re.compile(r"[A-Za-z0-9_\u00c0-\u024f]")


class Hours(Struct, frozen=True):
    """A stretch of the day in minutes since midnight, local time; one that ends before it begins goes over midnight."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """`22:00-06:00`. Raises ValueError."""
        found = _HOURS.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"`{text}` is no stretch of the day like 22:00-06:00")
        hours = [int(digits) for digits in found.groups()]
        return cls(hours[0] * 60 + hours[1], hours[2] * 60 + hours[3])

    def holds(self, moment: datetime) -> bool:
        """Whether the moment, in its own zone, lies within; the end is not part of it."""
        minute = moment.hour * 60 + moment.minute
        if self.first <= self.last:
            return self.first <= minute < self.last
        return minute >= self.first or minute < self.last


class Moment(Struct, frozen=True):
    """What a condition looks at: the message, the local time, and which kinds of attachment come with it."""

    text: str
    now: datetime
    attachments: frozenset[str] = frozenset()
    patience: Patience = field(default_factory=Patience)


class Condition(Struct, frozen=True):
    """All kinds given must hold; within a kind, any one."""

    patterns: tuple[SafePattern, ...] = ()
    keywords: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    times: tuple[Hours, ...] = ()
    attachments: tuple[str, ...] = ()

    def holds(self, moment: Moment) -> bool:
        """Whether every key that was given is met."""
        tests = (
            (self.patterns, lambda: any(pattern.matches(moment.text, moment.patience) for pattern in self.patterns)),
            (self.keywords, lambda: has_keyword(moment.text, self.keywords)),
            (self.entities, lambda: any(names_a(kind, moment.text) for kind in self.entities)),
            (self.times, lambda: any(hours.holds(moment.now) for hours in self.times)),
            (self.attachments, lambda: any(kind in moment.attachments for kind in self.attachments)),
        )
        return all(test() for given, test in tests if given)


def has_keyword(text: str, keywords: Sequence[str]) -> bool:
    """Whether one of the words stands in the text: whole where it is written in letters with spaces between words."""
    lowered = text.casefold()
    return any(_stands(keyword.casefold(), lowered) for keyword in keywords)


def _stands(word: str, text: str) -> bool:
    place = text.find(word)
    while place >= 0:
        before, after = text[place - 1 : place], text[place + len(word) : place + len(word) + 1]
        begins = not (_LATIN.match(word[0]) and _LATIN.match(before))
        ends = not (_LATIN.match(word[-1]) and _LATIN.match(after))
        if begins and ends:
            return True
        place = text.find(word, place + 1)
    return False
