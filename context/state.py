"""Components that assemble requests, and their caches."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from context.assembly.head import counted_head
from context.assembly.history import HistoryReader
from context.assembly.tokens import CountedHead, MessageCounter
from context.epoch import EpochState
from context.layers.message import PictureReader
from context.pages.in_view import PagesInView
from context.recall.citations import CitablePassage
from context.settings import ContextSettings
from context.sources.workspace import WorkspaceSources
from foundation.clock import Clock
from memory.context_store import ContextStore
from memory.conversations import Conversations
from memory.observations.store import StoredObservation
from memory.records import Conversation, Entry
from memory.search import Query, SearchResults


class HeadCounts:
    """Cache of zone A with its token counts, by epoch and tokenizer."""

    def __init__(self) -> None:
        self._cached: tuple[EpochState, str, CountedHead] | None = None

    def counted(self, state: EpochState, counting: MessageCounter) -> CountedHead:
        cached = self._cached
        if cached and (cached[0].pieces, cached[0].nonce, cached[1]) == (state.pieces, state.nonce, counting.key):
            return cached[2]
        head = counted_head(state, counting)
        self._cached = (state, counting.key, head)
        return head


class SendableTurn(Protocol):
    """Of a turn (context.types): whether its request is about to be sent, and not only looked at."""

    @property
    def is_sent(self) -> bool: ...


@dataclass
class ContextState:
    """The components, with caches that live from one request to the next."""

    conversations: Conversations
    store: ContextStore
    search: Callable[[Query], SearchResults]
    recall: Callable[[str], Sequence[CitablePassage]]
    sources: WorkspaceSources
    history: HistoryReader
    settings: ContextSettings
    clock: Clock
    nonce: Callable[[int], str]  # of the n-th choice (models.fence.workspace_nonce)
    pages: PagesInView
    observations: Callable[[int, str], Sequence[StoredObservation]]  # at most so many of a scope, newest first
    observed: Callable[[Collection[int]], Mapping[int, StoredObservation]]  # by the seq of what they are of
    flush: Callable[[], None] = lambda: None  # makes the observations of what leaves a request that is sent; bounded
    on_leaving: Callable[[Conversation, Sequence[Entry]], None] = lambda _conversation, _entries: None  # before they do
    has_file: Callable[[str], bool] = lambda _: True  # whether the project has a file of that name
    environment: Callable[[datetime, bool], str] = lambda _now, _is_small: ""  # the line on where and when
    pictures: PictureReader = field(default_factory=PictureReader)
    heads: HeadCounts = field(default_factory=HeadCounts)

    def let_go(self) -> None:
        """Empties the caches after something was forgotten, and what they hold of private text."""
        self.history.overlay = {}
        self.history.counts.forget()
        self.pages.forget()

    def observed_by_now(self, turn: SendableTurn) -> Callable[[Collection[int]], Mapping[int, StoredObservation]]:
        """`observed`, with the observations that a request about to be sent needs."""
        if turn.is_sent:
            self.flush()
        return self.observed
