"""Entity filters: converts values that a person types into tags of entries.

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
"""Types and concepts that observations are given; a filter may name others too."""

_KIND = re.compile(r"([a-z][a-z0-9_-]*)\s*[:：=]\s*(?!//)(.+)", re.IGNORECASE | re.DOTALL)
_AMOUNT = re.compile(r"\d[\d,]*(?:\.\d+)?")


def tag_groups(
    types: Iterable[str], concepts: Iterable[str], files: Iterable[str], named: Iterable[str], kinds: Iterable[str] = ()
) -> list[frozenset[str]]:
    """Tags by group: an entry must have one of each group. `kinds` are the workspace's own entity kinds."""
    candidates = (
        frozenset(tag(TYPE, name) for name in types),
        frozenset(tag(CONCEPT, name) for name in concepts),
        frozenset(_file_tag(name) for name in files),
        frozenset[str]().union(*(entity_tags(name, tuple(kinds)) for name in named)),
    )
    return [group for group in candidates if group]


def entity_tags(value: str, own: tuple[str, ...] = ()) -> frozenset[str]:
    """Tags of entries that mention an entity, given as a kind, a `kind:value`, or the value alone."""
    value = value.strip()
    kinds = (*KINDS, *own)
    if value.casefold() in kinds:
        return frozenset({tag(value.casefold())})
    match = _KIND.fullmatch(value)
    if match and match[1].casefold() in kinds:
        return _tags_of_kind(match[1].casefold(), match[2].strip())
    values_by_kind: dict[str, list[str]] = {}
    for kind, entity_value in entities(value):
        values_by_kind.setdefault(kind, []).append(entity_value)
    tags = {
        tag(kind, entity_value) for kind, values in values_by_kind.items() for entity_value in _most_specific(values)
    }
    return frozenset(tags | {tag(kind, value) for kind in kinds})


def _tags_of_kind(kind: str, value: str) -> frozenset[str]:
    if kind == FILE:
        return frozenset({_file_tag(value)})
    if kind == "money" and _AMOUNT.fullmatch(value):
        amount = value.replace(",", "")
        shown = f"{float(amount):.2f}".rstrip("0").rstrip(".")
        return frozenset(tag(kind, f"{currency}{shown}") for currency in CURRENCIES)
    if kind == "flight":
        value = re.sub(r"[\s-]", "", value)
    values = _most_specific([entity_value for entity_kind, entity_value in entities(value) if entity_kind == kind])
    return frozenset({tag(kind, value), *(tag(kind, entity_value) for entity_value in values)})


def _most_specific(values: list[str]) -> list[str]:
    """The most specific values of one thing: a date and not its year, both readings of ¥300."""
    longest = max(map(len, values), default=0)
    return [value for value in values if len(value) == longest]


def _file_tag(path: str) -> str:
    ends = path_ends(path)
    return tag(FILE, ends[-1] if ends else path)
