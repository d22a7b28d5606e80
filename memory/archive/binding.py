"""From text to verified pages on disk: drawn, packed, synced, then read back from the file and compared.

Nothing in the store refers to them yet. If what follows fails, a pack is left that nobody needs, and no word is lost.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from foundation.trust import Trust
from memory.archive.ledger import Bound, PackRow
from memory.archive.modes import Mode
from memory.archive.pack import Pack, write_pack
from memory.archive.page import Drawn, draw, sheets
from memory.archive.reading import read_picture
from memory.cold import new_id
from memory.errors import Damaged

PAGES_A_PACK = 256  # about 8 MB of packs, and 34 MB of PNGs in memory while one is made
OnPage = Callable[[int], None]


def bind(folder: Path, text: str, mode: Mode, created_ms: int, on_page: OnPage | None = None) -> Iterator[Bound]:
    """The text's pages, in order, each proven. Raises Damaged where the disk gives back anything else."""
    sheet = _drawn(text, mode)
    while pages := tuple(islice(sheet, PAGES_A_PACK)):
        written = write_pack(folder, pages)
        row = PackRow(written.path.name, written.size, written.sha256, created_ms)
        pack = Pack(written.path)
        for position, page in enumerate(pages):
            _prove(pack, position, page)
            if on_page is not None:
                on_page(page.number)
            yield Bound(page.id, page.number, page.mode, page.text, page.sha256, row, position)


def _drawn(text: str, mode: Mode) -> Iterator[Drawn]:
    for number, sheet in enumerate(sheets(text, mode), 1):
        yield draw(sheet, new_id("pg"), number)


def _prove(pack: Pack, position: int, page: Drawn) -> None:
    back = read_picture(pack.png(position), sha256=page.sha256.hex(), page_id=page.id)
    if back.trust is not Trust.EXACT or back.text != page.text or back.number != page.number:
        raise Damaged(
            "A page did not come back",
            f"Page {page.number} was written to {pack.path} and reads differently. Nothing was let go.",
            "The disk or the memory may be failing: check them, then try again.",
        )
