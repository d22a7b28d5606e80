"""An image file in the terminal, with the keys of a page."""

from pathlib import Path

from textual import work

from foundation.errors import PalimpsestError
from tui.images.load import load_picture
from tui.internal_errors import in_thread
from tui.passages.page_screen import PictureScreen, ShownPicture, open_in_viewer


class ImageFileScreen(PictureScreen):
    """One image file."""

    def __init__(self, path: Path, pictures: str = "auto") -> None:
        super().__init__(None, (path.name,), pictures)
        self._path = path

    async def read_picture(self) -> ShownPicture:
        picture = await in_thread(load_picture, self._path)
        return ShownPicture(picture, f"{picture.width:,}×{picture.height:,} · {self._path}")

    @work(exclusive=True, group="viewer")
    async def open_viewer(self) -> None:
        try:
            await in_thread(open_in_viewer, self._path)
        except PalimpsestError as error:
            self.notify(f"{error.message} {error.hint}".strip(), title=error.title, severity="warning", markup=False)
