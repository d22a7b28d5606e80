"""Writes text as verified pages: drawn, packed, synced, then read back from the file and compared.

No row refers to them yet. If a later step fails, an unreferenced pack is left, and no text is lost.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct, structs

from foundation.trust import Trust
from memory.archive.packs.pack import Pack, PageImage, write_pack
from memory.archive.packs.storage import Storage
from memory.archive.rows.pages import PackRow
from memory.errors import Damaged
from memory.pages.read.reader import read_picture
from memory.pages.render.layout import LayoutSpan, LayoutText
from memory.pages.render.modes import Mode
from memory.pages.render.page import RenderedPage, page_sheets, render_page
from memory.pages.symbol_coding import DrawnPage
from memory.pages.types import OnPage
from memory.records import new_id

OnPicture = Callable[[str, bytes], object]
"""Receives a page's id and its PNG."""

PAGES_A_PACK = 256  # about 0.8 MB of packs, and 34 MB of PNGs in memory while one is made


class PackedPage(Struct, frozen=True):
    """A page that was packed and read back; no row refers to it yet. `sha256` is of its text."""

    id: str
    number: int
    mode: Mode
    text: str
    sha256: bytes
    laid: tuple[LayoutSpan, ...]
    run: int  # which of the runs it belongs to
    pack: PackRow
    position: int

    def without_text(self) -> "PackedPage":
        """The same without its text, small enough to be held for each page of a large file."""
        return structs.replace(self, text="")


def bind(
    storage: Storage,
    runs: Sequence[Sequence[LayoutText]],
    mode: Mode,
    created_ms: int,
    *,
    new_name: Callable[[], str],
    on_page: OnPage | None = None,
    on_picture: OnPicture | None = None,
) -> Iterator[PackedPage]:
    """Pages of the runs, in order, each verified; a run begins a new page. `new_name` names the packs.

    `on_picture` receives the PNG of each verified page.

    Raises Damaged where the disk returns anything else.
    """
    report = on_page or _no_progress
    drawn = _report_half(_drawn(runs, mode), report)
    while pages := deque(islice(drawn, PAGES_A_PACK)):
        last = pages[-1][1].number
        written = write_pack(storage, new_name(), [picture_of(page) for _, page in pages])
        row = PackRow(written.name, written.size, written.sha256, created_ms)
        pack = Pack(storage, written.name)
        for position in range(len(pages)):
            run, page = pages.popleft()  # its PNG goes: the next pack is drawn when this one's are gone
            prove(pack, position, page)
            if on_picture is not None:
                on_picture(page.id, page.png)
            report((page.number + last) // 2)
            yield PackedPage(page.id, page.number, page.mode, page.text, page.sha256, page.laid, run, row, position)


def picture_of(page: RenderedPage) -> PageImage:
    """The page as an image for a pack."""
    drawn = DrawnPage(page.mode, page.grid, page.png)
    return PageImage(page.id, page.number, page.mode.name, len(page.text), page.sha256.hex(), page.png, drawn)


def _report_half(drawn: Iterable[tuple[int, RenderedPage]], on_page: OnPage) -> Iterator[tuple[int, RenderedPage]]:
    """Reports drawn pages as half done: the pages of a pack are verified once all of them are drawn."""
    for run, page in drawn:
        proven = (page.number - 1) // PAGES_A_PACK * PAGES_A_PACK
        on_page((proven + page.number) // 2)
        yield run, page


def _no_progress(_done: int) -> None:
    pass


def _drawn(runs: Iterable[Sequence[LayoutText]], mode: Mode) -> Iterator[tuple[int, RenderedPage]]:
    number = 0
    for run_number, stretches in enumerate(runs):
        for sheet in page_sheets(stretches, mode):
            number += 1
            yield run_number, render_page(sheet, new_id("pg"), number)


def prove(pack: Pack, position: int, page: RenderedPage) -> None:
    """Raises Damaged unless the pack returns the page's PNG to the byte, and that reads as its text."""
    png = pack.png(position)
    back = read_picture(png, sha256=page.sha256.hex(), page_id=page.id, engine="cells")
    if png != page.png or back.trust is not Trust.EXACT or back.text != page.text or back.number != page.number:
        raise Damaged(
            "A page could not be verified",
            f"Page {page.number} was written to {pack.place} but reads back differently. Nothing was deleted.",
            "The disk or the memory may be failing: check them, then try again.",
        )
