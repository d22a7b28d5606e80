"""Sync of two synthetic workspaces through a folder: time and bytes of the first, and of one after some talk.

    python -m benchmarks.sync [--entries 10000] [--json]

Entries are those of `benchmarks.search`. The folder is on the same disk; the system's cache of files is warm.
"""

import argparse
import json
import sys
import tempfile
import time
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
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        report = {"schema": 1, **measure(Path(folder).resolve(), options.entries)}
    print(json.dumps(report) if options.json else table(report))
    return 0


def measure(folder: Path, entries: int) -> dict[str, Any]:
    """A row a step: seconds of the processor, entries that were taken, bytes that were written."""
    place = LocalPlace(folder / "shared", SYNC)
    place.make()
    desk, laptop = (Memory.open(Workspace(folder / name)) for name in ("desk", "laptop"))
    try:
        here, there = Sync(desk, None), Sync(laptop, None)
        here.begin("desk")
        there.begin("laptop")
        talk = Talk(5)
        fill(desk.cold, talk, entries)
        rows = [ran("first, writing", here, place), ran("first, reading", there, place)]
        rows.append(ran("nothing new", here, place))
        fill(desk.cold, talk, TURNS // 2)
        rows += [ran("after some talk, writing", here, place), ran("after some talk, reading", there, place)]
    finally:
        desk.close()
        laptop.close()
    return {"entries": entries, "rows": rows}


def ran(step: str, sync: Sync, place: LocalPlace) -> dict[str, Any]:
    began = time.process_time()
    result = sync.run(place)
    seconds = round(time.process_time() - began, 3)
    return {"step": step, "seconds": seconds, "taken": result.taken.entries, "written": result.bytes_written}


def table(report: dict[str, Any]) -> str:
    lines = [f"{report['entries']:,} entries", f"{'':28}{'seconds':>9}{'taken':>9}{'written':>12}"]
    lines += [
        f"{row['step']:28}{row['seconds']:>9.3f}{row['taken']:>9,}{format_size(row['written']):>12}"
        for row in report["rows"]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
