"""Pages as other programs draw them: antialiased letters in rows, 1024×1024 pixels."""

import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

SIDE = 1024
FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.fonts",
    "~/.local/share/fonts",
    "/Library/Fonts",
    "/System/Library/Fonts",
    "C:/Windows/Fonts",
)
FILES = {
    "english": ("DejaVuSansMono.ttf",),
    "chinese": ("NotoSansMonoCJK-Regular.ttc", "NotoSansCJK-Regular.ttc", "NotoSansMonoCJKsc-Regular.otf"),
}


def fonts_for(language: str) -> Path | None:
    """The font file that this language is drawn with; None where it is not installed."""
    folders = [folder for name in FOLDERS if (folder := Path(name).expanduser()).is_dir()]
    return next((found for file in FILES[language] for folder in folders for found in folder.rglob(file)), None)


def drawn(text: str, font: Path | None, size: int) -> tuple[str, bytes]:
    """What fits the page, and the page as PNG: rows of `size` pixels, filled to the brim, line ends as blanks."""
    face = ImageFont.truetype(str(font), round(size * 0.86), index=_simplified(font))
    picture = Image.new("L", (SIDE, SIDE), 255)
    brush = ImageDraw.Draw(picture)
    words, rows, at = " ".join(text.split()), list[str](), 0
    while len(rows) < SIDE // size and at < len(words):
        row = _row(words[at : at + 2 * SIDE // size], face)
        brush.text((2, len(rows) * size + size / 2), row, fill=0, font=face, anchor="lm")
        rows.append(row)
        at += len(row)
    file = io.BytesIO()
    picture.save(file, "PNG")
    return "\n".join(rows), file.getvalue()


def rows_of(png: bytes, size: int) -> list[bytes]:
    """The rows that hold ink, each a PNG."""
    found = list[bytes]()
    with Image.open(io.BytesIO(png)) as page:
        for top in range(0, SIDE - size + 1, size):
            row = page.crop((0, top, SIDE, top + size))
            if row.getextrema() != (255, 255):
                file = io.BytesIO()
                row.save(file, "PNG")
                found.append(file.getvalue())
    return found


def _row(words: str, face: ImageFont.FreeTypeFont) -> str:
    """As many of the words' letters as a row holds."""
    low, high = 1, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if face.getlength(words[:middle]) <= SIDE - 4 else (low, middle - 1)
    return words[:low]


def _simplified(font: Path | None) -> int:
    """Which face of a collection is the one for simplified Chinese."""
    if font is None or font.suffix != ".ttc":
        return 0
    names: Sequence[str] = [ImageFont.truetype(str(font), 12, index=n).getname()[0] or "" for n in range(5)]
    return next((n for n, name in enumerate(names) if name.endswith("SC")), 0)
