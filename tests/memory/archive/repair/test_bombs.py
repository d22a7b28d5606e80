"""What grows without end when it is opened is not opened."""

import hashlib
import io
import json
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
import zstandard
from PIL import Image

from memory.archive import read_png
from memory.archive.packs.manifest import LONGEST
from memory.archive.packs.manifest import MAGIC as FACTS_MAGIC
from memory.archive.packs.pack import END as PACK_END
from memory.archive.packs.pack import MAGIC as PACK_MAGIC
from memory.archive.packs.pack import SIGNATURE
from memory.archive.packs.parity import MAGIC as PARITY_MAGIC
from memory.errors import Damaged, NotAPage
from memory.pages.render.png import MOST_PIXELS, decode
from memory.pages.symbol_coding import LARGEST
from memory.pages.symbol_coding import MAGIC as CODED_MAGIC
from memory.zstd import packer, unpack
from tests.paths import ROOT


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


# ── files that lie, opened in a process of their own: what it took of time and memory is measured ──


def pack_of(
    listed: bytes,
    *,
    offset: int | None = None,
    length: int | None = None,
    frames: bytes = b"",
    magic: bytes = PACK_MAGIC,
) -> bytes:
    """A pack with that list of pages, which its footer vouches for."""
    body = magic + frames
    where, size = (len(body) if offset is None else offset), (len(listed) if length is None else length)
    return body + listed + struct.pack("<QI32s8s", where, size, hashlib.sha256(listed).digest(), PACK_END)


def sealed(frame: bytes) -> bytes:
    """A manifest whose own hash is right."""
    body = FACTS_MAGIC + frame
    return body + hashlib.sha256(body).digest()


def parity_of(size: int, block: int, k: int, m: int, rest: bytes = b"") -> bytes:
    head = struct.pack("<32sQIHH", bytes(32), size, block, k, m)
    head += hashlib.sha256(head).digest()
    return PARITY_MAGIC + head + rest + head + PARITY_MAGIC


def zeros(megabytes: int, **how: bool) -> bytes:
    return zstandard.ZstdCompressor(level=1, **how).compress(bytes(megabytes * 2**20))


def leaf(**lies: int) -> bytes:
    one = {"id": "pg_0", "number": 1, "mode": "base", "chars": 1, "sha256": "00", "offset": 17, "length": 40, "size": 9}
    return packer()(json.dumps({"schema": 1, "pages": [one | lies]}).encode())


VERSION_1 = SIGNATURE + b"\x01"


def coded(counts: tuple[int, int, int], rest: bytes = b"") -> bytes:
    """A pack with one frame of coded pages that have these counts of pages, symbols and pairs."""
    return coded_frames(CODED_MAGIC + struct.pack("<III", *counts) + rest)


def coded_frames(frame: bytes, times: int = 1) -> bytes:
    packed = zstandard.ZstdCompressor(level=1).compress(frame)
    return pack_of(leaf(length=len(packed), size=2**20), frames=packed * times)


def page_of_blanks(tokens: int) -> bytes:
    """Heads of 64 pages of one blank symbol, with that many tokens each: far more than they have cells."""
    heads = struct.pack("<HBBIII", 2048, 8, 16, 0, 0, tokens) * 64
    return heads + bytes(1 + 16) + bytes(tokens * 64)


def wide_window() -> bytes:
    how = zstandard.ZstdCompressionParameters.from_level(1, window_log=31, write_content_size=False)
    made = zstandard.ZstdCompressor(compression_params=how).compressobj()
    return made.compress(b"\x89PNG\r\n\x1a\n" + bytes(2**20)) + made.flush()


def spans_without_end() -> bytes:
    """As much JSON as a manifest may have, all of it spans."""
    entry = {
        "seq": 1,
        "conversation": 0,
        "id": "e",
        "parent": "",
        "kind": "page",
        "role": "user",
        "speaker": "",
        "time_ms": 0,
        "chars": 0,
        "sha256": "",
        "spans": [],
    }
    few = json.dumps({"pack": "spans.pages", "entries": [entry]}, separators=(",", ":"))
    many = ",".join(['[0,0,"",0]'] * ((LONGEST - 4096) // 11))
    return sealed(packer()(few.replace('"spans":[]', f'"spans":[{many}]').encode()))


def png_bomb() -> bytes:
    return png_of(6_300, 6_300, zlib.compress(bytes(256 * 2**20), 9))


BOMBS = {
    "offset.pages": lambda: pack_of(packer()(b"{}"), offset=2**60),
    "length.pages": lambda: pack_of(packer()(b"{}"), length=2**32 - 1),
    "list.pages": lambda: pack_of(zeros(512)),
    "silent.pages": lambda: pack_of(zeros(64, write_content_size=False)),
    "deep.pages": lambda: pack_of(packer()(b"[" * 10**6)),
    "wide.pages": lambda: pack_of(packer()(b'{"schema":1,"pages":[' + b"{}," * (5 * 10**6) + b"{}]}")),
    "size.pages": lambda: pack_of(leaf(size=2**62)),
    "place.pages": lambda: pack_of(leaf(offset=2**62, length=2**40)),
    "below.pages": lambda: pack_of(leaf(at=-5, size=20)),
    "frames.pages": lambda: pack_of(leaf(length=100, size=2**20), frames=zeros(300) * 3),
    "size-1.pages": lambda: pack_of(leaf(size=2**62), magic=VERSION_1),
    "below-1.pages": lambda: pack_of(leaf(at=-5, size=20), magic=VERSION_1),
    "frames-1.pages": lambda: pack_of(leaf(length=100, size=2**20), frames=zeros(300) * 3, magic=VERSION_1),
    "counts.pages": lambda: coded((2**32 - 1, 2**32 - 1, 2**32 - 1)),
    "symbols.pages": lambda: coded((1, 2**32 - 1, 0), bytes(LARGEST - 20)),
    "pairs.pages": lambda: coded((1, 2**20, 2**20), bytes(LARGEST - 20)),
    "tokens.pages": lambda: coded((64, 1, 0), page_of_blanks(LARGEST // 64 - 100)),
    "blocks.pages": lambda: coded((1, 1, 0), struct.pack("<HBBIII", 512, 8, 16, 2**32 - 1, 1, 1) + bytes(100)),
    "beyond.pages": lambda: coded((1, 1, 0), struct.pack("<HBBIII", 512, 8, 16, 1, 2048, 2**31) + bytes(9_999)),
    "endless.pages": lambda: coded_frames(CODED_MAGIC + bytes(512 * 2**20)),
    "many.pages": lambda: coded_frames(CODED_MAGIC + struct.pack("<III", 64, 1, 0) + page_of_blanks(4_000), 200),
    "pictures.pages": lambda: pack_of(leaf(), frames=wide_window() * 5),
    "list.manifest": lambda: sealed(zeros(512)),
    "silent.manifest": lambda: sealed(zeros(64, write_content_size=False)),
    "deep.manifest": lambda: sealed(packer()(b"[" * (8 * 2**20))),
    "spans.manifest": spans_without_end,
    "another.manifest": lambda: sealed(packer()(b'{"pack":"../../cold.pages"}')),
    "size.parity": lambda: parity_of(2**62, 256, 10, 1),
    "shares.parity": lambda: parity_of(1000, 256, 65_535, 65_535),
    "groups.parity": lambda: parity_of(2**26, 256, 1, 1),
    "block.parity": lambda: parity_of(2**20, 2**31, 1, 1),
    "declared.zst": lambda: zeros(512),
    "silent.zst": lambda: zeros(64, write_content_size=False),
    "window.zst": wide_window,
    "sides.png": lambda: png_of(60_000, 60_000, zlib.compress(b"")),
    "data.png": png_bomb,
    "pixels.png": lambda: png_of(6_320, 6_320, zlib.compress(b"\x00" * (791 * 6320), 9)),
}


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.skipif(os.name == "nt", reason="Windows does not tell a process its peak of memory")
def test_what_lies_about_its_size_is_refused_within_two_seconds_and_256_megabytes(tmp_path: Path) -> None:
    for name, bomb in BOMBS.items():
        (tmp_path / name).write_bytes(bomb())
    with (tmp_path / "sparse.manifest").open("wb") as file:
        file.truncate(2**36)
    root = ROOT
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("bombs.py")), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    *lines, (_, peak) = [line.split() for line in ran.stdout.splitlines()]
    assert {name for name, *_ in lines} == {*BOMBS, "sparse.manifest"}
    no_lie = {"spans.manifest"}  # it is as large as a manifest may be, and must cost no more than the others
    assert [line for line in lines if line[1] != "refused" and line[0] not in no_lie] == []
    assert [line for line in lines if float(line[2]) > 2] == []
    assert int(peak) < 256, lines
