"""Rows of the search screen, and the passage and the page behind a row."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.services.locate import pixel_position
from context.pages.lookup import by_reference
from foundation.trust import Citation, Trust
from memory.errors import NotFound
from memory.pages.types import PageRow
from memory.recalled_passage import RecalledPassage
from memory.search import Hit

if TYPE_CHECKING:
    from memory.memory import Memory


class BrowseRow(Struct, frozen=True, kw_only=True):
    """One row of the list. `passage` is set where the row was found by its reference.

    `score` is the likelihood of an answer, from 0 to 1; 0 without a query. `marks` are the query terms' spans in the
    snippet, and `span` is the snippet's in the passage, in characters.
    """

    id: str
    kind: str = ""
    entry: int | None = None  # its seq; None for a note
    conversation: str = ""  # its id
    title: str = ""  # of the conversation, the note or the archive
    who: str = ""
    time: datetime | None = None
    trust: Trust
    snippet: str
    citation: str
    passage: RecalledPassage | None = None
    score: float = 0.0
    marks: tuple[tuple[int, int], ...] = ()
    span: tuple[int, int] = (0, 0)
    duplicates: tuple[str, ...] = ()  # ids of passages with the same content
    superseded_by: str = ""  # the id of a newer passage that contradicts it
    parts: dict[str, float] = {}  # the score's components, with `explain`

    @property
    def key(self) -> str:
        """The row's unique key; an imported id is unique within its conversation only."""
        return self.id if self.entry is None else str(self.entry)


class BrowsePage(Struct, frozen=True, kw_only=True):
    """One page of results. `next` is the next page's number, if there is one; `error` says what failed.

    `damaged` reports damaged pages, a sentence each, each page once. `indexed` is set while the index is being built
    and the results may be incomplete: the share that is indexed, from 0 to 1. `anchor` is the id of the row that a
    timeline is centred on. `warning`: why the vector search was skipped. `likely` is false where nothing is likely to
    answer, and the rows are merely the nearest results.
    """

    rows: tuple[BrowseRow, ...] = ()
    total: int = 0
    next: int | None = None
    took_ms: float = 0.0
    error: str = ""
    damaged: tuple[str, ...] = ()
    indexed: float | None = None
    anchor: str = ""
    warning: str = ""
    likely: bool = True


class PagePicture(Struct, frozen=True):
    """A page's file and its row. `begin`: left and top of the passage on the picture, in pixels."""

    path: Path
    row: PageRow
    begin: tuple[int, int] | None = None


def full_passage(memory: "Memory", row: BrowseRow) -> RecalledPassage:
    """The whole passage of a row, exactly as stored. Blocks. Raises NotFound, Damaged."""
    if row.passage is not None:
        return row.passage
    if passage := by_reference(memory, row.id, row.conversation):
        return passage[0]
    raise NotFound("Not found", f"{row.id} no longer exists.", "It may have been deleted meanwhile.")


def speaker_of(passage: Hit | RecalledPassage) -> str:
    """The speaker, or else the role, and another device that wrote it; "" for a note and for an archived file here."""
    speaker = "" if passage.kind == "page" else passage.speaker or passage.role or ""
    return Citation(kind="", ref="", speaker=speaker, device=passage.citation.device).author


def page_picture(memory: "Memory", page_id: str, start: int | None = None) -> PagePicture:
    """The page as a file in the page cache, with the position of its text's character `start`.

    Blocks. Raises NotFound, Damaged.
    """
    path = memory.vault.png(page_id)
    row = memory.vault.page(page_id)
    if start is None:
        return PagePicture(path, row)
    return PagePicture(path, row, pixel_position(memory.vault.read_page(page_id), row.mode, row.cell, start))


def hit_row(hit: Hit) -> BrowseRow:
    """The row of a hit."""
    return BrowseRow(
        id=hit.id,
        kind=hit.kind,
        entry=hit.entry,
        conversation=hit.conversation,
        title=hit.citation.title,
        who=speaker_of(hit),
        time=hit.time,
        trust=hit.trust,
        snippet=hit.snippet,
        citation=str(hit.citation),
        score=hit.shown_score,
        span=hit.text_span,
        duplicates=hit.like,
        parts=hit.parts,
        marks=hit.marks,
        superseded_by=hit.superseded_by,
    )


def passage_row(passage: RecalledPassage) -> BrowseRow:
    """The row of a passage that was found by its reference."""
    return BrowseRow(
        id=passage.id,
        kind=passage.kind,
        conversation=passage.conversation or "",
        who=speaker_of(passage),
        time=passage.time,
        trust=passage.trust,
        snippet=passage.snippet,
        citation=str(passage.citation),
        passage=passage,
    )
