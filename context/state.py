"""State of the context: the components that requests are made with, and their caches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from context.assembly.head import head_message
from context.assembly.history import HistoryReader
from context.assembly.tokens import CountedMessage, MessageCounter
from context.epoch import EpochState
from context.layers.message import PictureReader
from context.pages.in_view import PagesInView
from context.recall.citations import CitablePassage
from context.settings import ContextSettings
from context.sources.workspace import WorkspaceSources
from foundation.clock import Clock
from memory.context_store import ContextStore
from memory.conversations import Conversations
from memory.search import Query, SearchResults


class HeadCounts:
    """Cache of zone A as a counted message, by epoch and tokenizer."""

    def __init__(self) -> None:
        self._known: tuple[EpochState, str, CountedMessage | None] | None = None

    def weighed(self, state: EpochState, counting: MessageCounter) -> CountedMessage | None:
        known = self._known
        if known and (known[0].pieces, known[0].nonce, known[1]) == (state.pieces, state.nonce, counting.key):
            return known[2]
        found = head_message(state, counting)
        self._known = (state, counting.key, found)
        return found


@dataclass
class ContextState:
    """The components, and what is cached from one request to the next."""

    conversations: Conversations
    store: ContextStore
    search: Callable[[Query], SearchResults]
    recall: Callable[[str], Sequence[CitablePassage]]
    shelf: WorkspaceSources
    past: HistoryReader
    settings: ContextSettings
    clock: Clock
    pages: PagesInView
    pictures: PictureReader = field(default_factory=PictureReader)
    heads: HeadCounts = field(default_factory=HeadCounts)
