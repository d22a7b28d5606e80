"""`/search` with the options of the command line: `/search --recent`, `/search --exact gas boiler`, `/search --help`.

Options that only narrow (`--type decision`) are the screen's filters in other words (`type:decision`), and open it.
"""

from __future__ import annotations

import asyncio
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from agent.commands.results import Choice, Choices, OpenSearch, Outcome, TextResult
from agent.services.filter_syntax import REPEATABLE
from agent.services.filter_syntax import build_query as query_of_filters
from agent.services.filter_syntax import parse_filters as filters_of
from foundation.clock import iso
from foundation.errors import Misuse
from memory.search import Hit, Query, SearchResults, parse_query
from memory.search.operations import OPERATIONS
from memory.search_options import OPTIONS, SearchOptions

if TYPE_CHECKING:
    from agent.session import Session
    from foundation.clock import Clock

_NARROWING: Final = {option.name: option.field for option in OPTIONS if option.narrows and option.type is str}
_NUMBERS: Final = {option.name: option for option in OPTIONS if option.type in {int, float}}
_FLAGS: Final = (*(option.name for option in OPTIONS if option.type is bool and option.name != "explain"), "help")
_OPTION = re.compile(
    r'(?<!\S)(?:--(?P<name>[a-z]+)|-(?P<k>k))(?=[\s=]|$)(?:(?P<mark>=|\s+)(?P<value>"[^"]*"|[^\s"]\S*))?'
)
_SHORT: Final = 160


class ParsedSearch(Struct, frozen=True):
    """What was typed. `filters` is the same as the screen takes it, None where only a list can show it."""

    text: str
    options: dict[str, Any]
    filters: str | None = None
    help: bool = False


def asked(typed: str) -> ParsedSearch | None:
    """None where no option is in it. Raises Misuse."""
    options: dict[str, Any] = {}
    text, last, words, listed = "", 0, list[str](), False
    for found in _OPTION.finditer(typed):
        name = found["name"] or found["k"]
        if found.start() < last:
            continue
        text, last = text + typed[last : found.start()], found.end()
        if name in _FLAGS:
            options[name], listed = True, True
            last = found.end("name")
            continue
        value = (found["value"] or "").strip('"')
        if name in _NUMBERS:
            options[_NUMBERS[name].field], listed = _number(name, value), True
        elif name in _NARROWING:
            if not value:
                raise Misuse("Nothing named", f"/search --{name} needs a value.", f"/search --{name} VALUE words")
            key = _NARROWING[name]
            options[key] = (*options.get(key, ()), value) if key in REPEATABLE else value
            words.append(f'{name}:"{value}"')
        else:
            known = ", ".join(f"--{each}" for each in (*_NARROWING, *_NUMBERS, *_FLAGS) if each != "k")
            raise Misuse("Unknown option", f"/search has no option --{name}.", f"It has {known} and -k.")
    if not last:
        return None
    rest = " ".join((text + typed[last:]).split())
    return ParsedSearch(
        rest, options, None if listed else " ".join([*words, rest]).strip(), bool(options.pop("help", False))
    )


async def search(session: Session, text: str) -> Outcome:
    wanted = asked(text)
    if wanted is None:
        return OpenSearch(text, lambda: _searched(session, text))
    if wanted.help:
        return TextResult(help_markdown())
    if (filters := wanted.filters) is not None:
        return OpenSearch(filters, lambda: _searched(session, filters))
    query = query_of(wanted, session.clock)
    results = await asyncio.to_thread(session.memory.search.query, query)
    if results.hits and (query.around is not None or query.latest) and not (query.latest and query.text):
        return TextResult(in_order(results))
    return _listed(results, wanted.text)


async def _searched(session: Session, text: str) -> Outcome:
    """What is found, to be printed."""
    if not text:
        raise Misuse("Nothing to search for", "/search needs words.", "/search the boiler's warranty")
    wording = filters_of(text)
    results = await asyncio.to_thread(lambda: session.memory.search.query(query_of_filters(wording, session.clock)))
    return _listed(results, text)


def _listed(results: SearchResults, text: str) -> Outcome:
    items = tuple(Choice(hit.id, hit.snippet, f"{hit.citation} · {hit.trust.value}") for hit in results.hits)
    if not items:
        return TextResult(f"Nothing is remembered about “{text}”." if text else "Nothing is remembered that fits.")
    return Choices(f"Found for “{text}”" if text else "Found", items, "/recall")


def query_of(wanted: ParsedSearch, clock: Clock) -> Query:
    """The query. Filters that stand among the words hold as well. Raises Misuse."""
    typed = filters_of(wanted.text)
    return parse_query(typed.text, SearchOptions(**{**typed.options, **wanted.options}), clock=clock)


def help_markdown() -> str:
    """The operations, and how each is asked for."""
    rows = "\n".join(f"| `/search {each.option}` | {each.sentence} |" for each in OPERATIONS.values())
    return (
        f"| | |\n|---|---|\n{rows}\n\nOptions may be typed as filters: `type:decision since:30d who:Anna`. "
        '`"a phrase"` must stand as it is, `-word` is left out.'
    )


def in_order(results: SearchResults) -> str:
    """A timeline, or the latest under their conversations, as Markdown."""
    shown: list[str] = []
    for (title, name), hits in groupby(results.hits, key=lambda hit: (hit.citation.title, hit.conversation)):
        shown.append(f"**{title or name}**\n")
        shown += [_line(hit, results.anchor) for hit in hits]
        shown.append("")
    return "\n".join(shown).rstrip()


def _line(hit: Hit, anchor: str) -> str:
    when = iso(hit.time)[:16].replace("T", " ") if hit.time else ""
    said = " ".join(hit.snippet.split())
    words = said if len(said) <= _SHORT else said[:_SHORT].rstrip() + " …"
    arrow = "→ " if anchor and hit.id == anchor else ""
    return f"- {arrow}{when} {hit.speaker or hit.role}: {words} `{hit.id}`"


def _number(name: str, value: str) -> float:
    try:
        return _NUMBERS[name].type(value)
    except ValueError as error:
        raise Misuse("No number", f"--{name} “{value}” is no number.", f"--{name} 5, for instance.") from error
