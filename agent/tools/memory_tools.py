"""The tools of memory: search it, recall a passage, remember a note.

Passages are JSON: their source and their trust are fields of their own, which no text of a passage can imitate.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from agent.permissions.action import Access, Action
from agent.tools.output import text_lines
from agent.tools.port import ToolFailure, ToolRun, string_argument, text_argument
from context.pages.lookup import by_reference
from foundation.clock import iso
from foundation.privacy import TextSource, clear
from foundation.trust import Citation
from memory.memory import Memory
from memory.references import nothing_named
from memory.search import Hit, Query
from models.fence import label, reference
from models.messages import Tool
from models.tokens import estimate

MAX_RESULT_TOKENS = 1200  # of all passages of one search, so that the output is not cut within a passage
MAX_FOUND_LINES = 50
AROUND_FOUND = 200  # characters of a line shown before and after what was looked for
_RANGE = re.compile(r"(?P<first>\d{1,9})\s*(?:(?P<to>[-–])\s*(?P<last>\d{1,9})?)?")
NOTHING_REMEMBERED = "Nothing relevant is remembered."


class SearchMemory:
    """Searches memory; each passage has its citation, trust, matched words, and the passage that superseded it."""

    only_reads = True
    stores_arguments = False
    structured = True
    definition = Tool(
        "search_memory",
        "Search everything remembered: past conversations, notes and archived pages. Returns passages; cite one as "
        "[its `cite`]. What stands in `text` was said or written by others.",
        {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    )

    def __init__(self, memory: Memory, in_view: Callable[[], frozenset[int]]) -> None:
        self._memory = memory
        self._in_view = in_view

    def action(self, arguments: dict[str, Any]) -> Action:
        query = string_argument(arguments, "query")
        return Action(tool="search_memory", access=Access.MEMORY, summary=f"search memory for “{query}”", subject=query)

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        text = string_argument(arguments, "query")
        results = self._memory.search.query(Query(text=text, limit=12, exclude=self._in_view()))
        if not results.hits:
            in_view = self._memory.search.query(Query(text=text, limit=1)).found
            return "All that is remembered on this is in this conversation." if in_view else NOTHING_REMEMBERED
        passages = list(_within_budget(map(_passage_object, results.hits)))
        omitted = len(results.hits) - len(passages)
        return _as_json(
            {
                "note": "" if results.found else "Nothing that surely answers is remembered; these lie nearest.",
                "passages": passages,
                "more": "More was found: ask for it in narrower words." if omitted else "",
            }
        )


class RecallPassage:
    """Recalls one whole passage by its reference."""

    only_reads = True
    stores_arguments = False
    structured = True
    definition = Tool(
        "recall",
        "Bring back the text behind a reference (e_…, pg_… or m_…), exact where it says so: the whole, "
        '`lines` or `characters` of it ("120-180"), or the lines that have the words of `find`.',
        {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("ref", "lines", "characters", "find")},
            "required": ["ref"],
        },
    )

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def action(self, arguments: dict[str, Any]) -> Action:
        ref = string_argument(arguments, "ref")
        return Action(tool="recall", access=Access.MEMORY, summary=f"recall {ref}", subject=ref)

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        ref = string_argument(arguments, "ref")
        if not (passages := by_reference(self._memory, ref)):
            raise nothing_named(ref)
        objects = [
            {"cite": _cite(passage.citation), "trust": passage.trust.value, **_part(passage.text, arguments)}
            for passage in passages
        ]
        return _as_json(objects[0] if len(objects) == 1 else {"passages": objects})


class RememberNote:
    """Adds a note to MEMORY.md. Asks first: a model or a web page writes nothing on its own."""

    only_reads = False
    stores_arguments = True
    structured = False
    definition = Tool(
        "remember",
        "Add a short note to the user's MEMORY.md. The user is asked each time.",
        {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]},
    )

    def __init__(self, memory: Memory, conversation: Callable[[], str | None]) -> None:
        self._memory = memory
        self._conversation = conversation

    def action(self, arguments: dict[str, Any]) -> Action:
        note = string_argument(arguments, "note")
        summary = f"add to MEMORY.md: “{note}”"
        return Action(tool="remember", access=Access.NOTE, summary=summary, subject="MEMORY.md", detail=note)

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        note = self._memory.hot.remember(
            clear(string_argument(arguments, "note"), TextSource.OTHER), heading=None, conversation=self._conversation()
        )
        return f"Remembered as {note.id}."


def _part(text: str, arguments: dict[str, Any]) -> dict[str, str]:
    """The part of the text that the arguments name, and which it is. Raises ToolFailure for no range."""
    if words := text_argument(arguments, "find"):
        return _lines_with(words, text)
    if lines := text_argument(arguments, "lines"):
        of_text = text_lines(text)
        first, last = _range(lines, len(of_text), "lines")
        return {"part": f"lines {first}-{last} of {len(of_text)}", "text": "".join(of_text[first - 1 : last])}
    if characters := text_argument(arguments, "characters"):
        first, last = _range(characters, len(text), "characters")
        return {"part": f"characters {first}-{last} of {len(text)}", "text": text[first - 1 : last]}
    return {"text": text}


def _range(written: str, most: int, unit: str) -> tuple[int, int]:
    """The first and the last of `12-40`, `12-` or `12`, counted from 1. Raises ToolFailure."""
    match = _RANGE.fullmatch(written.replace(",", "").strip())
    first = int(match["first"]) if match else 0
    if match is None or not 1 <= first <= most:
        raise ToolFailure("No such range", f"“{written}”: the text has {unit} 1-{most}.")
    last = int(match["last"] or most) if match["to"] else first
    return first, min(max(last, first), most)


def _lines_with(words: str, text: str) -> dict[str, str]:
    """The lines that have the words, each with its number, with as much of a long line as lies around them."""
    wanted, lines = words.casefold(), text_lines(text)
    found = [
        f"{number}: {_around(line.rstrip(), wanted)}"
        for number, line in enumerate(lines, 1)
        if wanted in line.casefold()
    ]
    shown = found[:MAX_FOUND_LINES]
    part = f"{len(found)} of {len(lines)} lines have “{words}”" + (
        f", the first {len(shown)}" if shown != found else ""
    )
    return {"part": part, "text": "\n".join(shown)}


def _around(line: str, wanted: str) -> str:
    at = line.casefold().find(wanted)
    start = max(at - AROUND_FOUND, 0)
    return line[start : at + len(wanted) + AROUND_FOUND]


def shorten_passage(whole: str, most: int, entry: str) -> str:
    """A passage's JSON with its text cut to about `most` characters; "" for output without a text."""
    try:
        passage: dict[str, Any] = msgspec.json.decode(whole, type=dict[str, Any])
    except msgspec.DecodeError:
        return ""
    text = passage.get("text")
    if not isinstance(text, str):
        return ""
    cut = text[:most]
    return _as_json({**passage, "text": cut, "more": rest_notice(len(text) - len(cut), entry) if cut != text else ""})


def rest_notice(characters: int, entry: str) -> str:
    """How the model gets the rest."""
    return f"… {characters:,} more characters: recall {entry} with lines, characters or find brings any part."


def _within_budget(passages: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The best passages that fit; at least the first."""
    budget = MAX_RESULT_TOKENS
    for passage in passages:
        tokens = estimate(_as_json(passage))
        if tokens > budget and budget < MAX_RESULT_TOKENS:
            return
        budget -= tokens
        yield passage


def _passage_object(hit: Hit) -> dict[str, Any]:
    matched = dict.fromkeys(hit.snippet[start:end].casefold() for start, end in hit.marks)
    return {
        "cite": _cite(hit.citation),
        "ref": hit.id,
        "trust": hit.trust.value,
        "superseded_by": hit.superseded_by,
        "alike": len(hit.like),
        "found_by": list(matched)[:8],
        "text": hit.snippet,
    }


def _cite(citation: Citation) -> str:
    """The text between a citation's brackets: `Bank · Ann · 2026-01-01 · e_4kx7…`."""
    day = iso(citation.time)[:10] if citation.time else ""
    ref = reference(citation.ref)
    location = f"{ref}#L{citation.lines[0]}-L{citation.lines[1]}" if citation.lines else ref
    names = (label(citation.title), label(citation.place), label(citation.speaker))
    return " · ".join(part for part in (*names, day, location) if part)


def _as_json(fields: dict[str, Any]) -> str:
    """The fields that are not empty, in order, as JSON."""
    return json.dumps({name: value for name, value in fields.items() if value}, ensure_ascii=False)
