"""PDF reader: the text layer of each page through pypdfium2. A page without text is drawn and read by OCR.

PDFium runs in the reader process, with limits on memory and on the time of a page.
"""

import importlib.util
from collections.abc import Iterator

from memory.knowledge.errors import MissingReader, UnreadableDocument
from memory.knowledge.readers.document import BETWEEN, Document, DocumentImage, DocumentSection, OcrReader, join_parts
from memory.knowledge.readers.frames import PageFrame
from memory.knowledge.readers.isolated import ReaderProcess

PATIENCE = 30.0  # seconds for one page
MOST_PICTURES = 2**30  # bytes of pages that are pictures, together


def read_pdf(raw: bytes, name: str, ocr_reader: OcrReader | None, apart: ReaderProcess | None = None) -> Document:
    """Reads a PDF. Raises UnreadableDocument, and MissingReader where pypdfium2 is not installed. Without `apart` a
    process is started for it."""
    if importlib.util.find_spec("pypdfium2") is None:
        raise MissingReader("pypdfium2")
    if apart is not None:
        return _document(name, list(_pages(raw, apart)), ocr_reader)
    with ReaderProcess() as process:
        return _document(name, list(_pages(raw, process)), ocr_reader)


def _pages(raw: bytes, apart: ReaderProcess) -> Iterator[PageFrame]:
    """The pages as they come. Raises UnreadableDocument."""
    size = 0
    for frame in apart.frames("pdf", raw, PATIENCE, "one of its pages takes"):
        if not isinstance(frame, PageFrame):
            continue
        size += len(frame.picture)
        if size > MOST_PICTURES:
            raise UnreadableDocument(f"its pages as pictures have more than {MOST_PICTURES / 2**30:g} GB")
        yield frame


def _document(name: str, pages: list[PageFrame], ocr_reader: OcrReader | None) -> Document:
    parts, pictures, at = list[DocumentSection](), list[DocumentImage](), 0
    for number, page in enumerate(pages, 1):
        part = DocumentSection(f"page {number}", page.text)
        if page.picture:
            words = ocr_reader.words(page.picture).strip() if ocr_reader else ""
            part = DocumentSection(
                f"page {number}", words or f"{name}, page {number} (a picture)", ocr_reader.name if ocr_reader else ""
            )
            pictures.append(DocumentImage(page.picture, ".png", page.width, page.height, at, len(part.text)))
        parts.append(part)
        at += len(part.text) + len(BETWEEN)
    text, places = join_parts(parts)
    return Document(
        kind="pdf", text=text, places=places, pictures=tuple(pictures), said=_ocr_messages(name, pictures, ocr_reader)
    )


def _ocr_messages(name: str, pictures: list[DocumentImage], ocr_reader: OcrReader | None) -> tuple[str, ...]:
    if not pictures:
        return ()
    subject = f"{len(pictures):,} page{'s' if len(pictures) != 1 else ''} of {name} had no text"
    how = f"read by {ocr_reader.name}" if ocr_reader else "stored as pictures: no OCR engine is installed to read them"
    return (f"{subject} and {'were' if len(pictures) != 1 else 'was'} {how}.",)
