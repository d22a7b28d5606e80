"""Prefetch: starts the memory search while the message is being stored.

The turn waits for the result as late as possible, and at most for the configured time.
"""

from collections.abc import Callable
from threading import Event

from msgspec import Struct

from context.assembly.view import BranchView
from memory.records import EntryKind
from memory.search import Query, SearchResults
from models.messages import Role


class PrefetchResult(Struct, frozen=True):
    """Search results and their query."""

    results: SearchResults
    query: Query


class Prefetch:
    """One search: `run` blocks and is called in a thread, `wait` waits for it, `end` releases the waiting threads."""

    def __init__(self, query: Callable[[], Query | None], search: Callable[[Query], SearchResults]) -> None:
        self._query = query
        self._search = search
        self._done = Event()
        self._result: PrefetchResult | None = None
        self._error: Exception | None = None

    def run(self) -> None:
        """Runs the search. Raises nothing: `wait` raises its exception."""
        try:
            query = None if self._done.is_set() else self._query()
            if query is not None:
                self._result = PrefetchResult(self._search(query), query)
        except Exception as error:
            self._error = error
        finally:
            self._done.set()

    def wait(self, seconds: float) -> PrefetchResult | None:
        """The result; None where no query was made, or the search was ended or late. Raises the error of `run`."""
        self._done.wait(seconds)
        if self._error is not None:
            raise self._error
        return self._result

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def end(self) -> None:
        """Releases the waiting threads. A running search is not cancelled."""
        self._done.set()


def previous_question(view: BranchView) -> str:
    """The text of the user's previous message."""
    for entry in reversed(view.entries):
        if entry.kind is EntryKind.MESSAGE and entry.role is Role.USER:
            return entry.text or ""
    return ""
