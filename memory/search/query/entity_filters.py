"""Filters by what entries are marked with: the words of a person become marks.

--entity money  ·  --entity money:120  ·  --entity '$120'  ·  --entity "March 5"  ·  --entity Anna  ·  --file http.py
"""

import re
from collections.abc import Iterable

from foundation.text.entities.numbers import CURRENCIES
from foundation.text.entities.rules import KINDS, entities
from foundation.text.tags import CONCEPT, FILE, TYPE, path_ends, tag

TYPES = ("decision", "bugfix", "feature", "refactor", "discovery", "change")
CONCEPTS = (
    "discovery",
    "problem-solution",
    "pattern",
    "how-it-works",
    "why-it-exists",
    "gotcha",
    "trade-off",
    "what-changed",
)
"""The types and concepts that observations are given; others may be asked for as well."""

_KIND = re.compile(r"([a-z][a-z0-9_-]*)\s*[:：=]\s*(?!//)(.+)", re.IGNORECASE | re.DOTALL)
_AMOUNT = re.compile(r"\d[\d,]*(?:\.\d+)?")


def groups(
    types: Iterable[str], concepts: Iterable[str], files: Iterable[str], named: Iterable[str], kinds: Iterable[str] = ()
) -> list[frozenset[str]]:
    """Marks by group: an entry must have one of each. `kinds` are those that the workspace has beside ours."""
    told = (
        frozenset(tag(TYPE, each) for each in types),
        frozenset(tag(CONCEPT, each) for each in concepts),
        frozenset(_file(each) for each in files),
        frozenset[str]().union(*(entity_marks(each, tuple(kinds)) for each in named)),
    )
    return [group for group in told if group]


def entity_marks(said: str, own: tuple[str, ...] = ()) -> frozenset[str]:
    """The marks that an entry may have which names such a thing: a kind, a `kind:value`, or the thing itself."""
    said = said.strip()
    kinds = (*KINDS, *own)
    if said.casefold() in kinds:
        return frozenset({tag(said.casefold())})
    found = _KIND.fullmatch(said)
    if found and found[1].casefold() in kinds:
        return _of_kind(found[1].casefold(), found[2].strip())
    known: dict[str, list[str]] = {}
    for kind, value in entities(said):
        known.setdefault(kind, []).append(value)
    told = {tag(kind, value) for kind, values in known.items() for value in _fullest(values)}
    return frozenset(told | {tag(kind, said) for kind in kinds})


def _of_kind(kind: str, value: str) -> frozenset[str]:
    if kind == FILE:
        return frozenset({_file(value)})
    if kind == "money" and _AMOUNT.fullmatch(value):
        bare = value.replace(",", "")
        shown = f"{float(bare):.2f}".rstrip("0").rstrip(".")
        return frozenset(tag(kind, f"{currency}{shown}") for currency in CURRENCIES)
    if kind == "flight":
        value = re.sub(r"[\s-]", "", value)
    values = _fullest([each for named, each in entities(value) if named == kind])
    return frozenset({tag(kind, value), *(tag(kind, each) for each in values)})


def _fullest(values: list[str]) -> list[str]:
    """Of one thing the values that say most: a date whole and not its year, both readings of ¥300."""
    longest = max(map(len, values), default=0)
    return [value for value in values if len(value) == longest]


def _file(path: str) -> str:
    ends = path_ends(path)
    return tag(FILE, ends[-1] if ends else path)
