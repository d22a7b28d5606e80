"""Rows of the recall screen: hits of a question, the passages of a reference or a picture, or the newest entries."""

import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs

from agent.services.images import is_picture
from agent.services.recall import NO_TEXT, compared, recall_picture
from context.pages.lookup import by_reference
from foundation.trust import Trust
from memory.errors import NotFound
from memory.pages.types import PageRow
from memory.recalled_passage import RecalledPassage

if TYPE_CHECKING:
    from memory.memory import Memory
    from memory.search import Hit

ROWS: Final = 50  # looked for at once


class BrowseRow(Struct, frozen=True, kw_only=True):
    """One line of the list. `whole` is the passage, where it was looked up by its reference.

    `score` is how likely it is what was asked for, from 0 to 1; 0 where nothing was asked. `marks` are where the
    question's words stand in the snippet, and `span` where the snippet stands in the passage, in characters.
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
    whole: RecalledPassage | None = None
    score: float = 0.0
    marks: tuple[tuple[int, int], ...] = ()
    span: tuple[int, int] = (0, 0)
    like: tuple[str, ...] = ()  # ids of passages that say the same
    superseded_by: str = ""  # the id of a newer passage that says otherwise
    parts: dict[str, float] = {}  # what the score is made of, where that was asked for

    @property
    def key(self) -> str:
        """What no other row has: an imported id is of its own conversation alone."""
        return self.id if self.entry is None else str(self.entry)


class BrowsePage(Struct, frozen=True, kw_only=True):
    """What one look gave. `next` is the number of the next look, where there is more; `wrong` says what failed.

    `damaged` tells of damaged pages, a sentence each; each is told once. `reading` is there while the index is being
    built and what was found may be a part: the share of it that stands, from 0 to 1. `anchor` is the id of the row that
    the others stand around, where that was asked for. `told`: why words alone were looked for, not what they mean.
    `sure` is false where nothing is likely to answer, and the rows are merely what lies nearest.
    """

    rows: tuple[BrowseRow, ...] = ()
    total: int = 0
    next: int | None = None
    took_ms: float = 0.0
    wrong: str = ""
    damaged: tuple[str, ...] = ()
    reading: float | None = None
    anchor: str = ""
    told: str = ""
    sure: bool = True


class PagePicture(Struct, frozen=True):
    """A page as a file, and what is known of it. `begin`: left and top of the words that were looked for, in pixels."""

    path: Path
    row: PageRow
    begin: tuple[int, int] | None = None


def look(memory: "Memory", text: str, number: int = 1) -> BrowsePage:
    """The rows of look `number` for this text: a reference, a picture's path, a question; "" lists what is newest.

    Blocks. Raises Damaged, NotAPage.
    """
    began = time.monotonic()
    text = text.strip()
    try:
        if number == 1 and text:
            found = _in_file(memory, text)
            if found == ():
                return BrowsePage(wrong=NO_TEXT)
            found = found or by_reference(memory, text)
        else:
            found = ()
        if found:
            rows = tuple(of_passage(passage) for passage in found)
            seen = BrowsePage(rows=rows, total=len(rows), took_ms=(time.monotonic() - began) * 1000)
        else:
            seen = _searched(memory, text, number)
        return structs.replace(seen, damaged=tuple(memory.vault.troubles()))
    except NotFound as error:  # what looks like a reference and names nothing
        return BrowsePage(wrong=error.message)


def whole(memory: "Memory", row: BrowseRow) -> RecalledPassage:
    """The passage behind a row, to the letter. Blocks. Raises NotFound, Damaged."""
    if row.whole is not None:
        return row.whole
    if found := by_reference(memory, row.id, row.conversation):
        return found[0]
    raise NotFound("Not found", f"There is no {row.id} any more.", "It may have been forgotten meanwhile.")


def who_said(found: "Hit | RecalledPassage") -> str:
    """The speaker, or the role; "" for a note, and for an archived file, which nobody said."""
    return "" if found.kind == "page" else found.speaker or found.role or ""


def page_picture(memory: "Memory", page_id: str, start: int | None = None) -> PagePicture:
    """The page as a file in the page cache, and where its text's character `start` stands on it.

    Blocks. Raises NotFound, Damaged.
    """
    from agent.services.locate import pixel_of

    path = memory.vault.png(page_id)
    row = memory.vault.page(page_id)
    if start is None:
        return PagePicture(path, row)
    return PagePicture(path, row, pixel_of(memory.vault.read_page(page_id), row.mode, row.cell, start))


def _in_file(memory: "Memory", text: str) -> tuple[RecalledPassage, ...] | None:
    """What stands in the picture of that path; None where there is no such picture."""
    try:
        path = Path(text).expanduser()
        there = path.is_file() and is_picture(str(path))
    except (OSError, RuntimeError, ValueError):  # no name that a file could have
        return None
    return compared(recall_picture(path), memory).hits if there else None


def _searched(memory: "Memory", text: str, number: int) -> BrowsePage:
    from memory.search import Query

    results = memory.search.query(Query(text=text, limit=ROWS, page=number))
    rows = tuple(of_hit(hit) for hit in results.hits)
    return BrowsePage(rows=rows, total=results.total, next=results.next, took_ms=results.took_ms)


def of_hit(hit: "Hit") -> BrowseRow:
    """The row of a hit."""
    return BrowseRow(
        id=hit.id,
        kind=hit.kind,
        entry=hit.entry,
        conversation=hit.conversation,
        title=hit.citation.title,
        who=who_said(hit),
        time=hit.time,
        trust=hit.trust,
        snippet=hit.snippet,
        citation=str(hit.citation),
        score=hit.score,
        span=hit.text_span,
        like=hit.like,
        parts=hit.parts,
        marks=hit.marks,
        superseded_by=hit.superseded_by,
    )


def of_passage(found: RecalledPassage) -> BrowseRow:
    """The row of a passage that was looked up."""
    return BrowseRow(
        id=found.id,
        kind=found.kind,
        conversation=found.conversation or "",
        who=who_said(found),
        time=found.time,
        trust=found.trust,
        snippet=found.snippet,
        citation=str(found.citation),
        whole=found,
    )
