"""Archive screen: what is on pages, with its packs and tokens; a page opens as a picture."""

import asyncio
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.binding import Binding, BindingType

from agent.services.archive import archive_pages, archive_row_sentence
from foundation.clock import iso
from foundation.errors import PalimpsestError
from tui.overview.list_screen import ListContents, ListRow, ListScreen
from tui.passages.page_screen import PictureScreen
from tui.passages.text_screen import TextScreen
from tui.typed_app import app_of
from tui.widgets.transcript.block import BlockText

if TYPE_CHECKING:
    from memory.memory import Memory
    from memory.pages.types import ArchiveRow, PageRow

_EMPTY: Final = "Nothing is archived yet. `/archive FILE` archives a file, `/compact` archives older turns."


class ArchiveScreen(ListScreen[None]):
    """The archives of a workspace, newest first."""

    heading = "Archive"
    keys: ClassVar[str] = "↑ ↓ choose · Enter opens the pages · t page list · Esc back"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "pages", "List the pages", id="archive.pages", show=False),
    ]

    def __init__(self, memory: "Memory", pictures: str = "auto") -> None:
        super().__init__()
        self._memory = memory
        self._pictures = pictures
        self._archives: dict[str, ArchiveRow] = {}

    async def read(self) -> ListContents:
        archives = await asyncio.to_thread(self._memory.vault.archives)
        self._archives = {str(row.seq): row for row in archives}
        most = max((row.pages for row in archives), default=0) or 1
        rows = [
            ListRow(
                label=f"{row.label}{' · pinned' if row.pinned else ''}",
                id=str(row.seq),
                figure=f"{row.pages:,} page{'s' if row.pages != 1 else ' '}  {iso(row.created)[:10]}",
                share=row.pages / most,
                detail=archive_row_sentence(row),
            )
            for row in archives
        ]
        pages = sum(row.pages for row in archives)
        text, vision = sum(row.text_tokens for row in archives), sum(row.vision_tokens for row in archives)
        about = f"{len(rows):,} archived · {_page_count(pages)} · {text:,} text tokens as {vision:,} vision tokens"
        return ListContents(tuple(rows), about if rows else "", _EMPTY)

    def show_detail(self, row: ListRow | None) -> None:
        super().show_detail(row)
        if row is not None:
            self._show_packs(row)

    @work(exclusive=True, group="packs")
    async def _show_packs(self, row: ListRow) -> None:
        """Adds the packs and characters of the chosen archive."""
        try:
            pages = await self._pages(row)
        except PalimpsestError as error:
            self.say(f"{error.message} {error.hint}".strip(), wrong=True)
            return
        if self.chosen == row and pages:
            packs = sorted({page.pack for page in pages})
            chars = sum(page.chars for page in pages)
            modes = ", ".join(sorted({f"{page.mode} {page.width}×{page.height}" for page in pages}))
            self.set_detail(
                f"{row.detail}\n{chars:,} characters on {_page_count(len(pages))} ({modes}), in {len(packs):,} "
                f"pack{'s' if len(packs) != 1 else ''}: {', '.join(packs[:3])}{' …' if len(packs) > 3 else ''}"
            )

    async def _pages(self, row: ListRow) -> "list[PageRow]":
        return await asyncio.to_thread(archive_pages, self._memory, self._archives[row.id].seq)

    async def open_row(self, row: ListRow) -> None:
        if pages := await self._pages(row):
            app_of(self).push_screen(PictureScreen(self._memory, tuple(page.id for page in pages), self._pictures))

    async def action_pages(self) -> None:
        if (row := self.chosen) is None:
            return
        lines = [
            f"{page.number:>5}  {page.id}  {page.mode} {page.width}×{page.height}  {page.chars:,} characters  "
            f"{page.text_tokens:,} → {page.vision_tokens:,} tokens  {page.pack}"
            for page in await self._pages(row)
        ]
        app_of(self).push_screen(TextScreen(row.label, lambda: BlockText("\n".join(lines))))


def _page_count(count: int) -> str:
    return f"{count:,} page{'s' if count != 1 else ''}"
