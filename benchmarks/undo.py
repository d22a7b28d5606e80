"""What securing the project's files costs a command (docs/reference/checkpoints.md).

    python -m benchmarks.undo [--files 50000] [--json]

Makes a project of small files, and runs commands that change nothing and that change one file. `added` is what the
command waits for, before and after it; what it changed is recorded in a thread while the model answers. The smallest of
ten is given, as wall time and as time of the processor, which other work on the machine does not lengthen.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.snapshot import FileCoverage
from foundation.clock import SystemClock

FILES_PER_FOLDER = 12
ROUNDS = 10


def make_project(folder: Path, files: int) -> None:
    """Files of 0.3 to 12 kB, twelve to a folder."""
    for number in range(files):
        place = folder / f"package{number // 2400}" / f"module{number // FILES_PER_FOLDER % 200}" / f"file{number}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("".join(f"value_{number}_{line} = {line * number}\n" for line in range(10 + number * 7 % 400)))


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of wall time, and of the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def figures(files: int) -> dict[str, float]:
    """In milliseconds, and in megabytes."""
    with tempfile.TemporaryDirectory() as top:
        folder, state = Path(top).resolve() / "project", Path(top).resolve() / "state"
        make_project(folder, files)
        coverage = FileCoverage(
            folders=lambda: (folder,),
            left_out=lambda name: name == ".palimpsest",
            always=lambda _name: False,
            is_history=lambda name: name == ".git",
        )
        checkpoints = Checkpoints(state, SystemClock(), (folder,), coverage=coverage)
        checkpoints.begin_turn("c_1", "e_1")
        time.sleep(0.1)  # so that no file is as young as the grain of the clock

        def command() -> None:
            checkpoints.after_command(checkpoints.before_command("e_2", seconds=60))

        def ended(number: int) -> None:
            running = checkpoints.before_command("e_2", seconds=60)
            (folder / "package0" / "module0" / "file0.py").write_text(f"{number}\n")
            checkpoints.after_command(running)
            checkpoints.commands.settle()

        first = measured(command)
        checkpoints.commands.settle()
        added: list[tuple[float, float]] = []
        for _ in range(ROUNDS):
            added.append(measured(command))
            checkpoints.commands.settle()
        whole = [measured(lambda number=number: ended(number)) for number in range(ROUNDS)]
        checkpoints.close()
        size = sum(path.stat().st_size for path in (state / "secured").rglob("*") if path.is_file())
    return {
        "files": files,
        "first_ms": round(first[0] * 1000),
        "first_processor_ms": round(first[1] * 1000),
        "added_ms": round(min(wall for wall, _ in added) * 1000),
        "added_processor_ms": round(min(processor for _, processor in added) * 1000),
        "with_recording_processor_ms": round(min(processor for _, processor in whole) * 1000),
        "stored_mb": round(size / 1e6, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = figures(given.files)
    print(json.dumps(found) if given.json else "\n".join(f"{name:>28}  {value:,}" for name, value in found.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
