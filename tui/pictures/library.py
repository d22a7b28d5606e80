"""textual-image, kept quiet.

On import it asks the terminal what it can draw and how large a cell is, and reads the answer from standard input,
where the person types. Without a standard input it asks nothing. It also writes pictures for Kitty to standard output
by itself; between the two halves of a frame they would tear it, so they go the driver's way.
"""

import sys
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from textual._context import active_app
from textual.widget import Widget

from tui.pictures.drawing import Drawing

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

_loading = Lock()


class PictureWidget(Protocol):
    """A widget of the library: `image` is what it shows."""

    image: "Picture | None"


@cache
def library() -> Any:
    """The package `textual_image`, loaded at the first picture."""
    with _loading:
        standard_input, sys.__stdin__ = sys.__stdin__, None  # type: ignore[misc]  # what it takes for "no terminal"
        try:
            import textual_image.renderable.tgp
            import textual_image.widget  # pyright: ignore[reportUnusedImport] - a module of the package that is given
        finally:
            sys.__stdin__ = standard_input  # type: ignore[misc]
    textual_image.renderable.tgp._send_tgp_message = _through_the_driver  # pyright: ignore[reportPrivateUsage]
    return textual_image


def widget(drawing: Drawing, picture: "Picture") -> Widget:
    """A widget that shows the picture as large as its box, its proportions kept."""
    kinds = library().widget
    kind = {
        Drawing.KITTY: kinds.TGPImage, Drawing.SIXEL: kinds.SixelImage, Drawing.BLOCKS: kinds.HalfcellImage,
    }.get(drawing, kinds.UnicodeImage)  # fmt: skip
    return kind(picture)


def renderable(drawing: Drawing, picture: "Picture", width: int, height: int) -> Any:
    """The picture as something that Rich prints, in characters alone; `width` and `height` in cells."""
    kinds = library().renderable
    kind = kinds.UnicodeImage if drawing is Drawing.SHADES else kinds.HalfcellImage
    return kind(picture, width=width, height=height)


def _through_the_driver(*, payload: str | None = None, **keys: int | str | None) -> None:
    control = ",".join(f"{name}={value}" for name, value in keys.items() if value is not None)
    driver = active_app.get()._driver  # pyright: ignore[reportPrivateUsage]
    if driver is not None:
        driver.write(f"\x1b_G{control}{';' + payload if payload else ''}\x1b\\")
