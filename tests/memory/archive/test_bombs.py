"""What grows without end when it is opened is not opened."""

import io
import struct
import zlib
from pathlib import Path

import pytest
import zstandard
from PIL import Image

from memory.archive import read_png
from memory.archive.frames import packer, unpack
from memory.archive.pixels import MOST_PIXELS, decode
from memory.errors import Damaged, NotAPage


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(width: int, height: int, data: bytes) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [6_400, 10_000, 16_000, 60_000])
def test_a_picture_of_more_than_forty_million_pixels_is_refused(side: int) -> None:
    with pytest.raises(NotAPage) as caught:
        decode(png_of(side, side, zlib.compress(b"")))
    assert "40,000,000" in caught.value.message


def test_a_picture_just_under_the_cap_is_opened() -> None:
    buffer = io.BytesIO()
    Image.new("L", (MOST_PIXELS // 8000, 8000), 255).save(buffer, "PNG")
    assert decode(buffer.getvalue()).shape[0] == 8000


def test_pixel_data_that_unfolds_beyond_the_picture_is_not_unfolded() -> None:
    bomb = png_of(512, 512, zlib.compress(bytes(64 * 2**20), 9))
    assert decode(bomb).nbytes == 512 * 512 // 8
    with pytest.raises(NotAPage):  # a black square
        read_png(bomb)


def test_a_file_that_is_no_picture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "page.png"
    path.write_text("not a picture")
    with pytest.raises(NotAPage):
        read_png(path)


def test_a_huge_file_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "page.png"
    with path.open("wb") as file:
        file.truncate(65 * 2**20)
    with pytest.raises(NotAPage):
        read_png(path)


def test_a_frame_that_declares_more_than_is_allowed_is_refused() -> None:
    bomb = zstandard.ZstdCompressor().compress(bytes(512 * 2**20))
    assert len(bomb) < 2**20
    with pytest.raises(Damaged):
        unpack(bomb, limit=2**20)


def test_a_frame_that_hides_its_size_is_refused() -> None:
    silent = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(1000))
    with pytest.raises(Damaged):
        unpack(silent, limit=2**20)


def test_a_frame_that_lies_about_its_size_is_refused() -> None:
    honest = bytearray(zstandard.ZstdCompressor(write_checksum=False).compress(bytes(70_000)))
    assert zstandard.frame_content_size(bytes(honest)) == 70_000
    honest[5:9] = struct.pack("<I", 1000)  # magic, descriptor, then the declared size
    assert zstandard.frame_content_size(bytes(honest)) == 1000
    with pytest.raises(Damaged):
        unpack(bytes(honest), limit=2**20)


def test_a_frame_comes_back() -> None:
    assert unpack(packer()(b"page" * 1000), limit=4000) == b"page" * 1000


@pytest.mark.parametrize("frame", [b"", b"not zstd at all", packer()(b"page" * 1000)[:-5]])
def test_what_is_no_whole_frame_is_damaged(frame: bytes) -> None:
    with pytest.raises(Damaged):
        unpack(frame, limit=2**20)
