"""Versions of a note that is edited a thousand times: bytes on disk and time, beside whole copies and zstd copies."""

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path

from foundation.clock import SystemClock
from memory.versions.cause import BY_HAND
from memory.versions.store import VersionStore
from memory.zstd import packer

SIZES = (2_000, 20_000, 100_000)  # bytes of the note
WORDS = (
    *("boiler", "valve", "harbour", "zone", "letter", "Hansen", "锅炉", "阀门", "五月"),
    *("service", "Tuesday", "garden", "ferry", "Naxos", "key", "tin"),
)


def note(dice: random.Random, size: int) -> list[str]:
    lines: list[str] = []
    while sum(map(len, lines)) < size:
        lines.append(f"- {' '.join(dice.choices(WORDS, k=9))} {dice.randint(0, 9999)}\n")
    return lines


def edited(lines: list[str], dice: random.Random) -> list[str]:
    """One line is added, changed or removed, as a person or /remember does."""
    place, new = dice.randrange(len(lines)), f"- {' '.join(dice.choices(WORDS, k=9))} {dice.randint(0, 9999)}\n"
    return [*lines[:place], *([new] if dice.random() < 0.8 else []), *lines[place + dice.randint(0, 1) :]]


def measured(size: int, edits: int) -> dict[str, float]:
    dice, whole, packed = random.Random(size), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        store, lines, spent = VersionStore(Path(folder), SystemClock()), note(dice, size), 0.0
        for _ in range(edits):
            lines = edited(lines, dice)
            body = "".join(lines).encode()
            whole, packed = whole + len(body), packed + len(packer()(body))
            began = time.perf_counter()
            store.record("MEMORY.md", body, BY_HAND)
            spent += time.perf_counter() - began
        stored = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        began = time.perf_counter()
        problems = len(VersionStore(Path(folder), SystemClock()).check())
        checked = time.perf_counter() - began
    return {
        "note_bytes": size,
        "edits": edits,
        "whole_copies_mb": whole / 1e6,
        "zstd_copies_mb": packed / 1e6,
        "stored_mb": stored / 1e6,
        "record_ms": spent / edits * 1000,
        "check_s": checked,
        "problems": problems,
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--edits", type=int, default=1000)
    options = parser.parse_args(arguments)
    rows = [measured(size, options.edits) for size in SIZES]
    if options.json:
        print(json.dumps({"benchmark": "versions", "rows": rows}))
        return 0
    print(f"{'note':>8} {'copies MB':>10} {'zstd MB':>8} {'stored MB':>9} {'ms a version':>12} {'check s':>8} problems")
    for row in rows:
        print(
            f"{row['note_bytes']:>8,} {row['whole_copies_mb']:>10.1f} {row['zstd_copies_mb']:>8.2f} "
            f"{row['stored_mb']:>9.2f} {row['record_ms']:>12.1f} {row['check_s']:>8.2f} {row['problems']:>8}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
