"""The tool `memory_search`: passages by words and by all filters of search, and what happened around a moment."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final, cast

from msgspec import structs

from agent.permissions.action import Access, Action
from agent.permissions.tool_facts import declare_tool
from agent.tools.memory.recall import as_json, cite_of
from agent.tools.port import (
    MalformedCall,
    ToolFailure,
    ToolPurpose,
    ToolRun,
    UsualTool,
    flag_argument,
    string_argument,
    text_argument,
    texts_argument,
    whole_argument,
)
from foundation.clock import iso
from foundation.errors import Misuse
from memory.memory import Memory
from memory.observations.observation import clipped
from memory.observations.store import StoredObservation
from memory.records import EntryKind
from memory.search import Hit, Query, parse_query
from memory.search_options import SearchOptions
from models.messages import Tool
from models.prompts import prompt
from models.tokens import estimate

MAX_RESULT_TOKENS: Final = 1200  # of all passages of one search, so that the output is not cut within a passage
MAX_HITS: Final = 12
MOST_NOTED: Final = 300  # characters of what was observed of a result
MAX_NEIGHBOURS: Final = 20  # entries of a timeline, before and after
BEST: Final = "best"  # as `around`: the best match of `query`
DAYS_AROUND: Final = 7  # days before and after the moment whose entries are counted
LINE_CHARS: Final = 200  # of an entry in a timeline
NOTHING_REMEMBERED: Final = "Nothing relevant is remembered."

_FILTERS: Final = {
    "after": "since",
    "before": "until",
    "kind": "kinds",
    "role": "role",
    "speaker": "speaker",
    "type": "types",
    "concept": "concepts",
    "file": "files",
    "entity": "entities",
    "conversation": "conversation",
    "label": "label",
    "trust": "trust",
}
"""Arguments of the tool, and the search options that they set."""
_NAMED: Final = ("around", *_FILTERS, "newest")
"""The names of `filters`; the tool takes them as arguments of their own too."""
_REPEATABLE: Final = {"kinds", "types", "concepts", "files", "entities"}
_OPTION: Final = re.compile(r"--(\w+)")
_KIND_ALIASES: Final = {"note": "memory", "notes": "memory", "file": "knowledge"}


class MemorySearch(UsualTool):
    """Searches memory; each passage has its citation, trust, matched words, and the passage that superseded it."""

    purpose = ToolPurpose.MEMORY
    only_reads = True
    structured = True
    facts = declare_tool("memory_search", Access.MEMORY, former_names=("search_memory", "memory_timeline"))
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "filters": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": f"name=value: {' '.join(_NAMED)}",
                },
            },
        },
    )

    def __init__(self, memory: Memory, in_view: Callable[[], frozenset[int]]) -> None:
        self._memory = memory
        self._in_view = in_view

    def action(self, arguments: dict[str, Any]) -> Action:
        arguments = _with_filters(arguments)
        if around := text_argument(arguments, "around").strip():
            text = _timeline_query(self._memory, arguments).text
            about = f"“{text}”" if around == BEST else around
            return Action(
                tool=self.facts.name, access=self.facts.access, summary=f"what happened around {about}", subject=text
            )
        query = self._query(arguments)
        filters = [f"{name} {arguments[name]}" for name in _FILTERS if arguments.get(name)]
        about = " · ".join([f"“{query.text}”"] * bool(query.text) + filters)
        return Action(
            tool=self.facts.name, access=self.facts.access, summary=f"search memory for {about}", subject=query.text
        )

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        arguments = _with_filters(arguments)
        if text_argument(arguments, "around").strip():
            return _timeline(self._memory, _timeline_query(self._memory, arguments))
        query = self._query(arguments, exclude=self._in_view())
        results = self._memory.search.query(query)
        if not results.hits:
            in_view = self._memory.search.query(self._query(arguments)).found
            return "All that is remembered on this is in this conversation." if in_view else NOTHING_REMEMBERED
        shown = [hit.entry for hit in results.hits if hit.entry is not None and hit.kind == EntryKind.TOOL_RESULT]
        noted = self._memory.observations.of(shown)
        passages = list(_within_budget(_passage_object(hit, noted.get(hit.entry or 0)) for hit in results.hits))
        more = results.next or len(results.hits) > len(passages)
        return as_json(
            {
                "note": "" if results.found else "Nothing that surely answers is remembered; these lie nearest.",
                "passages": passages,
                "more": "More was found: ask for it in narrower words." if more else "",
            }
        )

    def _query(self, arguments: dict[str, Any], exclude: frozenset[int] = frozenset()) -> Query:
        """The query of the arguments. Raises ToolFailure."""
        text = text_argument(arguments, "query").strip()
        options = _options(arguments)
        if not text and not options:
            raise MalformedCall(
                "Missing argument", '“query” must be a string, or a filter is needed. Valid: {"query": "boiler"}'
            )
        given = SearchOptions(
            **options,
            limit=MAX_HITS,
            newest=flag_argument(arguments, "newest"),
        )
        return _parsed(self._memory, text, given, exclude)


def _with_filters(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with those that `filters` names (`["speaker=Ann"]`). Raises MalformedCall."""
    given: object = arguments.get("filters") or []
    filters = cast("list[object]", given) if isinstance(given, list) else [given]
    named: dict[str, Any] = {}
    for text in filters:
        name, equals, value = (part.strip() for part in str(text).partition("="))
        if not equals or not value or name not in _NAMED:
            raise MalformedCall(
                "Wrong argument",
                f"“filters”: {str(text)[:100]!r} is none of {', '.join(_NAMED)}. Valid: "
                '{"query": "boiler", "filters": ["speaker=Ann", "kind=message"]}',
            )
        if name == "newest":
            named[name] = value.casefold() not in {"false", "no", "0"}
        else:
            named[name] = f"{named[name]},{value}" if name in named else value
    return {**arguments, **named}


def _timeline_query(memory: Memory, arguments: dict[str, Any]) -> Query:
    """The query for the entries before and after a moment, an entry, or the best match. Raises ToolFailure."""
    around, text = text_argument(arguments, "around").strip(), text_argument(arguments, "query").strip()
    if around == BEST:
        string_argument(arguments, "query")
    count = min(whole_argument(arguments, "entries", 5, least=1), MAX_NEIGHBOURS)
    given = SearchOptions(around=around, before=count, after=count, limit=2 * count + 1, **_options(arguments))
    return _parsed(memory, text, given)


def _timeline(memory: Memory, query: Query) -> str:
    """Entries around the moment, oldest first, and the number of entries of each day near it."""
    results = memory.search.query(query)
    if not results.hits:
        return NOTHING_REMEMBERED
    moment = _moment(query, results.hits, results.anchor)
    counts = memory.conversations.counts_by_day(
        moment - timedelta(days=DAYS_AROUND), moment + timedelta(days=DAYS_AROUND)
    )
    return as_json({"days": counts, "at": results.anchor, "passages": [_timeline_object(hit) for hit in results.hits]})


def _options(arguments: dict[str, Any]) -> dict[str, Any]:
    """The search options that the filters set. Raises ToolFailure."""
    options: dict[str, Any] = {}
    for name, field in _FILTERS.items():
        if value := _filter_text(arguments, name):
            values = tuple(part.strip() for part in value.split(",") if part.strip())
            values = tuple(_KIND_ALIASES.get(part, part) for part in values) if name == "kind" else values
            options[field] = values if field in _REPEATABLE else value
    return options


def _parsed(memory: Memory, text: str, given: SearchOptions, exclude: frozenset[int] = frozenset()) -> Query:
    """The query; what the command line calls `--since` is called `after` here. Raises ToolFailure."""
    names = {"since": "after", "until": "before", "k": "entries", "before": "entries", "after": "entries"}
    try:
        query = parse_query(text, given, clock=memory.search.clock)
    except Misuse as error:
        message = _OPTION.sub(lambda match: f"“{names.get(match[1], match[1])}”", f"{error.message} {error.hint}")
        raise ToolFailure("Wrong argument", message.strip()) from error
    return structs.replace(query, exclude=exclude)


def _filter_text(arguments: dict[str, Any], name: str) -> str:
    """The filter's text; a list of texts is joined. Raises ToolFailure."""
    value = arguments.get(name)
    if isinstance(value, list):
        return ",".join(texts_argument(arguments, name))
    return "" if value is None else text_argument(arguments, name).strip()


def _moment(query: Query, hits: tuple[Hit, ...], anchor: str) -> datetime:
    """The moment that the timeline is around: the one asked for, else that of the entry in its middle."""
    if isinstance(query.around, datetime):
        return query.around
    times = [hit.time for hit in hits if hit.time and hit.id == anchor] or [hit.time for hit in hits if hit.time]
    return times[len(times) // 2]


def _timeline_object(hit: Hit) -> dict[str, Any]:
    text = " ".join(hit.snippet.split())
    return {
        "cite": cite_of(hit.citation),
        "ref": hit.id,
        "time": iso(hit.time) if hit.time else "",
        "text": text if len(text) <= LINE_CHARS else text[:LINE_CHARS] + "…",
    }


def _within_budget(passages: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The best passages that fit; at least the first."""
    budget = MAX_RESULT_TOKENS
    for passage in passages:
        tokens = estimate(as_json(passage))
        if tokens > budget and budget < MAX_RESULT_TOKENS:
            return
        budget -= tokens
        yield passage


def _passage_object(hit: Hit, noted: StoredObservation | None = None) -> dict[str, Any]:
    """The passage; `noted` is what was observed of the whole result that it is a part of."""
    matched = dict.fromkeys(hit.snippet[start:end].casefold() for start, end in hit.marks)
    return {
        "cite": cite_of(hit.citation),
        "ref": hit.id,
        "trust": hit.trust.value,
        "superseded_by": hit.superseded_by,
        "alike": len(hit.like),
        "found_by": list(matched)[:8],
        "text": hit.excerpts,
        **({"noted": clipped(noted.observation.brief, MOST_NOTED)} if noted else {}),
    }
