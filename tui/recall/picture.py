"""A page as it was drawn, as a picture in the terminal: where the passage stands, closer, farther, or whole."""

import asyncio
import os
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from foundation.errors import PalimpsestError
from foundation.terminal_text import visible
from tui.images.protocol import Drawing, drawing_for
from tui.internal_errors import in_thread
from tui.recall.zoom import WHOLE, Zoom
from tui.typed_app import host

if TYPE_CHECKING:  # loaded when a page is shown
    from PIL.Image import Image as Picture

    from agent.services.browse import PagePicture
    from agent.services.locate import PagePlace
    from memory.memory import Memory

CELL: Final = 2  # a terminal's cell is about twice as high as wide
READABLE: Final = {Drawing.KITTY: 16, Drawing.SIXEL: 16, Drawing.BLOCKS: 4, Drawing.SHADES: 2}
"""Pixels of a page, in the height of a terminal's cell, with which its words can still be read."""
KEYS: Final = "+ − closer, back · arrows move · o viewer · Esc back"


class PictureScreen(ModalScreen[None]):
    """The pages of a passage, one at a time."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,p,ctrl+c", "leave", "Back", show=False),
        Binding("o", "viewer", "In the system's viewer", show=False),
        Binding("n,pagedown", "turn(1)", "Next page", show=False),
        Binding("b,pageup", "turn(-1)", "Page before", show=False),
        Binding("plus,equals_sign", "zoom(1)", "Larger", show=False),
        Binding("minus", "zoom(-1)", "Smaller", show=False),
        Binding("left", "pan(-1, 0)", show=False),
        Binding("right", "pan(1, 0)", show=False),
        Binding("up", "pan(0, -1)", show=False),
        Binding("down", "pan(0, 1)", show=False),
    ]

    def __init__(
        self, memory: "Memory", pages: tuple[str, ...], pictures: str = "auto", place: "PagePlace | None" = None
    ) -> None:
        """Opens at `place`, close enough to read what stands there; without one the first page is shown whole."""
        super().__init__()
        self._memory = memory
        self._pages = pages
        self._setting = pictures
        self._place = place
        self._at = pages.index(place.page) if place and place.page in pages else 0
        self._picture: Picture | None = None
        self._zoom: Zoom = WHOLE
        self._widget: Widget | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="room"):
            yield Static("", id="picture-title", classes="room-title", markup=False)
            yield Static("", id="picture-about", markup=False)
            yield Container(id="picture")
            keys = f"n b turn pages · {KEYS}" if len(self._pages) > 1 else KEYS
            yield Static(keys, classes="room-keys", markup=False)

    def on_mount(self) -> None:
        self._show()

    async def on_unmount(self) -> None:
        self._forget()

    @work(exclusive=True, group="page")
    async def _show(self) -> None:
        """Reads the page and draws it; a damaged one is said to be that."""
        from agent.services.browse import page_picture
        from tui.images.load import load

        self._tell("reading …")
        try:
            page = self._pages[self._at]
            start = self._place.start if self._place and self._place.page == page else None
            found = await in_thread(page_picture, self._memory, page, start)
            picture = await in_thread(load, found.path)
        except PalimpsestError as error:
            self._tell("it cannot be shown")
            await self._instead(f"{error.title}\n{error.message}\n{error.hint}")
            return
        self._picture, self._zoom = picture, self._reading(found.begin, picture.size)
        self._tell(_described(found), " · where the passage begins" if self._zoom.level else "")
        await self._draw()

    def _reading(self, begin: tuple[int, int] | None, side: tuple[int, int]) -> Zoom:
        if begin is None:
            return WHOLE
        rows = self.query_one("#picture").size.height
        return Zoom.reading(begin, side, rows * READABLE.get(self._drawing, 1), self._ratio)

    @property
    def _drawing(self) -> Drawing:
        return drawing_for(os.environ, self._setting, colour=not host(self).no_color)

    @property
    def _ratio(self) -> float:
        """How many times as wide as high the picture's box is."""
        box = self.query_one("#picture").size
        return box.width / max(box.height * CELL, 1)

    async def _draw(self) -> None:
        drawing = self._drawing
        if drawing is Drawing.OFF:
            await self._instead("Pictures are off (the setting screen.pictures). o opens the page in the viewer.")
            return
        if self._picture is None:
            return
        shown = self._picture.crop(self._zoom.box(*self._picture.size, self._ratio))
        self._forget()
        if drawing in {Drawing.KITTY, Drawing.SIXEL}:
            from tui.images.protocol import library, widget

            await asyncio.to_thread(library)
            self._widget = widget(drawing, shown)
            await self._put(self._widget)
            return
        from tui.images.half_blocks import BlockPicture

        await self._put(BlockPicture(shown, drawing))

    async def _instead(self, words: str) -> None:
        self._picture = None
        self._forget()
        await self._put(Static(Text(visible(words)), markup=False))

    async def _put(self, shown: Widget) -> None:
        box = self.query_one("#picture", Container)
        await box.remove_children()
        await box.mount(shown)

    def _forget(self) -> None:
        """A picture that the terminal keeps is let go there."""
        if self._widget is not None:
            self._widget.image = None  # type: ignore[attr-defined]  # every widget of the library has it
            self._widget = None

    def _tell(self, about: str, where: str = "") -> None:
        of = f" · {self._at + 1} of {len(self._pages)}" if len(self._pages) > 1 else ""
        self.query_one("#picture-title", Static).update(Text(visible(f"Page {self._pages[self._at]}{of}{where}")))
        self.query_one("#picture-about", Static).update(Text(visible(about)))

    # Keys

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_turn(self, by: int) -> None:
        at = max(0, min(self._at + by, len(self._pages) - 1))
        if at != self._at:
            self._at = at
            self._show()

    def action_zoom(self, by: int) -> None:
        self._look(self._zoom.closer(by))

    def action_pan(self, right: int, down: int) -> None:
        self._look(self._zoom.moved(right, down))

    def _look(self, zoom: Zoom) -> None:
        if zoom != self._zoom and self._picture is not None:
            self._zoom = zoom
            self._redraw()

    @work(exclusive=True, group="draw")
    async def _redraw(self) -> None:
        await self._draw()

    def action_viewer(self) -> None:
        self._open_in_viewer()

    @work(exclusive=True, group="viewer")
    async def _open_in_viewer(self) -> None:
        from tui.recall.page_viewer import view_page

        await view_page(self, self._memory, self._pages[self._at])


def _described(found: "PagePicture") -> str:
    row = found.row
    return (
        f"{row.mode}, {row.width}×{row.height} · {row.chars:,} characters · "
        f"{row.text_tokens:,} text tokens on {row.vision_tokens:,} vision tokens"
    )
