"""What packs take on disk beside their text, now and in the format that was written until 0.3.2.

    python -m benchmarks.pack_sizes [locomo-dev.json cmrc-dev.json notes.txt …] [--dense] [--json]

Each path is a corpus (its turns, a line each), a text, or a folder of Python sources (their first megabyte); without
one it is Python's own library. Pages are base pages. The text as one zstd-19 frame is what all others are compared
with. A pack is the whole file, its list of pages too. Packs of version 1 had the PNGs in their frames: of a page in
warm packs, zstd-9 with a shorter search, of 64 pages in cold ones, zstd-19 with a window over all of them. Every
seventh page is read back and compared.
Marks: at rest, with the parity that is kept by default, at most 1.15 times the text's zstd-19 (Chinese: 1.35),
warm at most a third of version 1's.
"""

import argparse
import json
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import zstandard

from benchmarks.corpora.corpus import NotThis
from benchmarks.corpora.read import read_corpus
from benchmarks.pages import table
from memory.archive.packs.pack import Pack, PageImage, write_cold_pack, write_pack
from memory.archive.packs.parity import write_parity
from memory.archive.packs.storage import PAGES_A_FRAME, LocalStorage
from memory.archive.write.page_writer import picture_of
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import Mode, mode_named
from memory.pages.render.page import page_sheets, render_page
from memory.settings import ArchiveSettings
from memory.zstd import cold_packer

MOST = 1_000_000  # characters of sources
PAGES_A_PACK = 256


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.pack_sizes", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, default=[Path(sysconfig.get_path("stdlib"))])
    parser.add_argument("--dense", action="store_true", help="cells of 6×12 pixels")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    mode = mode_named("base", options.dense)
    rows = [measure(path.stem, text_of(path), mode) for path in options.paths]
    print(json.dumps({"schema": 1, "cell": mode.cell.name, "rows": rows}) if options.json else "\n".join(table(rows)))
    return 0


def text_of(path: Path) -> str:
    if path.is_dir() and (sources := sorted(path.glob("*.py"))):
        return "".join(source.read_text("utf-8") for source in sources)[:MOST]
    try:
        stores = read_corpus(path).stores
    except NotThis:
        return path.read_text("utf-8")
    turns = (turn for store in stores for turn in store.turns)
    return "\n".join(f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text for turn in turns)


def measure(name: str, text: str, mode: Mode) -> dict[str, Any]:
    """A row of the table: sizes in kB, and shares of the text's zstd-19 and of version 1's packs."""
    pages = [
        picture_of(render_page(sheet, f"pg_{number:012}", number))
        for number, sheet in enumerate(page_sheets([LayoutText(text)], mode), 1)
    ]
    plain = zstd_19([text.encode("utf-8", "surrogatepass")])
    old_cold = sum(zstd_19([page.png for page in batch]) for batch in batches(pages, PAGES_A_FRAME))
    old_warm = zstd_9_of_version_1(pages)
    cold, parity, warm = packed(pages)
    return {
        "text": name,
        "kB": kb(len(text.encode("utf-8", "surrogatepass"))),
        "pages": len(pages),
        "zstd-19": kb(plain),
        "cold, version 1": kb(old_cold),
        "cold": kb(cold),
        "of zstd-19": round(cold / plain, 2),
        "with parity": kb(cold + parity),
        "that of zstd-19": round((cold + parity) / plain, 2),
        "warm, version 1": kb(old_warm),
        "warm": kb(warm),
        "of version 1": round(warm / old_warm, 2),
    }


def packed(pages: Sequence[PageImage]) -> tuple[int, int, int]:
    """Bytes of the cold packs, of the parity that is kept beside them by default, and of the warm packs."""
    sizes: list[int] = []
    parity: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        storage = LocalStorage(Path(folder))
        for write in (write_cold_pack, write_pack):
            names = [write(storage, f"{n}.pages", batch).name for n, batch in enumerate(batches(pages, PAGES_A_PACK))]
            sizes.append(sum(storage.size(name) for name in names))
            parity.append(sum(write_parity(storage, name, ArchiveSettings().parity) for name in names))
            packs = [Pack(storage, name) for name in names]
            if any(packs[n // PAGES_A_PACK].png(n % PAGES_A_PACK) != pages[n].png for n in range(0, len(pages), 7)):
                raise SystemExit("a page did not come back to the byte")
    return sizes[0], parity[0], sizes[1]


def batches(pages: Sequence[PageImage], most: int) -> list[Sequence[PageImage]]:
    return [pages[start : start + most] for start in range(0, len(pages), most)]


def zstd_19(parts: Sequence[bytes]) -> int:
    pack = cold_packer(sum(map(len, parts)))
    return sum(len(pack.compress(part)) for part in parts) + len(pack.flush())


def zstd_9_of_version_1(pages: Sequence[PageImage]) -> int:
    nine = zstandard.ZstdCompressionParameters.from_level(
        9, source_size=131_500, search_log=4, min_match=5, write_checksum=True
    )
    compressor = zstandard.ZstdCompressor(compression_params=nine)
    return sum(len(compressor.compress(page.png)) for page in pages)


def kb(size: int) -> int:
    return round(size / 1000)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
