"""Image reader: screenshots and photographs are kept unchanged, with the words on them.

A page that this program drew is read exactly, from its pixels. Any other picture is read by the OCR engine; where none
is installed, the picture is found by its name only.
"""

import warnings
from io import BytesIO
from pathlib import PurePath

from PIL import Image

from foundation.trust import Trust
from memory.errors import NotAPage
from memory.knowledge.errors import UnreadableDocument
from memory.knowledge.readers.document import Document, DocumentImage, DocumentLocation, OcrReader
from memory.pages.read.exact import read_exact
from models.ocr.picture import MOST_PIXELS as MOST_OF_OCR

MOST_PIXELS = 120_000_000  # what the largest telephones' cameras give; beyond it may be a bomb


def read_picture(raw: bytes, name: str, ocr_reader: OcrReader | None) -> Document:
    """Reads a picture. Raises UnreadableDocument."""
    width, height, suffix = measure_picture(raw)
    head = f"{name} (a picture of {width}×{height} pixels)"
    words, read_by, messages = _picture_text(raw, name, ocr_reader, _too_many(width * height, suffix))
    text = f"{head}\n{words}" if words else head
    places = (
        (DocumentLocation(0, ""), DocumentLocation(len(head) + 1, "words on the picture", read_by))
        if words
        else (DocumentLocation(0, ""),)
    )
    picture = DocumentImage(raw, suffix, width, height, 0, len(text))
    return Document(kind="picture", text=text, places=places, pictures=(picture,), said=messages)


def measure_picture(raw: bytes) -> tuple[int, int, str]:
    """Pixels wide and high, and the suffix of its format. Raises UnreadableDocument for no picture, or for a bomb."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own limit is reported below
            with Image.open(BytesIO(raw)) as picture:
                (width, height), kind = picture.size, picture.format or ""
                if width * height > MOST_PIXELS:
                    raise UnreadableDocument(f"it has {width * height:,} pixels; the limit is {MOST_PIXELS:,}")
                picture.load()
    except Image.DecompressionBombError as error:
        raise UnreadableDocument(f"it has far more than {MOST_PIXELS:,} pixels, the limit") from error
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise UnreadableDocument("it is not a readable picture: damaged, truncated, or of another type") from error
    return width, height, {"JPEG": ".jpg", "TIFF": ".tif"}.get(kind, f".{kind.lower()}")


def _too_many(pixels: int, suffix: str) -> str:
    """Why OCR cannot read a picture that is kept all the same; "" where it can. A JPEG is opened at a fraction."""
    if suffix == ".jpg" or pixels <= MOST_OF_OCR:
        return ""
    return f"it has {pixels:,} pixels, but OCR reads at most {MOST_OF_OCR:,}; scale it down to make its text searchable"


def _picture_text(
    raw: bytes, name: str, ocr_reader: OcrReader | None, too_many: str
) -> tuple[str, str, tuple[str, ...]]:
    if (ours := _own_page(raw)) is not None:
        return ours, "", ()
    if too_many:
        return "", "", (f"{name} was stored as a picture without text: {too_many}.",)
    if ocr_reader is None:
        message = f"{name} was stored as a picture without text: no OCR engine is installed."
        return "", "", (message,)
    return ocr_reader.words(raw).strip(), ocr_reader.name, ()


def _own_page(raw: bytes) -> str | None:
    """The text of a page of this program with a matching hash; None for any other picture."""
    try:
        reading = read_exact(raw)
    except (NotAPage, ValueError, OSError):
        return None
    return reading.text if reading.trust is Trust.EXACT else None


def is_picture(name: str) -> bool:
    """Whether the name has the suffix of a picture."""
    return PurePath(name).suffix.lower() in PICTURES


PICTURES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff"})
