"""What assembling and compaction work with; the Context face owns one."""

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec import Struct

from context.assembly.head import head_weighed
from context.assembly.history import PastReader
from context.assembly.tokens import Counting, Weighed
from context.epoch import EpochState
from context.pages.in_view import PagesInView
from context.recall.citations import Passage
from context.settings import ContextSettings
from context.sources.attachments import PictureReader
from context.sources.workspace import WorkspaceShelf
from foundation.clock import Clock
from memory.cold import ColdStore
from memory.search import Query, Results


class Pending(Struct, frozen=True):
    """A request that did not fit, for the compaction that follows: tokens of what stands beside the past."""

    fixed: int
    entry: int | None = None  # the message's own
    tail: int = 0


class Heads:
    """Zone A, counted once an epoch and tokenizer."""

    def __init__(self) -> None:
        self._known: tuple[EpochState, str, Weighed | None] | None = None

    def weighed(self, state: EpochState, counting: Counting) -> Weighed | None:
        known = self._known
        if known and (known[0].pieces, known[0].nonce, known[1]) == (state.pieces, state.nonce, counting.key):
            return known[2]
        found = head_weighed(state, counting)
        self._known = (state, counting.key, found)
        return found


@dataclass
class Bench:
    """The parts, and what is remembered from one request to the next."""

    cold: ColdStore
    search: Callable[[Query], Results]
    recall: Callable[[str], Passage]
    shelf: WorkspaceShelf
    past: PastReader
    settings: ContextSettings
    clock: Clock
    pages: PagesInView
    pictures: PictureReader = field(default_factory=PictureReader)
    heads: Heads = field(default_factory=Heads)
    pending: dict[int, Pending] = field(default_factory=dict)  # by conversation
