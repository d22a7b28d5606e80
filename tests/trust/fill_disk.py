"""Fills a small disk below writers of every kind: `python -m tests.trust.fill_disk DISK KIND …`.

Each kind writes, then all room but a few kilobytes is taken, until a write is refused; the room is given back, and it
writes once more. Prints, by kind, how many writes were acknowledged, whether one was refused and one made afterwards,
and what was lost.
"""

import json
import os
import shutil
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from foundation.errors import PalimpsestError
from memory.pages.font.glyphs import load_glyphs
from tests.trust.kill_writes import forked, look, told
from tests.trust.writes import KINDS

ROOM = 24 * 1024
MOST = 400


def take_room(disk: Path, left: int) -> Path:
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    with ballast.open("rb+") as file:
        file.truncate(max(0, ballast.stat().st_size - left))
    return ballast


def filled(kind: str, disk: Path) -> dict[str, Any]:
    folder = disk / kind.replace(" ", "-")
    folder.mkdir()

    def work(pipe: int) -> None:
        refused = 0
        with closing(KINDS[kind](folder)) as writes:
            number = 0
            while number < 2:
                writes.write(number)
                os.write(pipe, f"{number}\n".encode())
                number += 1
            for room in (ROOM, 4096, 0):
                ballast = take_room(disk, room)
                try:
                    while number < MOST:
                        writes.write(number)
                        os.write(pipe, f"{number}\n".encode())
                        number += 1
                        if number % 20 == 0 and room:
                            break
                except (PalimpsestError, OSError):
                    refused += 1
                ballast.unlink()
                number += 1
            writes.write(number)
            os.write(pipe, f"{number}\nafter\n".encode())
        os.write(pipe, f"refused {refused}\n".encode())

    child, reading = forked(work)
    pending, lines = bytearray(), list[str]()
    while (new := told(reading, pending)) or pending:
        lines += new
    os.close(reading)
    os.waitpid(child, 0)
    acknowledged = [int(line) for line in lines if line.isdigit()]
    wrong = [line for line in lines if line.startswith("!")] + look(kind, folder, acknowledged)
    return {
        "acknowledged": len(acknowledged),
        "refused": any(line.startswith("refused") and line != "refused 0" for line in lines),
        "after": "after" in lines,
        "wrong": wrong,
    }


def main() -> None:
    disk = Path(sys.argv[1])
    os.environ["PALIMPSEST_CONFIG_DIR"] = str(disk / "user-config")
    load_glyphs()
    outcomes: dict[str, Any] = {}
    for kind in sys.argv[2:]:
        outcomes[kind] = filled(kind, disk)
        shutil.rmtree(disk / kind.replace(" ", "-"))
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main()
