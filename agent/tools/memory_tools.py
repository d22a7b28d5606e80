"""Memory, as the model may use it: search, recall the whole of a passage, remember."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agent.tools.port import wanted
from foundation.privacy import clear
from memory.search import Hit, Query
from memory.workspace_memory import Memory
from models.messages import Tool
from models.tokens import estimate

MOST_TOKENS = 1200  # of all passages of one search: a tool's output is not cut within one


class SearchMemory:
    """Finds passages; each comes with its address, date and trust, the words it was found by, what superseded it."""

    asks = False
    definition = Tool(
        "search_memory",
        "Search everything remembered: past conversations, notes and archived pages. Returns passages with references.",
        {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    )

    def __init__(self, memory: Memory, in_view: Callable[[], frozenset[int]]) -> None:
        self._memory = memory
        self._in_view = in_view

    def summary(self, arguments: dict[str, Any]) -> str:
        return f"search memory for “{arguments.get('query', '')}”"

    def run(self, arguments: dict[str, Any]) -> str:
        query = Query(text=wanted(arguments, "query"), limit=12, exclude=self._in_view())
        results = self._memory.search.query(query)
        if not results.hits:
            return "Nothing relevant is remembered."
        nearest = [] if results.found else ["Nothing that surely answers is remembered; these lie nearest:"]
        return "\n\n".join([*nearest, *_bounded(map(_shown, results.hits))])


class RecallPassage:
    """Brings back the whole of one passage by its reference."""

    asks = False
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
        passage = self._memory.recall(wanted(arguments, "ref"))
        return f"(trust: {passage.trust.value})\n{passage.text}"


class Remember:
    """Adds a note to MEMORY.md. Asks: what a model or a web page says goes nowhere unasked."""

    asks = True
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
            clear(wanted(arguments, "note")), heading=None, conversation=self._conversation()
        )
        return f"Remembered as {note.id}."


def _bounded(shown: Iterable[str]) -> Iterator[str]:
    """The best, as many as fit; the first in any case."""
    room = MOST_TOKENS
    for text in shown:
        tokens = estimate(text)
        if tokens > room and room < MOST_TOKENS:
            yield "More was found: ask for it in narrower words."
            return
        room -= tokens
        yield text


def _shown(hit: Hit) -> str:
    words = dict.fromkeys(hit.snippet[start:end].casefold() for start, end in hit.marks)
    told = [
        f"ref {hit.id}, trust {hit.trust.value}",
        f"superseded by {hit.superseded_by}" if hit.superseded_by else "",
        f"{len(hit.like)} more say the same" if hit.like else "",
        f"found by: {', '.join(list(words)[:8])}" if words else "",
    ]
    return f"{hit.citation} ({'; '.join(each for each in told if each)})\n{hit.snippet}"
