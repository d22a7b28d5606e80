"""Sync of two synthetic workspaces through a folder: time and bytes of the first, and of one after some talk.

    python -m benchmarks.sync [--entries 10000] [--notes 1000] [--json]

Entries are those of `benchmarks.search`; notes are short files, all of which are changed before the last two steps.
The folder is on the same disk; the system's cache of files is warm.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.search import TURNS, Talk, fill
from foundation.paths import Workspace
from foundation.sizes import format_size
from memory.backup.place import LocalPlace
from memory.memory import Memory
from memory.sync.place import SYNC
from memory.sync.sync import Sync


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.sync", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--notes", type=int, default=1_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        report = {"schema": 2, **measure(root / "entries", options.entries)}
        report |= {"notes": options.notes, "note_rows": measure_notes(root / "notes", options.notes)}
    print(json.dumps(report) if options.json else table(report))
    return 0


def measure(folder: Path, entries: int) -> dict[str, Any]:
    """A row a step: seconds of the processor, entries that were taken, bytes that were written."""
    with two_devices(folder) as (place, desk, here, there):
        talk = Talk(5)
        fill(desk.cold, talk, entries)
        rows = [ran("first, writing", here, place), ran("first, reading", there, place)]
        rows.append(ran("nothing new", here, place))
        fill(desk.cold, talk, TURNS // 2)
        rows += [ran("after some talk, writing", here, place), ran("after some talk, reading", there, place)]
    return {"entries": entries, "rows": rows}


@contextmanager
def two_devices(folder: Path) -> Generator[tuple[LocalPlace, Memory, Sync, Sync]]:
    """The place that they share, the memory of the first, and the sync of both."""
    folder.mkdir()
    place = LocalPlace(folder / "shared", SYNC)
    place.make()
    desk, laptop = (Memory.open(Workspace(folder / name)) for name in ("desk", "laptop"))
    try:
        here, there = Sync(desk, None), Sync(laptop, None)
        here.begin("desk")
        there.begin("laptop")
        yield place, desk, here, there
    finally:
        desk.close()
        laptop.close()


def measure_notes(folder: Path, notes: int) -> list[dict[str, Any]]:
    """The rows of `measure` for that many note files."""
    with two_devices(folder) as (place, desk, here, there):
        files = desk.workspace.memory_dir
        files.mkdir(exist_ok=True)
        rows: list[dict[str, Any]] = []
        for step in ("first", "all changed"):
            for number in range(notes):
                (files / f"n{number}.md").write_text(f"# Note {number}\n\n- fact {number}\n- {step} {number * 7}\n")
            rows += [ran(f"{step}, writing", here, place), ran(f"{step}, reading", there, place)]
    return rows


def ran(step: str, sync: Sync, place: LocalPlace) -> dict[str, Any]:
    began = time.process_time()
    result = sync.run(place)
    seconds = round(time.process_time() - began, 3)
    return {
        "step": step,
        "seconds": seconds,
        "taken": result.taken.entries + result.taken.notes,
        "written": result.bytes_written,
    }


def table(report: dict[str, Any]) -> str:
    entries, notes = report["rows"], report["note_rows"]
    return f"{report['entries']:,} entries\n{_rows(entries)}\n\n{report['notes']:,} notes\n{_rows(notes)}"


def _rows(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'':28}{'seconds':>9}{'taken':>9}{'written':>12}"]
    lines += [
        f"{row['step']:28}{row['seconds']:>9.3f}{row['taken']:>9,}{format_size(row['written']):>12}" for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
