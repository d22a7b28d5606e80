"""Asked ahead: what memory has on a message is looked for from the moment it is sent, while it is committed and the
request's other layers are gathered. The turn waits for it at the last, and not for ever.
"""

from collections.abc import Callable
from threading import Event

from msgspec import Struct

from context.assembly.view import BranchView
from memory.records import EntryKind
from memory.search import Query, SearchResults
from models.messages import Role


class PrefetchResult(Struct, frozen=True):
    """What was found, for what, and which entries were left out of it."""

    results: SearchResults
    query: Query


class Prefetch:
    """One search, run by whoever has a thread for it: `run` blocks, `wait` waits for it, `end` lets all go on."""

    def __init__(self, query: Callable[[], Query | None], search: Callable[[Query], SearchResults]) -> None:
        self._query = query
        self._search = search
        self._done = Event()
        self._found: PrefetchResult | None = None
        self._error: Exception | None = None

    def run(self) -> None:
        """Looks. Raises nothing: `wait` does."""
        try:
            query = None if self._done.is_set() else self._query()
            if query is not None:
                self._found = PrefetchResult(self._search(query), query)
        except Exception as error:
            self._error = error
        finally:
            self._done.set()

    def wait(self, seconds: float) -> PrefetchResult | None:
        """What was found; None where nothing was asked, it is not ready in time, or it was ended. Raises what `run`
        met with."""
        self._done.wait(seconds)
        if self._error is not None:
            raise self._error
        return self._found

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def end(self) -> None:
        """Nobody waits any longer. The search itself comes to its own end."""
        self._done.set()


def asked_before(view: BranchView) -> str:
    """The words of the user's message before this one."""
    said = (e for e in reversed(view.entries) if e.kind is EntryKind.MESSAGE and e.role is Role.USER)
    entry = next(said, None)
    return (entry.text or "") if entry else ""
