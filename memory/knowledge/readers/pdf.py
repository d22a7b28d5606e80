"""PDF through pypdfium2: the text layer, page by page. A page without one becomes a picture, and its words are read.

PDFium is not safe to call from two threads at once; one lock keeps them apart.
"""

import threading
from io import BytesIO
from typing import Any, cast

from memory.knowledge.errors import NoReader, Unreadable
from memory.knowledge.readers.document import BETWEEN, Document, Part, Picture, Sight, joined

MOST_PAGES = 5_000
DOTS_PER_INCH = 200  # of a page that is drawn to be read (seed 001)
MOST_SIDE = 2_600  # pixels
_POINTS_PER_INCH = 72
_PDFIUM = threading.Lock()


def read_pdf(raw: bytes, name: str, sight: Sight | None) -> Document:
    """Raises Unreadable."""
    try:
        import pypdfium2
    except ImportError as error:
        raise NoReader("pypdfium2") from error
    library = cast(Any, pypdfium2)
    with _PDFIUM:
        try:
            opened = library.PdfDocument(raw)
        except library.PdfiumError as error:
            raise _refusal(raw, str(error)) from error
        try:
            if len(opened) > MOST_PAGES:
                raise Unreadable(f"it has {len(opened):,} pages; {MOST_PAGES:,} are the most")
            pages = [_page(opened, number) for number in range(len(opened))]
        except library.PdfiumError as error:
            raise Unreadable(f"it is damaged ({error})") from error
        finally:
            opened.close()
    return _document(name, pages, sight)


class _Page:
    """A page's text, or where it has none its picture."""

    def __init__(self, text: str, picture: bytes = b"", width: int = 0, height: int = 0) -> None:
        self.text, self.picture, self.width, self.height = text, picture, width, height


def _document(name: str, pages: list[_Page], sight: Sight | None) -> Document:
    parts, pictures, at = list[Part](), list[Picture](), 0
    for number, page in enumerate(pages, 1):
        part = Part(f"page {number}", page.text)
        if page.picture:
            words = sight.words(page.picture).strip() if sight else ""
            part = Part(f"page {number}", words or f"{name}, page {number} (a picture)", sight.name if sight else "")
            pictures.append(Picture(page.picture, ".png", page.width, page.height, at, len(part.text)))
        parts.append(part)
        at += len(part.text) + len(BETWEEN)
    text, places = joined(parts)
    return Document(kind="pdf", text=text, places=places, pictures=tuple(pictures), said=_said(name, pictures, sight))


def _said(name: str, pictures: list[Picture], sight: Sight | None) -> tuple[str, ...]:
    if not pictures:
        return ()
    some = f"{len(pictures):,} page{'s' if len(pictures) != 1 else ''} of {name} had no text"
    how = f"read by {sight.name}" if sight else "kept as pictures: no OCR engine is installed to read them"
    return (f"{some} and {'were' if len(pictures) != 1 else 'was'} {how}.",)


def _page(opened: Any, number: int) -> _Page:
    page = opened[number]
    try:
        layer = page.get_textpage()
        try:
            text = str(layer.get_text_bounded()).replace("\r\n", "\n").replace("\r", "\n").strip()
        finally:
            layer.close()
        if any(letter.isalnum() for letter in text) or _is_blank(page):
            return _Page(text)
        return _drawn(page)
    finally:
        page.close()


def _is_blank(page: Any) -> bool:
    """Whether there is nothing on the page."""
    return next(iter(page.get_objects(max_depth=1)), None) is None


def _drawn(page: Any) -> _Page:
    longest = max(1.0, page.get_width(), page.get_height())
    scale = min(DOTS_PER_INCH / _POINTS_PER_INCH, MOST_SIDE / longest)
    picture = page.render(scale=scale).to_pil()
    out = BytesIO()
    picture.save(out, "PNG")
    return _Page("", out.getvalue(), picture.width, picture.height)


def _refusal(raw: bytes, why: str) -> Unreadable:
    if "password" in why.lower() or b"/Encrypt" in raw[-4096:]:
        return Unreadable("it is encrypted", "Save a copy without a password, then add that.")
    return Unreadable(f"it is damaged ({why})")
