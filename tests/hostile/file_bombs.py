"""Files that ask for far more than their size: HTML without end of time, office documents whose zip lies."""

import bz2
import struct
import zipfile
import zlib
from pathlib import Path

from tests.memory.knowledge.readers.test_pdf_bombs import pdf

HTML = {
    "comments": "<!--",
    "tags": "<a ",
    "quotes": '<a x="',
    "sections": "<![CDATA[",
    "signs": "<",
    "pairs": "<a x=1 ",
    "apostrophes": "<p a='",
    "declarations": "<!",
    "instructions": "<?",
    "pictures": "<svg>",
}
"""Each is repeated to 400 kB."""


def html_bombs(folder: Path, size: int = 400_000) -> list[Path]:
    """One file a pattern, with `>` at its end, which closes what can be closed."""
    made: list[Path] = []
    for name, unit in HTML.items():
        made.append(folder / f"{name}.html")
        made[-1].write_text(f"<p>{name}</p>" + (unit * (size // len(unit))) + ">")
    return made


def attributes(path: Path, size: int = 4_000_000) -> Path:
    """One tag of as many attributes as fit."""
    path.write_text("<p>attributes</p><a " + " ".join(f"a{n}=1" for n in range(size // 10)) + ">")
    return path


def lying_docx(path: Path, megabytes: int = 1024) -> Path:
    """Its zip says that its first part takes 1 MB; it holds so many."""
    first = b" " * 2**20
    data = deflated(first) * megabytes + zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS).flush()
    return _zip_of_one(path, b"[Content_Types].xml", data, 8, len(first), zlib.crc32(first))


def bzip2_docx(path: Path, megabytes: int = 128) -> Path:
    """Its first part is packed with bzip2, of which zipfile unpacks whatever comes at once."""
    packer = bz2.BZ2Compressor(9)
    piece = b" " * 2**20
    data = b"".join(packer.compress(piece) for _ in range(megabytes)) + packer.flush()
    return _zip_of_one(path, b"[Content_Types].xml", data, 12, 2**20, zlib.crc32(piece))


def pdf_bombs() -> dict[str, bytes]:
    """PDFs of one page whose drawing unpacks to so much, packed once or twice."""
    twice = zlib.compress(packed_zeros(1000), 9)
    once = {size: packed_zeros(size) for size in (200, 600)}
    return {
        "a gigabyte, packed twice": pdf(twice, b"[/FlateDecode/FlateDecode]"),
        **{f"{size} MB": pdf(stream, b"/FlateDecode") for size, stream in once.items()},
    }


def deflated(piece: bytes) -> bytes:
    """The piece in blocks that refer to nothing before them: repeated, they are the piece repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)


def packed_zeros(megabytes: int) -> bytes:
    """What zlib.compress makes of so many million zeros, in a thousandth of its time."""
    size = megabytes * 1_000_000
    end = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS).flush()
    checksum = struct.pack(">I", (size % 65_521) << 16 | 1)  # Adler-32
    return b"\x78\xda" + deflated(bytes(1_000_000)) * megabytes + end + checksum


def _zip_of_one(path: Path, name: bytes, data: bytes, method: int, size: int, crc: int) -> Path:
    """A zip that declares `size` and `crc`, whatever its data unpacks to. `data` is padded, so that it is no ratio."""
    pad = b"\0" * max(0, size // 100 - len(data))
    data += pad
    about = struct.pack("<HHHHHIIIHH", 20, 0, method, 0, 0, crc, len(data), size, len(name), 0)
    local = b"PK\x03\x04" + about + name + data
    central = b"PK\x01\x02" + struct.pack("<H", 20) + about + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    path.write_bytes(local + central + end)
    assert zipfile.ZipFile(path).infolist()[0].file_size == size
    return path
