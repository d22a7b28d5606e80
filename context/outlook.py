"""What a compaction would do, before it does it: figures for a person who is asked."""

import unicodedata
from collections.abc import Callable, Mapping

from msgspec import Struct

from context.plan import FRAME, Plan, turns_of
from memory.archive.draw.modes import Mode, mode_named
from memory.cold.entries import Entry
from memory.settings import ArchiveSettings

HEAD_CELLS = 48  # the line before an entry on its page: who, when, which


class Outlook(Struct, frozen=True, kw_only=True):
    """Tokens are of the request, but for `text_tokens` (of what leaves) and `vision_tokens` (of the pages it is drawn
    on, nominal). `pages`, `vision_tokens` and `tokens_after` are about right: drawing and summing up say exactly."""

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


def outlook_of(
    plan: Plan,
    tokens: Mapping[int, int],
    before: int,
    text_of: Callable[[Entry], str],
    archive: ArchiveSettings,
    *,
    pages: int = 0,
) -> Outlook:
    """The figures of a plan. `tokens` is what each entry in view takes, `before` the whole request, `pages` what pages
    in view will take more than now."""
    leaving = sum(tokens.get(entry.seq, 0) for entry in plan.leaving)
    cells = sum(HEAD_CELLS + cells_of(text_of(entry)) for entry in plan.leaving)
    drawn = modes_for(cells, archive)
    return Outlook(
        entries=len(plan.leaving),
        turns=plan.turns,
        text_tokens=leaving,
        pages=len(drawn),
        vision_tokens=sum(mode.vision_tokens for mode in drawn),
        summary_tokens=plan.summary_limit,
        tokens_before=before,
        tokens_after=min(before, before - leaving + pages + plan.summary_limit + FRAME),
        kept_entries=len(plan.kept),
        kept_turns=len(turns_of(plan.kept)),
    )


def cells_of(text: str) -> int:
    """Cells that the text takes on a page, escapes aside."""
    return len(text) if text.isascii() else sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in text)


def modes_for(cells: int, archive: ArchiveSettings) -> list[Mode]:
    """The pages that so many cells fill: full ones, and the smallest that holds the rest."""
    mode = mode_named(archive.mode, archive.dense)
    full, rest = divmod(cells, mode.capacity)
    last = next((smaller for smaller in mode.smaller if rest <= smaller.capacity), mode)
    return [mode] * full + ([last] if rest else [])
