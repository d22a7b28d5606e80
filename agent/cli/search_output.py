"""Output of a search: ranked hits, a timeline, or entries by conversation.

In a pipe each passage is one whole line; on a terminal it is wrapped, and the query's terms are highlighted.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING

from agent.cli import output
from agent.services.browse import speaker_of
from foundation.clock import iso
from foundation.terminal_text import visible
from foundation.text.entities.rules import KINDS
from memory.search.query.entity_filters import CONCEPTS, TYPES

if TYPE_CHECKING:
    from memory.search import Query, SearchResults

_INDENT = 4
_MAX_COLUMNS = 100  # longer lines are tiring to read
_MAX_TURN_CHARS = 160  # of a turn in a timeline
_BLANKS = re.compile(r"\s+")
_HEAD, _MATCH = "bold", "bold yellow"

StyledText = tuple[str, str]
"""Text, and its style; "" for none."""


def show(results: SearchResults, query: Query, *, raw: bool = False) -> None:
    """Prints the hits to stdout, and notices to stderr. `raw`: plain lines, escape sequences included."""
    if not results.hits:
        output.narrate(no_results_message(results, query))
    elif query.around is not None and (results.anchor or not query.text.strip()):
        _timeline(results, raw=raw)
    elif query.latest and not query.text.strip():
        _by_conversation(results, raw=raw)
    else:
        _ranked(results, raw=raw)


def no_results_message(results: SearchResults, query: Query) -> str:
    """The message for an empty result, with the usual values of a filter that matches nothing."""
    about = f" for “{results.query}”" if results.query.strip() else ""
    sentences = [f"No results{about}."]
    for values, option, usual in (
        (query.types, "--type", TYPES),
        (query.concepts, "--concept", CONCEPTS),
        (query.entities, "--entity", KINDS),
    ):
        kinds = [value.partition(":")[0].strip().casefold() for value in values]
        if values and not any(kind in usual for kind in kinds):
            sentences.append(f"{option} {values[0]} matches nothing here; common values are {', '.join(usual)}.")
    return " ".join(sentences)


def _ranked(results: SearchResults, *, raw: bool) -> None:
    for hit in results.hits:
        score = f"{hit.shown_score:.2f}" if hit.score else ""
        when = iso(hit.time)[:10] if hit.time else ""
        _put(0, _marked(hit.snippet, hit.marks), raw=raw)
        _details((hit.citation.title, speaker_of(hit), when, hit.trust.value, score, hit.id), raw=raw)
        if hit.superseded_by:
            output.line(" " * _INDENT + f"superseded by {hit.superseded_by}")
        if hit.like:
            output.line(" " * _INDENT + f"{len(hit.like)} similar: {', '.join(hit.like[:3])}")
        for name, value in hit.parts.items():
            output.line(" " * (_INDENT + 2) + f"{name} {value:g}")
    more = f"; --page {results.next} shows more" if results.next else ""
    if not results.found:
        output.narrate(f"No exact answer to “{results.query}”; closest results:")
    output.narrate(f"{len(results.hits)} of {results.total:,} in {results.took_ms:.0f} ms{more}.")


def _timeline(results: SearchResults, *, raw: bool) -> None:
    for hit in results.hits:
        when = iso(hit.time)[:16].replace("T", " ") if hit.time else ""
        mark = "→" if hit.id == results.anchor else " "
        _heading(f"{mark} {when}", (speaker_of(hit), hit.citation.title, hit.id), raw=raw)
        _put(_INDENT, _marked(_short(hit.snippet), ()), raw=raw)
    output.narrate(f"{len(results.hits)}, oldest first.")


def _by_conversation(results: SearchResults, *, raw: bool) -> None:
    for (title, name), hits in groupby(results.hits, key=lambda hit: (hit.citation.title, hit.conversation)):
        _heading(title or name, (name,) if title not in {"", name} else (), raw=raw)
        for hit in hits:
            when = iso(hit.time)[:16].replace("T", " ") if hit.time else ""
            _put(_INDENT, [(f"{when} ", ""), (f"{speaker_of(hit)}: ", _HEAD), (_short(hit.snippet), "")], raw=raw)
    output.narrate(f"{len(results.hits)} of the latest.")


def _heading(first: str, rest: Iterable[str], *, raw: bool) -> None:
    details = " · ".join(" ".join(part.split()) for part in rest if part)
    if sys.stdout.isatty() and not raw:
        _put(0, [(first, _HEAD), (f"  {details}", "")], raw=raw)
    else:
        output.line(f"{first}  {details}".rstrip(), raw=raw)


def _details(parts: Iterable[str], *, raw: bool) -> None:
    _put(_INDENT, [(" · ".join(part for part in parts if part), "dim")], raw=raw)


def _marked(text: str, marks: Iterable[tuple[int, int]]) -> list[StyledText]:
    pieces, last = list[StyledText](), 0
    for start, end in marks:
        pieces += [(text[last:start], ""), (text[start:end], _MATCH)]
        last = end
    return [*pieces, (text[last:], "")]


def _short(text: str) -> str:
    return text if len(text) <= _MAX_TURN_CHARS else text[:_MAX_TURN_CHARS].rstrip() + " …"


def _put(indent: int, pieces: Iterable[StyledText], *, raw: bool) -> None:
    """Prints one paragraph; each run of white space becomes one space."""
    if raw or not sys.stdout.isatty():
        output.line(" " * indent + _BLANKS.sub(" ", "".join(text for text, _ in pieces)).rstrip(), raw=raw)
        return
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    line = Text()
    for text, style in pieces:
        line.append(_BLANKS.sub(" ", visible(text)), style or None)
    width = min(shutil.get_terminal_size().columns, _MAX_COLUMNS)
    Console(width=width, highlight=False).print(Padding(line, (0, 0, 0, indent), expand=False))
