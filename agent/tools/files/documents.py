"""Documents and pictures as text, for a model that asks to read them: PDF by page, office files, pictures by OCR.

Each is parsed by the readers of knowledge, in a process of its own with limits.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from agent.tools.port import ToolFailure
from models.messages import Image

if TYPE_CHECKING:  # loaded with the first document
    from memory.knowledge.readers.document import Document, OcrReader
    from models.settings import ModelSettings

OpenOcr = Callable[[], "OcrReader | None"]
_BEGINNINGS: Final = (
    *(b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*"),
    b"PK\x03\x04",
)
_MEDIA: Final = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}
_PAGED: Final = {"pdf", "pptx"}
MAX_PICTURE_BYTES: Final = 5_000_000  # that is shown to a model; servers refuse larger ones


def ocr_opener(settings: "ModelSettings", environment: Mapping[str, str]) -> OpenOcr:
    """Opens the OCR engine of the settings, once, when the first document needs it."""

    @cache
    def opened() -> "OcrReader | None":
        from memory.knowledge.ocr import installed_ocr_reader

        return installed_ocr_reader(settings, environment)

    return opened


def is_document(data: bytes) -> bool:
    """Whether the file may be one that is read as a document, whatever its name."""
    return data.startswith(_BEGINNINGS) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")


def picture(data: bytes, name: str) -> Image | None:
    """The picture for a model that sees pictures; None for another kind of file, or one too large to send.

    Raises ToolFailure for a damaged picture.
    """
    media = next((media for beginning, media in _MEDIA.items() if data.startswith(beginning)), "")
    if not media or len(data) > MAX_PICTURE_BYTES:
        return None
    from memory.errors import MemoryFailure
    from memory.knowledge.readers.image import measure_picture

    try:
        width, height, _ = measure_picture(data)
    except MemoryFailure as error:
        raise ToolFailure("Not readable", f"{name}: {error.message}.") from error
    return Image(data, media, width, height, name)


def document_text(data: bytes, shown: str, offset: int, limit: int, open_ocr: OpenOcr) -> str:
    """The text of a document: of a PDF and of slides `limit` pages from page `offset` on (1 is the first), 0 for all.

    Raises ToolFailure.
    """
    from memory.errors import MemoryFailure
    from memory.knowledge.readers.registry import read_file

    name = shown.rpartition("/")[2]
    try:
        document = read_file(data, name, open_ocr())
    except MemoryFailure as error:
        raise ToolFailure("Not readable", f"{shown}: {error.message}", error.hint) from error
    if document.kind not in _PAGED:
        return document.text
    return _pages(document, shown, offset, limit)


def _pages(document: "Document", shown: str, offset: int, limit: int) -> str:
    places = document.places
    if offset > max(len(places), 1):
        raise ToolFailure("No such page", f"{shown} has {len(places):,} pages.")
    last = min(offset - 1 + limit, len(places)) if limit else len(places)
    pages = list[str]()
    for number in range(offset - 1, last):
        end = places[number + 1].start if number + 1 < len(places) else len(document.text)
        read_by = f", read by {places[number].read_by}" if places[number].read_by else ""
        heading = f"[{places[number].label} of {len(places):,}{read_by}]"
        pages.append(f"{heading}\n{document.text[places[number].start : end].strip()}")
    return "\n\n".join(pages)
