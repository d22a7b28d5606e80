"""Parsers of what an archive's folder holds: pictures, packs, manifests, parity."""

import hashlib
import struct
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec

from memory.archive.packs import parity
from memory.archive.packs.manifest import LONGEST, read_manifest
from memory.archive.packs.manifest import MAGIC as MANIFEST_MAGIC
from memory.archive.packs.pack import _FOOTER, END, MAGIC, Pack, PackDirectory, new_pack_name, write_pack
from memory.archive.packs.parity import _HEAD as _PARITY_HEAD
from memory.archive.packs.storage import LocalStorage
from memory.archive.repair.salvage import salvaged_pages
from memory.archive.write.page_writer import picture_of
from memory.errors import Damaged, NotAPage
from memory.pages.read.exact import read_exact
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import MODES
from memory.pages.render.page import page_sheets, render_page
from memory.pages.render.png import decode, decode_grey, stored_blocks
from memory.pages.symbol_coding import LARGEST, PageSymbols, encode_pages
from memory.zstd import packer, unpack
from tests.fuzz.target import FuzzTarget
from tests.paths import ROOT

RELEASED = ROOT / "tests" / "memory" / "archive" / "data" / "released-0.3.0" / "packs"
_NAME = "0123456789abcdef0123.pages"
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class OneFile(LocalStorage):
    """Storage in memory: `body` under each name."""

    def __init__(self, body: bytes) -> None:
        super().__init__(Path("nowhere"))
        self.body = body

    def names(self) -> list[str]:
        return [_NAME, parity.parity_name(_NAME)]

    def size(self, name: str) -> int:
        return len(self.body)

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        found = self.body[offset:] if length is None else self.body[offset : offset + length]
        if offset < 0 or (length is not None and len(found) != length):
            raise Damaged("Cut off", "It ends before it should.")
        return found

    def write(self, name: str, data: bytes) -> None:
        self.body = data


@cache
def _pages() -> tuple[bytes, ...]:
    sheets = list(page_sheets([LayoutText("The ferry leaves at 07:40. 渡轮 🐋\n" * 12)], MODES["tiny"]))
    return tuple(render_page(sheet, f"pg_{n:012}", n).png for n, sheet in enumerate(sheets, 1))


@cache
def _pack() -> bytes:
    storage = OneFile(b"")
    sheets = list(page_sheets([LayoutText("The heron stands in the reeds.\n" * 9)], MODES["tiny"]))
    write_pack(storage, new_pack_name(), [picture_of(render_page(sheet, f"pg_{7:012}", 1)) for sheet in sheets])
    return storage.body


def _png_seeds() -> list[bytes]:
    from io import BytesIO

    from PIL import Image

    small = Image.new("RGBA", (40, 24), (9, 99, 199, 120))
    made: list[bytes] = []
    for kind, mode in (("PNG", "RGBA"), ("PNG", "P"), ("JPEG", "RGB"), ("WEBP", "RGB"), ("BMP", "RGB"), ("GIF", "P")):
        out = BytesIO()
        small.convert(mode).save(out, kind)
        made.append(out.getvalue())
    return [_pages()[0], *made]


def _png(data: bytes) -> None:
    stored_blocks(data)
    for read in (decode_grey, read_exact):
        with suppress(NotAPage):
            read(data)
    decode(data)


def _sealed_png(data: bytes) -> bytes:
    """The CRC of each chunk made right."""
    out, at = bytearray(data), len(_SIGNATURE)
    while at + 12 <= len(out):
        (length,) = struct.unpack_from(">I", out, at)
        end = at + 8 + length
        if end + 4 > len(out):
            break
        struct.pack_into(">I", out, end, zlib.crc32(out[at + 4 : end]))
        at = end + 4
    return bytes(out)


def _read_pack(data: bytes) -> None:
    for _ in salvaged_pages(data):
        pass
    pack = Pack(OneFile(data), _NAME)
    for position in range(min(8, len(pack.pages))):
        pack.png(position)


def _sealed_pack(data: bytes) -> bytes:
    """The hash of the list made right, where the list is where the end says."""
    if len(data) < _FOOTER.size:
        return data
    offset, length, _, _ = _FOOTER.unpack(data[-_FOOTER.size :])
    listed = data[offset : offset + length]
    return data[: -_FOOTER.size] + _FOOTER.pack(offset, length, hashlib.sha256(listed).digest(), END)


def _read_pack_list(data: bytes) -> None:
    """JSON as the list of a pack whose frame is sound."""
    body = _pack()
    offset = _FOOTER.unpack(body[-_FOOTER.size :])[0]
    listed = packer()(data)
    footer = _FOOTER.pack(offset, len(listed), hashlib.sha256(listed).digest(), END)
    _read_pack(body[:offset] + listed + footer)


def _pack_lists() -> list[bytes]:
    body = _pack()
    offset, length, _, _ = _FOOTER.unpack(body[-_FOOTER.size :])
    listed = unpack(body[offset : offset + length], limit=2**20)
    assert msgspec.json.decode(listed, type=PackDirectory).pages
    return [listed]


def _read_symbols(data: bytes) -> None:
    symbols = PageSymbols(data[:LARGEST])
    for number in range(len(symbols)):
        symbols.png(number)


def _manifests() -> list[bytes]:
    return [path.read_bytes() for path in RELEASED.glob("*.manifest")]


def _name_in(manifest: bytes) -> str:
    try:
        found = msgspec.json.decode(unpack(manifest[len(MANIFEST_MAGIC) : -32], limit=LONGEST))
        return str(found["pack"]).partition(".")[0][:40] + ".manifest"
    except Exception:
        return "no-pack.manifest"


def _read_manifest(data: bytes) -> None:
    read_manifest(OneFile(data), _name_in(data))


def _sealed_manifest(data: bytes) -> bytes:
    return data[:-32] + hashlib.sha256(data[:-32]).digest()


def _read_manifest_facts(data: bytes) -> None:
    """JSON as a manifest with its seal."""
    body = MANIFEST_MAGIC + packer()(data)
    _read_manifest(body + hashlib.sha256(body).digest())


def _parities() -> list[bytes]:
    made: list[bytes] = []
    for percent in (2, 12):
        storage = OneFile(_pack())
        parity.write_parity(storage, _NAME, percent)
        made.append(storage.body)
    return made


def _read_parity(data: bytes) -> None:
    body = _pack()
    sha256 = hashlib.sha256(body).digest()
    parity.parity_is_sound(OneFile(data), _NAME, sha256)

    class Both(OneFile):
        def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
            if name == _NAME:
                return OneFile(b"\x00" * 40 + body[40:]).read(name, offset, length)
            return super().read(name, offset, length)

    recovered = parity.recover_pack(Both(data), _NAME, sha256, len(body))
    assert recovered in {None, body}


def _sealed_parity(data: bytes) -> bytes:
    """The hash of the first head made right."""
    start, end = len(parity.MAGIC), len(parity.MAGIC) + _PARITY_HEAD.size
    return data[: end - 32] + hashlib.sha256(data[start : end - 32]).digest() + data[end:]


TARGETS = (
    FuzzTarget(
        name="png",
        seeds=_png_seeds,
        parse=_png,
        seal=_sealed_png,
        words=(b"IHDR", b"IDAT", b"IEND", b"tRNS", b"PLTE", b"acTL", b"iCCP", b"zTXt", _SIGNATURE),
    ),
    FuzzTarget(
        name="pack",
        seeds=lambda: [_pack(), *(path.read_bytes() for path in RELEASED.glob("*.pages"))],
        parse=_read_pack,
        seal=_sealed_pack,
        words=(MAGIC, END, b"\x28\xb5\x2f\xfd"),
    ),
    FuzzTarget(
        name="pack-list",
        seeds=_pack_lists,
        parse=_read_pack_list,
        words=(b'"offset":', b'"length":', b'"at":', b'"size":', b"-1", b"{}", b'"pages":[]'),
    ),
    FuzzTarget(name="page-symbols", seeds=lambda: [encode_pages(_pages()[:2])], parse=_read_symbols),
    FuzzTarget(name="manifest", seeds=_manifests, parse=_read_manifest, seal=_sealed_manifest),
    FuzzTarget(
        name="manifest-facts",
        seeds=lambda: [unpack(body[len(MANIFEST_MAGIC) : -32], limit=2**24) for body in _manifests()],
        parse=_read_manifest_facts,
        words=(b'"pack":', b'"part":', b'"spans":[[', b'"../../x"', b'"entries":[', b"-1"),
    ),
    FuzzTarget(name="parity", seeds=_parities, parse=_read_parity, seal=_sealed_parity),
)
