"""Parser of filters typed as words: `since:30d who:Anna kind:note boiler -gas` is a query with three filters.

The search screen's field and `/search` share it. A word that is no filter of ours (`http://…`, `12:30`, `std::map`)
stays a word of the question; so do "exact phrases" and `-words`, which the query itself takes apart.
"""

import re
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from memory.search_options import OPTIONS, SearchOptions

if TYPE_CHECKING:  # the list of commands must not load the search
    from foundation.clock import Clock
    from memory.search import Query

FILTERS: Final = {key: option.field for option in OPTIONS for key in option.keys}
"""What may stand before the colon, and the field of SearchOptions that it gives."""

SEVERAL: Final = frozenset(option.field for option in OPTIONS if option.repeatable)
"""Fields that may be given several times: any of the values will do."""

HELP: Final = 'kind:note since:30d who:Anna type:decision file:a.py entity:money "…" -word'

_NAMED = {"kinds": {"note": "memory", "notes": "memory"}}  # the person's words for ours
_WORD = re.compile(r'(?<!\S)(?P<key>[A-Za-z]+)[:：](?P<value>"[^"]*"?|[^\s"]\S*|(?!\S))|"[^"]*"')


class ParsedFilters(Struct, frozen=True):
    """What was typed, taken apart. `unfinished` is the filter whose value is not yet typed, "" where there is none."""

    text: str = ""
    options: dict[str, Any] = field(default_factory=dict)  # of SearchOptions
    unfinished: str = ""

    @property
    def narrowed(self) -> bool:
        """Whether anything is filtered."""
        return bool(self.options)


def worded(typed: str) -> ParsedFilters:
    """The question without its filters, and the filters. Never raises: values are judged by `query_of`."""
    options: dict[str, Any] = {}
    unfinished, text, last = "", "", 0
    for found in _WORD.finditer(typed):
        name = FILTERS.get((found["key"] or "").lower())
        if name is None:
            continue
        text += typed[last : found.start()]
        last = found.end()
        value = found["value"].strip('"').strip()
        if not value:
            unfinished = found["key"].lower()
        elif name in SEVERAL:
            options[name] = (*options.get(name, ()), *_values(name, value))
        else:
            options[name] = value
    return ParsedFilters(" ".join((text + typed[last:]).split()), options, unfinished)


def query_of(wording: ParsedFilters, clock: "Clock", **more: Any) -> "Query":
    """The query that it makes; `more` are further SearchOptions. Raises Misuse for a value that is none."""
    from memory.search import parse_query

    return parse_query(wording.text, SearchOptions(**{**more, **wording.options}), clock=clock)


def _values(name: str, value: str) -> tuple[str, ...]:
    """`note,page` are two kinds."""
    known = _NAMED.get(name, {})
    return tuple(known.get(part.casefold(), part) for part in value.split(",") if part)
