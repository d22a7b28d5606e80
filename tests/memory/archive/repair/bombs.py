"""Opens what lies about its size: `python bombs.py FOLDER`. Prints a line a bomb, then the peak of its own memory.

A line: the bomb's name, `refused` or `opened`, seconds of the processor, the peak so far in megabytes.
"""

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from memory.archive import read_png
from memory.archive.packs.manifest import read_manifest
from memory.archive.packs.pack import Pack
from memory.archive.packs.parity import parity_is_sound, recover_pack
from memory.archive.packs.storage import LocalStorage
from memory.archive.repair.salvage import salvaged_pages
from memory.errors import MemoryFailure
from memory.pages.font.glyphs import load_glyphs
from memory.zstd import unpack

HASH = bytes(32)


def openers(storage: LocalStorage, name: str) -> list[Callable[[], object]]:
    """All that the program does with such a file; each is to refuse it, or to find nothing in it."""

    def pages() -> object:
        pack = Pack(storage, name)
        return [pack.png(position) for position in range(len(pack.pages))]

    match Path(name).suffix:
        case ".pages":
            return [pages, lambda: list(salvaged_pages(storage.read(name)))]
        case ".manifest":
            return [lambda: read_manifest(storage, name)]
        case ".parity":
            pack = name.replace(".parity", ".pages")
            return [lambda: parity_is_sound(storage, pack, HASH), lambda: recover_pack(storage, pack, HASH, 1000)]
        case ".zst":
            return [lambda: unpack(storage.read(name), limit=2**20)]
        case _:
            return [lambda: read_png(storage.folder / name)]


def main() -> None:
    storage = LocalStorage(Path(sys.argv[1]))
    load_glyphs()
    for name in sorted(path.name for path in storage.folder.iterdir()):
        for opener in openers(storage, name):
            began = time.process_time()
            try:
                said = "opened" if opener() else "refused"
            except MemoryFailure:
                said = "refused"
            print(name, said, round(time.process_time() - began, 3), peak())
    print("peak", peak())


def peak() -> int:
    """Megabytes."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage tells on Linux may be the peak of the process that started this one
        (kilobytes,) = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(kilobytes) // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 2**20


main()
