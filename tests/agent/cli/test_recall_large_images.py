"""Pictures beyond what OCR opens: one sentence of ours names the limit, and never Pillow's own."""

import struct
import zlib
from pathlib import Path

import pytest

from foundation.errors import PalimpsestError
from memory.knowledge.readers.document import OcrReader
from memory.knowledge.readers.image import read_picture
from models.errors import UnreadableImage
from models.ocr.picture import open_image
from tui.images.load import UndrawableImage, load_picture


def png(side: int) -> bytes:
    """A blank 1-bit PNG, a few kilobytes for a hundred million pixels."""
    packer = zlib.compressobj()
    row = b"\x00" + bytes(-(-side // 8))
    data = b"".join(packer.compress(row) for _ in range(side)) + packer.flush()
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)), (b"IDAT", data), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(raw)) + name + raw + struct.pack(">I", zlib.crc32(raw, zlib.crc32(name)))
        for name, raw in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.mark.parametrize("side", [10_950, 13_500])  # 119.9 and 182 million pixels: Pillow warns, Pillow refuses
@pytest.mark.filterwarnings("error")
def test_what_ocr_does_not_open_is_refused_by_its_own_limit(side: int, tmp_path: Path) -> None:
    with pytest.raises(UnreadableImage) as told:
        open_image(png(side))
    assert "40,000,000" in told.value.message
    assert "bomb" not in told.value.message
    path = tmp_path / "large.png"
    path.write_bytes(png(side))
    with pytest.raises(UndrawableImage) as shown:
        load_picture(path)
    assert isinstance(shown.value, PalimpsestError)
    assert (shown.value.title, "bomb" in shown.value.message) == ("Too large to show", False)


@pytest.mark.filterwarnings("error")
def test_a_picture_of_120_million_pixels_is_kept_and_its_words_are_said_to_be_unread() -> None:
    def never(_: bytes) -> str:
        raise AssertionError("OCR was asked to read what it cannot open")

    document = read_picture(png(10_950), "map.png", OcrReader("rapidocr", never))
    assert document.pictures[0].width == 10_950
    (told,) = document.said
    assert told == (
        "map.png was stored as a picture without text: it has 119,902,500 pixels, but OCR "
        "reads at most 40,000,000; scale it down to make its text searchable."
    )
