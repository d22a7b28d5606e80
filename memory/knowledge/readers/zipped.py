"""What a docx or pptx may unpack to: refused by its own figures first, then counted while it is unpacked."""

import zipfile
import zlib
from io import BytesIO

from memory.knowledge.errors import Unreadable

DAMAGED = "it is damaged, cut short, or of another kind than its name says"
_BROKEN = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, OverflowError, zlib.error, EOFError)
PIECE = 64 * 1024  # bytes unpacked at once
MOST_FILES = 20_000
MOST_BYTES = 400 * 2**20  # all that is in it, unpacked: pictures mostly
MOST_XML = 64 * 2**20  # one part of the text, unpacked
MOST_TEXT = 128 * 2**20  # all of the text, unpacked
MOST_RATIO = 400  # unpacked to packed, of a part above SMALL
SMALL = 2**20
REPAIR = "Where an office program still opens it, save it anew from there, then add it."


def check_zip(raw: bytes) -> None:
    """Raises Unreadable for what is no zip, is encrypted, or would unpack to more than a document does.

    These are the figures that the zip itself gives; `unpacked_text` counts.
    """
    try:
        with zipfile.ZipFile(BytesIO(raw)) as pack:
            parts = pack.infolist()
    except _BROKEN as error:
        raise Unreadable(DAMAGED, REPAIR) from error
    if any(part.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for part in parts):
        raise Unreadable("it is packed in a way that no office program uses", REPAIR)
    if any(part.flag_bits & 1 for part in parts):
        raise Unreadable("it is encrypted", "Save a copy without a password, then add that.")
    largest = max(parts, key=lambda part: part.file_size, default=None)
    if largest is None or len(parts) > MOST_FILES or sum(part.file_size for part in parts) > MOST_BYTES:
        raise Unreadable(f"it would unpack to {sum(part.file_size for part in parts):,} bytes in {len(parts):,} parts")
    for part in parts:
        if part.filename.lower().endswith((".xml", ".rels")) and part.file_size > MOST_XML:
            raise Unreadable(f"its part {part.filename} would unpack to {part.file_size:,} bytes")
        if part.file_size > SMALL and part.file_size > MOST_RATIO * max(1, part.compress_size):
            raise Unreadable(f"its part {part.filename} unpacks to {MOST_RATIO} times its size, as no document does")


def unpacked_text(raw: bytes) -> BytesIO:
    """The same document with its text alone, as a zip that is not compressed: all other parts are empty.

    zipfile unpacks up to 2 GB at once before it looks at the length that the zip declares, so each part is counted
    piece by piece here, and what reads the document meets no compressed part. Raises Unreadable.
    """
    check_zip(raw)
    out, total = BytesIO(), 0
    try:
        with zipfile.ZipFile(BytesIO(raw)) as pack, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as text:
            for part in {part.filename: part for part in pack.infolist()}.values():
                data = _counted(pack, part) if part.filename.lower().endswith((".xml", ".rels")) else b""
                total += len(data)
                if total > MOST_TEXT:
                    raise Unreadable(f"its text unpacks to more than {MOST_TEXT:,} bytes")
                text.writestr(part.filename, data)
    except _BROKEN as error:
        raise Unreadable(DAMAGED, REPAIR) from error
    out.seek(0)
    return out


def _counted(pack: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    data = bytearray()
    with pack.open(part) as stream:
        while piece := stream.read(PIECE):
            data += piece
            if len(data) > MOST_XML:
                raise Unreadable(f"its part {part.filename} unpacks to more than {MOST_XML:,} bytes")
    return bytes(data)
