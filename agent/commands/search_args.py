"""`/search` with the options of the command line: `/search --recent`, `/search --exact gas boiler`, `/search --help`.

Options that only narrow (`--type decision`) correspond to the screen's filters (`type:decision`), and open it.
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
from memory.search.model_functions import SEARCH_FUNCTIONS
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
_MAX_TURN_CHARS: Final = 160


class ParsedSearch(Struct, frozen=True):
    """A parsed `/search`. `filters` is the same query for the search screen; None where only a list can show it."""

    text: str
    options: dict[str, Any]
    filters: str | None = None
    help: bool = False


def parse_search(typed: str) -> ParsedSearch | None:
    """Parses the options; None where there are none. Raises Misuse."""
    options: dict[str, Any] = {}
    text, last, filters, needs_list = "", 0, list[str](), False
    for match in _OPTION.finditer(typed):
        name = match["name"] or match["k"]
        if match.start() < last:
            continue
        text, last = text + typed[last : match.start()], match.end()
        if name in _FLAGS:
            options[name], needs_list = True, True
            last = match.end("name")
            continue
        value = (match["value"] or "").strip('"')
        if name in _NUMBERS:
            options[_NUMBERS[name].field], needs_list = _number(name, value), True
        elif name in _NARROWING:
            if not value:
                raise Misuse("Missing value", f"/search --{name} needs a value.", f"/search --{name} VALUE words")
            key = _NARROWING[name]
            options[key] = (*options.get(key, ()), value) if key in REPEATABLE else value
            filters.append(f'{name}:"{value}"')
        else:
            known = ", ".join(f"--{option}" for option in (*_NARROWING, *_NUMBERS, *_FLAGS) if option != "k")
            raise Misuse("Unknown option", f"/search has no option --{name}.", f"Options: {known} and -k.")
    if not last:
        return None
    terms = " ".join((text + typed[last:]).split())
    return ParsedSearch(
        terms, options, None if needs_list else " ".join([*filters, terms]).strip(), bool(options.pop("help", False))
    )


async def search(session: Session, text: str) -> Outcome:
    parsed = parse_search(text)
    if parsed is None:
        return OpenSearch(text, lambda: _searched(session, text))
    if parsed.help:
        return TextResult(help_markdown())
    if (filters := parsed.filters) is not None:
        return OpenSearch(filters, lambda: _searched(session, filters))
    query = build_query(parsed, session.clock)
    results = await asyncio.to_thread(session.memory.search.query, query)
    if results.hits and (query.around is not None or query.latest) and not (query.latest and query.text):
        return TextResult(timeline_markdown(results))
    return _hit_choices(results, parsed.text)


async def _searched(session: Session, text: str) -> Outcome:
    """The hits as a list, for a face without a screen."""
    if not text:
        raise Misuse("Nothing to search for", "/search needs a query.", "/search the boiler's warranty")
    parsed = filters_of(text)
    results = await asyncio.to_thread(lambda: session.memory.search.query(query_of_filters(parsed, session.clock)))
    return _hit_choices(results, text)


def _hit_choices(results: SearchResults, text: str) -> Outcome:
    items = tuple(Choice(hit.id, hit.snippet, f"{hit.citation} · {hit.trust.value}") for hit in results.hits)
    if not items:
        return TextResult(f"No results for “{text}”." if text else "No results.")
    return Choices(f"Found for “{text}”" if text else "Found", items, "/recall")


def build_query(parsed: ParsedSearch, clock: Clock) -> Query:
    """The query, inline filters included. Raises Misuse."""
    inline = filters_of(parsed.text)
    return parse_query(inline.text, SearchOptions(**{**inline.options, **parsed.options}), clock=clock)


def help_markdown() -> str:
    """Help on the ways to search."""
    rows = "\n".join(f"| `/search {function.option}` | {function.sentence} |" for function in SEARCH_FUNCTIONS.values())
    return (
        f"| | |\n|---|---|\n{rows}\n\nOptions can be typed as filters: `type:decision since:30d who:Anna`. "
        '`"a phrase"` matches exactly, `-word` excludes a word.'
    )


def timeline_markdown(results: SearchResults) -> str:
    """A timeline, or the latest entries by conversation, as Markdown."""
    lines: list[str] = []
    for (title, name), hits in groupby(results.hits, key=lambda hit: (hit.citation.title, hit.conversation)):
        lines.append(f"**{title or name}**\n")
        lines += [_line(hit, results.anchor) for hit in hits]
        lines.append("")
    return "\n".join(lines).rstrip()


def _line(hit: Hit, anchor: str) -> str:
    when = iso(hit.time)[:16].replace("T", " ") if hit.time else ""
    snippet = " ".join(hit.snippet.split())
    text = snippet if len(snippet) <= _MAX_TURN_CHARS else snippet[:_MAX_TURN_CHARS].rstrip() + " …"
    arrow = "→ " if anchor and hit.id == anchor else ""
    return f"- {arrow}{when} {hit.speaker or hit.role}: {text} `{hit.id}`"


def _number(name: str, value: str) -> float:
    try:
        return _NUMBERS[name].type(value)
    except ValueError as error:
        raise Misuse("No number", f"--{name} “{value}” is not a number.", f"For example: --{name} 5") from error
