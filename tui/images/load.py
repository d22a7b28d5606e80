"""Decodes pictures from files and bytes, scaled down for the screen. Blocks: call it from a thread."""

import warnings
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from foundation.errors import PalimpsestError
from foundation.files import open_for_reading, resolve_path

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

MAX_PIXELS: Final = 40_000_000  # a larger picture can be a decompression bomb


class UndrawableImage(PalimpsestError):
    """A picture that cannot be shown."""

    code = "unshown"


def _open(source: Path | bytes) -> BinaryIO:
    return BytesIO(source) if isinstance(source, bytes) else open_for_reading(resolve_path(source))


def load_picture(source: Path | bytes, max_side: int = 0) -> "Picture":
    """The picture in colour, its longer side at most `max_side` pixels if given. Raises UndrawableImage."""
    from PIL import Image

    name = source.name if isinstance(source, Path) else "The picture"
    try:
        with warnings.catch_warnings(), _open(source) as file:
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # MAX_PIXELS is lower
            opened = Image.open(file)
            if opened.width * opened.height > MAX_PIXELS:
                raise UndrawableImage("Too large to show", f"{name} is {opened.width:,}×{opened.height:,} pixels.", "")
            if max_side:
                opened.draft("RGB", (max_side * 2, max_side * 2))  # a large JPEG is decoded at a fraction of its size
            picture = opened.convert("RGB")
    except Image.DecompressionBombError as error:
        raise UndrawableImage("Too large to show", f"{name} has far more than {MAX_PIXELS:,} pixels.", "") from error
    except (OSError, ValueError, SyntaxError) as error:
        raise UndrawableImage("Not shown", f"{name} cannot be read as a picture: {error}.", "") from error
    if max_side and max(picture.size) > max_side:
        picture.thumbnail((max_side, max_side))
    return picture
