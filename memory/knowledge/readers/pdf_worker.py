"""The pages of one PDF through PDFium, as frames. It runs in the process that reads files (`reader_process`)."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from memory.knowledge.readers.frames import OpenedFrame, PageFrame, ReaderFrame, RefusalFrame

MOST_PAGES = 5_000
DOTS_PER_INCH = 200  # of a page that is drawn to be read (seed 001)
MOST_SIDE = 2_600  # pixels
_POINTS_PER_INCH = 72


def pdf_frames(raw: bytes) -> Iterator[ReaderFrame]:
    """`OpenedFrame`, then a `PageFrame` each; or `RefusalFrame`. Raises MemoryError."""
    import pypdfium2

    library: Any = pypdfium2
    try:
        opened = library.PdfDocument(raw)
    except library.PdfiumError as error:
        yield _refusal(raw, str(error))
        return
    try:
        if len(opened) > MOST_PAGES:
            yield RefusalFrame(f"it has {len(opened):,} pages; {MOST_PAGES:,} are the most")
            return
        yield OpenedFrame(len(opened))
        for number in range(len(opened)):
            yield _page(opened, number)
    except library.PdfiumError:
        yield RefusalFrame("it is damaged")
    finally:
        opened.close()


def _page(opened: Any, number: int) -> PageFrame:
    page = opened[number]
    try:
        layer = page.get_textpage()
        try:
            text = str(layer.get_text_bounded()).replace("\r\n", "\n").replace("\r", "\n").strip()
        finally:
            layer.close()
        if any(letter.isalnum() for letter in text) or _is_blank(page):
            return PageFrame(text)
        return _drawn(page)
    finally:
        page.close()


def _is_blank(page: Any) -> bool:
    """Whether there is nothing on the page."""
    return next(iter(page.get_objects(max_depth=1)), None) is None


def _drawn(page: Any) -> PageFrame:
    longest = max(1.0, page.get_width(), page.get_height())
    scale = min(DOTS_PER_INCH / _POINTS_PER_INCH, MOST_SIDE / longest)
    picture = page.render(scale=scale).to_pil()
    out = BytesIO()
    picture.save(out, "PNG")
    return PageFrame("", out.getvalue(), picture.width, picture.height)


def _refusal(raw: bytes, why: str) -> RefusalFrame:
    if "password" in why.lower() or b"/Encrypt" in raw[-4096:]:
        return RefusalFrame("it is encrypted", "Save a copy without a password, then add that.")
    return RefusalFrame("it is damaged")
