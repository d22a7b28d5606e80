"""What a docx or pptx may unpack to: refused before anything is unpacked."""

import zipfile
from io import BytesIO

from memory.knowledge.errors import Unreadable

MOST_FILES = 20_000
MOST_BYTES = 400 * 2**20  # all that is in it, unpacked: pictures mostly
MOST_XML = 64 * 2**20  # one part of the text, unpacked
MOST_RATIO = 400  # unpacked to packed, of a part above SMALL
SMALL = 2**20
REPAIR = "Where an office program still opens it, save it anew from there, then add it."


def check_zip(raw: bytes) -> None:
    """Raises Unreadable for what is no zip, is encrypted, or would unpack to more than a document does.

    zipfile gives out no more of a part than the length that is checked here.
    """
    try:
        with zipfile.ZipFile(BytesIO(raw)) as pack:
            parts = pack.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, OverflowError) as error:
        raise Unreadable("it is damaged, cut short, or of another kind than its name says", REPAIR) from error
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
