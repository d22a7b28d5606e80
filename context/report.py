"""What a request is made of: the `context` JSON of DESIGN 5, and the figures of the status bar."""

from typing import Any

import msgspec
from msgspec import Struct


class SourceReport(Struct, frozen=True):
    """One thing in a layer and what it takes."""

    name: str
    tokens: int


class PageUsage(Struct, frozen=True):
    """Pages in view: how many, what they cost with the words beside them, and what the words on them would cost as
    text, in tokens of this request and of each that follows."""

    count: int
    tokens: int
    stands_for: int

    @property
    def saved(self) -> int:
        return self.stands_for - self.tokens


class ArchiveUsage(Struct, frozen=True):
    """What left this conversation for the archive, in tokens as it stood in requests: `tokens` in all, of which so many
    are `on_pages` in view. What is out of view costs its tokens again when it is recalled."""

    tokens: int
    on_pages: int = 0

    @property
    def out_of_view(self) -> int:
        return self.tokens - self.on_pages


def archive_of(tokens: int, pages: PageUsage | None) -> ArchiveUsage | None:
    """The archive beside these pages in view; None where nothing left for it."""
    return ArchiveUsage(tokens, min(tokens, pages.stands_for) if pages else 0) if tokens else None


class DroppedSource(Struct, frozen=True):
    """One thing, or a part of one, that did not fit. `tokens` is what was left out."""

    name: str
    tokens: int
    why: str


class LayerReport(Struct, frozen=True):
    """One of the four layers. Its sources' tokens sum to `tokens`."""

    name: str
    tokens: int
    budget: int
    sources: tuple[SourceReport, ...] = ()
    dropped: tuple[DroppedSource, ...] = ()


class ZoneReport(Struct, frozen=True):
    """One of the zones A to D. `messages` is how many it holds, `sha256` that of its messages as JSON."""

    name: str
    messages: int
    tokens: int
    sha256: str


class DisplayMessage(Struct, frozen=True):
    """A message, for display: pictures and tool calls are told in words."""

    role: str
    text: str


class ContextReport(Struct, frozen=True, kw_only=True):
    """A request, accounted for. The layers' tokens sum to `total_tokens`, which is at most `window` − `reserve`.

    `prefix_sha256` is of all that stands before the tail (zones A to C). `unchanged_prefix_tokens` are those of the
    previous request of this conversation that stand unchanged at the head of this one, of `previous_tokens` in all.
    `pages` and `archive` are two savings that are never added up: what pages in view spare this request, and what left
    for the archive, part of which is seen on those pages.
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

    @property
    def budget(self) -> int:
        """Tokens that a request may take."""
        return self.window - self.reserve

    @property
    def filled(self) -> float:
        """How much of the budget is taken, 0 to 1."""
        return self.total_tokens / self.budget if self.budget else 1.0

    @property
    def prefix_stability(self) -> float | None:
        """The share of the previous request that stands unchanged; None before there is one."""
        return self.unchanged_prefix_tokens / self.previous_tokens if self.previous_tokens else None

    def as_json(self) -> dict[str, Any]:
        """The object of `palimpsest context --json`, less its `schema`."""
        return msgspec.to_builtins(self)
