"""Report of a request: the JSON of `context` (docs/json), and the figures of the status bar."""

from typing import Any

import msgspec
from msgspec import Struct

LAST_CONVERSATION = "last conversation"
"""The name of the source that the summary of the last conversation is, in stored epochs as well."""

ENVIRONMENT = "environment"
"""The name of the source that the line on date, folder and system is, in stored epochs as well."""

INDEX = "observations"
"""The name of the source that the index of observations is; memory.cold.epoch_copies finds it in stored epochs."""


class SourceReport(Struct, frozen=True):
    """One source in a layer, and its tokens."""

    name: str
    tokens: int


class PageUsage(Struct, frozen=True):
    """Pages in view: their number, their cost with captions, and the cost of the same text as text (`stands_for`).

    Costs are tokens of this request and of each later one.
    """

    count: int
    tokens: int
    stands_for: int

    @property
    def saved(self) -> int:
        return self.stands_for - self.tokens


class ArchiveUsage(Struct, frozen=True):
    """Tokens that this conversation moved to the archive, as they were sent in requests before any was reduced.

    `tokens` in total, of which `on_pages` are shown by pages in view. The others cost tokens again when they are
    recalled.
    """

    tokens: int
    on_pages: int = 0

    @property
    def out_of_view(self) -> int:
        return self.tokens - self.on_pages


class ObservationUsage(Struct, frozen=True):
    """The index of observations: its lines, the tokens that it takes, and those of what each further step brings.

    `detail` are the tokens of all the notes, `originals` of all that they were made of.
    """

    count: int
    tokens: int
    detail: int
    originals: int


class Reduction(Struct, frozen=True):
    """An entry that is shown with less than it has: a tool result as a line, or a message without what was recalled
    for it (`tool` is ""). Tokens in a request, about: `before`, and now."""

    entry: str
    tool: str
    before: int
    after: int

    @property
    def saved(self) -> int:
        return self.before - self.after


def archive_of(tokens: int, pages: PageUsage | None) -> ArchiveUsage | None:
    """Archive usage with these pages in view; None where nothing was archived."""
    return ArchiveUsage(tokens, min(tokens, pages.stands_for) if pages else 0) if tokens else None


class DroppedSource(Struct, frozen=True):
    """A source, or a part of one, that did not fit. `tokens` counts the omitted part."""

    name: str
    tokens: int
    why: str


class LayerReport(Struct, frozen=True):
    """Report of one layer. The tokens of its sources sum to `tokens`."""

    name: str
    tokens: int
    budget: int
    sources: tuple[SourceReport, ...] = ()
    dropped: tuple[DroppedSource, ...] = ()


class ZoneReport(Struct, frozen=True):
    """Report of one of the zones A to D. `messages` is their number, `sha256` the hash of the messages as JSON."""

    name: str
    messages: int
    tokens: int
    sha256: str


class DisplayMessage(Struct, frozen=True):
    """A message as text for display: images and tool calls are described."""

    role: str
    text: str


class ContextReport(Struct, frozen=True, kw_only=True):
    """Token accounting of a request. The layers' tokens sum to `total_tokens`, at most `window` − `reserve`.

    `prefix_sha256` is the hash of zones A to C. `unchanged_prefix_tokens` counts the tokens at the beginning of this
    request that are unchanged from the conversation's previous request, which had `previous_tokens`.

    `pages` and `archive` are two savings that must not be added: the tokens that pages in view save in this request,
    and the tokens moved to the archive, part of which those pages show. `observations`: the index, if there is one.
    `reduced`: the entries in view that the working set shows with less than they have. `compacts_at`: the tokens of a
    request above which old tool results become a line each and older turns leave; 0 where that is not known.
    `before_compaction`: the tokens of the request while older turns have not left that must leave before it is sent; 0
    where none must.
    """

    model: str
    window: int
    reserve: int
    total_tokens: int
    layers: tuple[LayerReport, ...]
    zones: tuple[ZoneReport, ...]
    messages: tuple[DisplayMessage, ...]
    prefix_sha256: str
    unchanged_prefix_tokens: int = 0
    previous_tokens: int = 0
    pages: PageUsage | None = None
    archive: ArchiveUsage | None = None
    observations: ObservationUsage | None = None
    reduced: tuple[Reduction, ...] = ()
    compacts_at: int = 0
    before_compaction: int = 0

    @property
    def budget(self) -> int:
        """Maximum tokens of a request."""
        return self.window - self.reserve

    @property
    def filled(self) -> float:
        """Used fraction of the budget, 0 to 1."""
        return self.total_tokens / self.budget if self.budget else 1.0

    @property
    def compaction_share(self) -> float:
        """The fraction of the budget at which older turns leave, 0 to 1; 0 where that is not known."""
        return self.compacts_at / self.budget if self.budget else 0.0

    @property
    def prefix_stability(self) -> float | None:
        """Unchanged fraction of the previous request; None for the first one."""
        return self.unchanged_prefix_tokens / self.previous_tokens if self.previous_tokens else None

    def as_json(self) -> dict[str, Any]:
        """The object of `palimpsest context --json`, without its `schema`."""
        return msgspec.to_builtins(self)
