"""Text as page images: exact to the letter, and a fraction of the tokens where a vision model reads them."""

from pathlib import Path

from memory.pages.types import PageText


def read_png(picture: Path | bytes) -> PageText:
    """The text of one page, from its picture alone: no workspace, no database, no metadata, no file name.

    Raises NotAPage where the picture holds none of our cells, NotFound where there is no such file.
    """
    from memory.pages.read.reader import read_picture

    return read_picture(picture)
