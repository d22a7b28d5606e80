"""Parser of inline filters: `since:30d who:Anna kind:note boiler -gas` is a query with three filters.

Shared by the search screen's field and `/search`. A word that is no known filter (`http://…`, `12:30`, `std::map`)
stays in the query's text; so do "exact phrases" and `-words`, which the query parser handles.
"""

import re
from typing import Any, Final

from msgspec import Struct, field

from foundation.clock import Clock
from memory.search import Query, parse_query
from memory.search_options import OPTIONS, SearchOptions

FILTERS: Final = {key: option.field for option in OPTIONS for key in option.keys}
"""Filter keys, and the field of SearchOptions that each sets."""

REPEATABLE: Final = frozenset(option.field for option in OPTIONS if option.repeatable)
"""Fields that may be given several times; a hit needs any one of the values."""

HELP: Final = 'kind:note since:30d who:Anna type:decision file:a.py entity:money "…" -word'

_ALIASES = {"kinds": {"note": "memory", "notes": "memory"}}  # the person's words for ours
_WORD = re.compile(r'(?<!\S)(?P<key>[A-Za-z]+)[:：](?P<value>"[^"]*"?|[^\s"]\S*|(?!\S))|"[^"]*"')


class ParsedFilters(Struct, frozen=True):
    """The query's text and its filters. `unfinished` is the key of a filter without a value yet, "" for none."""

    text: str = ""
    options: dict[str, Any] = field(default_factory=dict)  # of SearchOptions
    unfinished: str = ""

    @property
    def narrowed(self) -> bool:
        """Whether there is any filter."""
        return bool(self.options)


def parse_filters(typed: str) -> ParsedFilters:
    """Splits the filters from the query's text. Never raises: `build_query` validates the values."""
    options: dict[str, Any] = {}
    unfinished, text, last = "", "", 0
    for match in _WORD.finditer(typed):
        name = FILTERS.get((match["key"] or "").lower())
        if name is None:
            continue
        text += typed[last : match.start()]
        last = match.end()
        value = match["value"].strip('"').strip()
        if not value:
            unfinished = match["key"].lower()
        elif name in REPEATABLE:
            options[name] = (*options.get(name, ()), *_values(name, value))
        else:
            options[name] = value
    return ParsedFilters(" ".join((text + typed[last:]).split()), options, unfinished)


def build_query(parsed: ParsedFilters, clock: Clock, **more: Any) -> Query:
    """The query; `more` are further SearchOptions. Raises Misuse for an invalid value."""
    return parse_query(parsed.text, SearchOptions(**{**more, **parsed.options}), clock=clock)


def _values(name: str, value: str) -> tuple[str, ...]:
    """Splits a comma-separated value: `note,page` are two kinds."""
    aliases = _ALIASES.get(name, {})
    return tuple(aliases.get(part.casefold(), part) for part in value.split(",") if part)
