"""Page screen: a page image in the terminal, with zoom, starting at the passage; or in the system's viewer."""

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Self

from msgspec import Struct, structs
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from agent.services.browse import PagePicture, page_picture
from agent.services.locate import page_location
from foundation.errors import PalimpsestError
from foundation.terminal_text import visible
from tui.images.half_blocks import BlockPicture
from tui.images.load import load_picture
from tui.images.protocol import GraphicsProtocol, choose_protocol, load_library, picture_widget
from tui.internal_errors import in_thread
from tui.typed_app import app_of

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

    from agent.services.locate import PageLocation
    from memory.memory import Memory
    from memory.recalled_passage import RecalledPassage

CELL_RATIO: Final = 2  # height of a cell relative to its width
READABLE_PIXELS: Final = {
    GraphicsProtocol.KITTY: 16,
    GraphicsProtocol.SIXEL: 16,
    GraphicsProtocol.BLOCKS: 4,
    GraphicsProtocol.SHADES: 2,
}
"""Pixels of a page per height of a terminal cell at which its text is still readable."""
KEYS: Final = "+ − closer, back · arrows move · o viewer · Esc back"


MAX_LEVEL: Final = 5  # 2⁵: a thirty-second of each side
PAN_STEP: Final = 0.5  # of the visible part


class Zoom(Struct, frozen=True):
    """The visible part of a picture. Each `level` halves its sides; `x` and `y` are its middle, from 0 to 1."""

    level: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def share(self) -> float:
        """The visible share of each side."""
        return 0.5**self.level

    def zoomed(self, by: int) -> Self:
        """One step in or out. Until it is moved, the view is at the upper left, where a page starts."""
        return structs.replace(self, level=max(0, min(self.level + by, MAX_LEVEL)))

    @classmethod
    def at_passage(cls, begin: tuple[int, int], side: tuple[int, int], max_height: int, ratio: float = 1.0) -> Self:
        """The largest readable view: at most `max_height` pixels high, with `begin` (left, top) at its upper left.

        `side` is the picture's width and height.
        """
        width, height = side
        level = next((level for level in range(MAX_LEVEL) if height * 0.5**level <= max_height), MAX_LEVEL)
        view_height = height * 0.5**level
        view_width = min(view_height * ratio, width)
        return (
            cls(level, (begin[0] + view_width / 2) / width, (begin[1] + view_height / 2) / height) if level else cls()
        )

    def moved(self, right: int, down: int) -> Self:
        step, zoom = self.share * PAN_STEP, self._within()
        return structs.replace(zoom, x=zoom.x + right * step, y=zoom.y + down * step)._within()

    def box(self, width: int, height: int, ratio: float = 1.0) -> tuple[int, int, int, int]:
        """Left, top, right, bottom in pixels of a picture of this size, for a view `ratio` times as wide as high."""
        if not self.level:
            return 0, 0, width, height
        view_height = max(round(self.share * height), 1)
        view_width = max(min(round(view_height * ratio), width), 1)
        left = _clamp(round(self.x * width - view_width / 2), width - view_width)
        top = _clamp(round(self.y * height - view_height / 2), height - view_height)
        return left, top, left + view_width, top + view_height

    def _within(self) -> Self:
        half = self.share / 2
        middle = [max(half, min(value, 1 - half)) for value in (self.x, self.y)]
        return structs.replace(self, x=middle[0], y=middle[1])


def _clamp(value: int, maximum: int) -> int:
    return max(0, min(value, maximum))


WHOLE_PAGE: Final = Zoom()


class ShownPicture(Struct, frozen=True):
    """A picture (of Pillow), a line about it, and where the passage begins: left and top in pixels."""

    picture: "Picture"
    about: str
    begin: tuple[int, int] | None = None


class PictureScreen(ModalScreen[None]):
    """The pages of a passage, one at a time."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,p,ctrl+c", "leave", "Back", id="page.leave", show=False),
        Binding("o", "viewer", "In the system's viewer", id="page.viewer", show=False),
        Binding("n,pagedown", "turn(1)", "Next page", id="page.next", show=False),
        Binding("b,pageup", "turn(-1)", "Previous page", id="page.before", show=False),
        Binding("plus,equals_sign", "zoom(1)", "Larger", id="page.larger", show=False),
        Binding("minus", "zoom(-1)", "Smaller", id="page.smaller", show=False),
        Binding("left", "pan(-1, 0)", "Left", id="page.left", show=False),
        Binding("right", "pan(1, 0)", "Right", id="page.right", show=False),
        Binding("up", "pan(0, -1)", "Up", id="page.up", show=False),
        Binding("down", "pan(0, 1)", "Down", id="page.down", show=False),
    ]

    def __init__(
        self,
        memory: "Memory | None",
        pages: tuple[str, ...],
        pictures: str = "auto",
        location: "PageLocation | None" = None,
    ) -> None:
        """Opens on the page of `location`, or the first one. It is shown whole; the first step closer goes to the place
        of `location`, large enough to read. `memory` is None for a picture that is no page."""
        super().__init__()
        self._memory = memory
        self._pages = pages
        self._setting = pictures
        self._location = location
        self._index = pages.index(location.page) if location and location.page in pages else 0
        self.picture: Picture | None = None
        self.zoom: Zoom = WHOLE_PAGE
        self._passage: Zoom = WHOLE_PAGE  # where the passage begins on this page
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
        self._release_image()

    @work(exclusive=True, group="page")
    async def _show(self) -> None:
        """Reads and draws the page, or shows why it cannot be shown."""
        self._set_header("reading …")
        try:
            shown = await self.read_picture()
        except PalimpsestError as error:
            self._set_header("it cannot be shown")
            await self._show_text(f"{error.title}\n{error.message}\n{error.hint}")
            return
        self.picture, self.zoom = shown.picture, WHOLE_PAGE
        self._passage = self._zoom_to_passage(shown.begin, shown.picture.size)
        self._set_header(shown.about, " · + zooms to the passage" if self._passage.level else "")
        await self._draw()

    async def read_picture(self) -> ShownPicture:
        """Reads the page. Raises PalimpsestError."""
        assert self._memory is not None  # else this is overridden
        page = self._pages[self._index]
        start = self._location.start if self._location and self._location.page == page else None
        page_file = await in_thread(page_picture, self._memory, page, start)
        return ShownPicture(await in_thread(load_picture, page_file.path), _page_line(page_file), page_file.begin)

    def _zoom_to_passage(self, begin: tuple[int, int] | None, side: tuple[int, int]) -> Zoom:
        if begin is None:
            return WHOLE_PAGE
        rows = self.query_one("#picture").size.height
        return Zoom.at_passage(begin, side, rows * READABLE_PIXELS.get(self._protocol, 1), self.box_ratio)

    @property
    def _protocol(self) -> GraphicsProtocol:
        return choose_protocol(os.environ, self._setting, colour=not app_of(self).no_color)

    @property
    def box_ratio(self) -> float:
        """Width of the picture's box relative to its height, in pixels."""
        box = self.query_one("#picture").size
        return box.width / max(box.height * CELL_RATIO, 1)

    async def _draw(self) -> None:
        protocol = self._protocol
        if protocol is GraphicsProtocol.OFF:
            await self._show_text("Pictures are off (the setting screen.pictures). o opens the page in the viewer.")
            return
        if self.picture is None:
            return
        view = self.picture.crop(self.zoom.box(*self.picture.size, self.box_ratio))
        self._release_image()
        if protocol in {GraphicsProtocol.KITTY, GraphicsProtocol.SIXEL}:
            await asyncio.to_thread(load_library)
            self._widget = picture_widget(protocol, view)
            await self._mount(self._widget)
            return
        await self._mount(BlockPicture(view, protocol))

    async def _show_text(self, text: str) -> None:
        self.picture = None
        self._release_image()
        await self._mount(Static(Text(visible(text)), markup=False))

    async def _mount(self, widget: Widget) -> None:
        box = self.query_one("#picture", Container)
        await box.remove_children()
        widget.add_class("page-picture")
        await box.mount(widget)

    def _release_image(self) -> None:
        """Deletes the picture from the terminal's memory."""
        if self._widget is not None:
            self._widget.image = None  # type: ignore[attr-defined]  # every widget of the library has it
            self._widget = None

    @property
    def _heading(self) -> str:
        return self._pages[self._index] if self._memory is None else f"Page {self._pages[self._index]}"

    def _set_header(self, description: str, suffix: str = "") -> None:
        position = f" · {self._index + 1} of {len(self._pages)}" if len(self._pages) > 1 else ""
        self.query_one("#picture-title", Static).update(Text(visible(f"{self._heading}{position}{suffix}")))
        self.query_one("#picture-about", Static).update(Text(visible(description)))

    # Keys

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_turn(self, by: int) -> None:
        index = max(0, min(self._index + by, len(self._pages) - 1))
        if index != self._index:
            self._index = index
            self._show()

    def action_zoom(self, by: int) -> None:
        to_passage = by > 0 and self.zoom == WHOLE_PAGE and self._passage.level
        self._set_zoom(self._passage if to_passage else self.zoom.zoomed(by))

    def action_pan(self, right: int, down: int) -> None:
        self._set_zoom(self.zoom.moved(right, down))

    def _set_zoom(self, zoom: Zoom) -> None:
        if zoom != self.zoom and self.picture is not None:
            self.zoom = zoom
            self._redraw()

    @work(exclusive=True, group="draw")
    async def _redraw(self) -> None:
        await self._draw()

    def action_viewer(self) -> None:
        self.open_viewer()

    @work(exclusive=True, group="viewer")
    async def open_viewer(self) -> None:
        """Opens the page in the system's viewer."""
        assert self._memory is not None  # else this is overridden
        await view_page(self, self._memory, self._pages[self._index])


def _page_line(page: PagePicture) -> str:
    row = page.row
    return (
        f"{row.mode}, {row.width}×{row.height} · {row.chars:,} characters · "
        f"{row.text_tokens:,} text tokens as {row.vision_tokens:,} vision tokens"
    )


async def show_pages(node: Widget, memory: "Memory", passage: "RecalledPassage", snippet: str, pictures: str) -> None:
    """Shows the pages of a passage, from the one with the snippet on; a notification where it is on none."""
    if not passage.pages:
        node.notify("This passage is stored as text and has no page.", timeout=4)
        return
    location = None
    with suppress(PalimpsestError):  # deleted meanwhile: reported when the page is shown
        location = await in_thread(page_location, memory, passage, snippet)
    app_of(node).push_screen(PictureScreen(memory, passage.pages, pictures, location))


async def view_page(screen: Widget, memory: "Memory", page: str) -> None:
    """Opens the page in the system's viewer; a notification says so, or why not."""
    try:
        page_file = await in_thread(page_picture, memory, page)
        await in_thread(open_in_viewer, page_file.path)
    except PalimpsestError as error:
        message = f"{error.message} {error.hint}".strip()
        screen.notify(message, title=error.title, severity="warning", timeout=10, markup=False)
        return
    screen.notify(f"Opened {page_file.path.name} in the viewer.", timeout=3, markup=False)


class NoViewer(PalimpsestError):
    """No viewer for the file on this machine."""

    code = "no_viewer"


def open_in_viewer(path: Path) -> None:
    """Opens the file and returns at once; a program with one argument, never a shell. Raises NoViewer."""
    if sys.platform == "win32":
        os.startfile(path)
        return
    name = "open" if sys.platform == "darwin" else "xdg-open"
    program = shutil.which(name)
    if program is None or not _has_desktop(os.environ):
        reason = f"there is no {name} on this machine" if program is None else "this session has no desktop"
        raise NoViewer("No viewer", f"Nothing can open the page here: {reason}.", f"The page is {path}")
    try:
        process = subprocess.Popen(
            [program, str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise NoViewer("No viewer", f"{program}: {error.strerror}.", f"The page is {path}") from error
    threading.Thread(target=process.wait, daemon=True).start()  # some viewers run until they are closed


def _has_desktop(environment: Mapping[str, str]) -> bool:
    """Whether a window can be opened; without one xdg-open falls back on programs that take the terminal."""
    return sys.platform == "darwin" or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
