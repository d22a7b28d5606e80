"""Backups of a synthetic workspace: time and bytes of the first, of one after a day's work, and of a restore.

    python -m benchmarks.backup [--entries 10000] [--packs 50] [--json]

Entries are those of `benchmarks.search`; each pack has an archived text of about 20 kB. The place is a folder on the
same disk. The day's work is twenty more turns, a note and one more pack. The system's cache of files is warm.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.pages import text
from benchmarks.search import TURNS, Talk, fill
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from foundation.sizes import format_size
from memory.backup.backup import BackupResult, back_up
from memory.backup.choice import choose_snapshot
from memory.backup.place import LocalPlace
from memory.backup.restore import restore
from memory.backup.verify import check_backup
from memory.memory import Memory
from memory.pages.render.modes import mode_named
from memory.settings import ArchiveSettings


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.backup", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--packs", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        report = {"schema": 1, **measure(Path(folder).resolve(), options.entries, options.packs)}
    print(json.dumps(report) if options.json else table(report))
    return 0


def measure(folder: Path, entries: int, packs: int) -> dict[str, Any]:
    """A row a step: seconds, bytes read of the workspace and written at the place."""
    memory = Memory.open(Workspace(folder / "workspace"))
    place = LocalPlace(folder / "backup")
    try:
        talk = Talk(5)
        fill(memory.cold, talk, entries)
        for n in range(packs):
            archive(memory, n)
        memory.mirrors.renew()
        rows = [saved("first backup", memory, place), saved("nothing changed", memory, place)]
        fill(memory.cold, talk, TURNS // 2)
        archive(memory, packs)
        (memory.workspace.root / "MEMORY.md").write_text("- The boiler is serviced in May.\n")
        rows.append(saved("after a day's work", memory, place))
    finally:
        memory.close()
    rows.append(timed("check of the backup", lambda: check_backup(place).bytes))
    target = folder / "again"
    rows.append(
        timed(
            "restore, read back and checked",
            lambda: restore(place, choose_snapshot(place, None), target, settings=ArchiveSettings()).bytes,
        )
    )
    return {"entries": entries, "packs": packs, "rows": rows}


def archive(memory: Memory, number: int) -> None:
    """One more pack."""
    content = f"{number}\n{text('english', mode_named('base', dense=False), 3)}"
    memory.vault.archive_text(as_given(content), label=f"text {number}")


def saved(step: str, memory: Memory, place: LocalPlace) -> dict[str, Any]:
    began = time.perf_counter()
    result: BackupResult = back_up(memory.workspace, place, SystemClock(), device="benchmark", program="")
    return {
        "step": step,
        "seconds": round(time.perf_counter() - began, 2),
        "bytes": result.snapshot.size,
        "written": result.new_bytes,
        "files": len(result.snapshot.files),
    }


def timed(step: str, work: Callable[[], int]) -> dict[str, Any]:
    began = time.perf_counter()
    size = work()
    return {"step": step, "seconds": round(time.perf_counter() - began, 2), "bytes": size, "written": 0, "files": 0}


def table(report: dict[str, Any]) -> str:
    lines = [
        f"{report['entries']:,} entries, {report['packs']} packs",
        f"{'':32}{'seconds':>9}{'size':>12}{'written':>12}",
    ]
    lines += [
        f"{row['step']:32}{row['seconds']:>9.2f}{format_size(row['bytes']):>12}{format_size(row['written']):>12}"
        for row in report["rows"]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
