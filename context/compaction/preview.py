"""Preview of a compaction: the figures shown for confirmation."""

from typing import TYPE_CHECKING

from msgspec import Struct

from context.compaction.plan import turns_of
from memory.pages.render.modes import Mode, mode_named
from memory.settings import ArchiveSettings

if TYPE_CHECKING:
    from context.compaction.projection import ProjectedCompaction
    from memory.pages.types import ArchiveEstimate


class CompactionPreview(Struct, frozen=True, kw_only=True):
    """Figures of a planned compaction.

    Tokens count the request, except `text_tokens` (the text to be archived) and `vision_tokens` (its pages).
    `tokens_after` is an estimate.
    """

    entries: int
    turns: int
    text_tokens: int
    pages: int
    vision_tokens: int
    summary_tokens: int  # at most
    tokens_before: int
    tokens_after: int
    kept_entries: int
    kept_turns: int


def preview_of(
    projection: "ProjectedCompaction", expected: "ArchiveEstimate", summary: int, *, by_model: bool
) -> CompactionPreview:
    """Preview of a compaction. `expected` is the estimate for archiving its entries; `summary`: tokens of the new
    summary; `by_model`: a model will write another one, which may be as long as its limit."""
    compaction = projection.plan
    plan, before = compaction.entries, compaction.unchanged
    longest = max(summary, plan.summary_limit) if by_model else summary
    return CompactionPreview(
        entries=len(plan.leaving),
        turns=plan.turns,
        text_tokens=expected.text_tokens,
        pages=expected.pages,
        vision_tokens=expected.vision_tokens,
        summary_tokens=longest,
        tokens_before=before,
        tokens_after=projection.after + longest - summary,
        kept_entries=len(plan.kept),
        kept_turns=len(turns_of(plan.kept)),
    )


def modes_for(cells: int, archive: ArchiveSettings) -> list[Mode]:
    """Modes of the pages for `cells` cells: full pages, and the smallest page that holds the rest."""
    mode = mode_named(archive.page_mode, archive.dense)
    full, rest = divmod(cells, mode.capacity)
    last = next((smaller for smaller in mode.smaller if rest <= smaller.capacity), mode)
    return [mode] * full + ([last] if rest else [])
