"""Prefetch: starts the memory search while the message is being stored.

The turn waits for its result as late as possible, and at most for the configured time.
"""

from collections.abc import Callable
from threading import Event

from msgspec import Struct

from context.assembly.view import BranchView
from memory.records import EntryKind
from memory.search import Query, SearchResults
from models.messages import Role


class PrefetchResult(Struct, frozen=True):
    """The results, their query, and the entries that it excluded."""

    results: SearchResults
    query: Query


class Prefetch:
    """One search: `run` blocks and is called in a thread, `wait` waits for it, `end` releases whoever waits."""

    def __init__(self, query: Callable[[], Query | None], search: Callable[[Query], SearchResults]) -> None:
        self._query = query
        self._search = search
        self._done = Event()
        self._found: PrefetchResult | None = None
        self._error: Exception | None = None

    def run(self) -> None:
        """Searches. Raises nothing: `wait` raises what it met."""
        try:
            query = None if self._done.is_set() else self._query()
            if query is not None:
                self._found = PrefetchResult(self._search(query), query)
        except Exception as error:
            self._error = error
        finally:
            self._done.set()

    def wait(self, seconds: float) -> PrefetchResult | None:
        """The result; None where nothing was searched, or it was ended or is late. Raises what `run` met."""
        self._done.wait(seconds)
        if self._error is not None:
            raise self._error
        return self._found

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def end(self) -> None:
        """Releases whoever waits. The search itself runs to its end."""
        self._done.set()


def previous_question(view: BranchView) -> str:
    """The text of the user's previous message."""
    said = (e for e in reversed(view.entries) if e.kind is EntryKind.MESSAGE and e.role is Role.USER)
    entry = next(said, None)
    return (entry.text or "") if entry else ""
