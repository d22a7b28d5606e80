"""The built-in tools: search memory, recall a passage, remember a note, read a file of the workspace.

Passages are JSON: their source and their trust are fields of their own, which no text of a passage can imitate.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from agent.tools.port import ToolFailure, string_argument
from context.pages.lookup import by_reference
from foundation.clock import iso
from foundation.files import FileTooLarge, read_bytes, resolve_within
from foundation.privacy import TextSource, clear
from foundation.trust import Citation
from memory.memory import Memory
from memory.references import nothing_named
from memory.search import Hit, Query
from models.fence import label, reference
from models.messages import Tool
from models.tokens import estimate

MAX_RESULT_TOKENS = 1200  # of all passages of one search, so that the output is not cut within a passage
NOTHING_REMEMBERED = "Nothing relevant is remembered."
MAX_FILE_BYTES = 2_000_000  # of a file that is read


class SearchMemory:
    """Searches memory; each passage has its citation, trust, matched words, and the passage that superseded it."""

    asks_permission = False
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

    def summary(self, arguments: dict[str, Any]) -> str:
        return f"search memory for “{arguments.get('query', '')}”"

    def run(self, arguments: dict[str, Any]) -> str:
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

    asks_permission = False
    stores_arguments = False
    structured = True
    definition = Tool(
        "recall",
        "Bring back the whole text behind a reference (e_…, pg_… or m_…), exact where it says so.",
        {"type": "object", "properties": {"ref": {"type": "string"}}, "required": ["ref"]},
    )

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def summary(self, arguments: dict[str, Any]) -> str:
        return f"recall {arguments.get('ref', '')}"

    def run(self, arguments: dict[str, Any]) -> str:
        ref = string_argument(arguments, "ref")
        if not (passages := by_reference(self._memory, ref)):
            raise nothing_named(ref)
        objects = [
            {"cite": _cite(passage.citation), "trust": passage.trust.value, "text": passage.text}
            for passage in passages
        ]
        return _as_json(objects[0] if len(objects) == 1 else {"passages": objects})


class RememberNote:
    """Adds a note to MEMORY.md. Asks first: a model or a web page writes nothing on its own."""

    asks_permission = True
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

    def summary(self, arguments: dict[str, Any]) -> str:
        return f"add to MEMORY.md: “{arguments.get('note', '')}”"

    def run(self, arguments: dict[str, Any]) -> str:
        note = self._memory.hot.remember(
            clear(string_argument(arguments, "note"), TextSource.OTHER), heading=None, conversation=self._conversation()
        )
        return f"Remembered as {note.id}."


class ReadFile:
    """Reads one text file of the workspace. Asks first, and never leaves the folder."""

    asks_permission = True
    stores_arguments = False
    structured = False
    definition = Tool(
        "read_file",
        "Read a text file of the user's workspace. The user is asked each time.",
        {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    )

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def summary(self, arguments: dict[str, Any]) -> str:
        return f"read {arguments.get('path', '')}"

    def run(self, arguments: dict[str, Any]) -> str:
        path = self._within(string_argument(arguments, "path"))
        try:
            body = read_bytes(resolve_within(path, self._root), most=MAX_FILE_BYTES)
            return body.decode("utf-8").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise ToolFailure("Not text", f"{path.name} is not UTF-8 text.") from error
        except FileTooLarge as error:
            raise ToolFailure("Too large", f"{path.name} is larger than {MAX_FILE_BYTES:,} bytes.") from error
        except OSError as error:
            raise ToolFailure("Not readable", f"{path.name}: {error.strerror}.") from error

    def _within(self, name: str) -> Path:
        path = (self._root / name).resolve()
        is_inside = path.is_relative_to(self._root)
        is_hidden = is_inside and any(part.startswith(".") for part in path.relative_to(self._root).parts)
        if not is_inside or is_hidden:
            raise ToolFailure("Out of bounds", f"{name} is not a visible file of the workspace.")
        return path


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
    return f"… {characters:,} more characters: recall {entry} brings the whole."


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
