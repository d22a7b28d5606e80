"""A process that adds folders to a workspace: `python -m tests.memory.knowledge.adder WORKSPACE PATH…`."""

import sys
from pathlib import Path

from foundation.paths import Workspace
from memory.knowledge import ocr
from memory.memory import Memory


def main() -> None:
    ocr.installed_ocr_reader = lambda *_: None
    memory = Memory.open(Workspace(Path(sys.argv[1])))
    report = memory.knowledge.add(
        [Path(word) for word in sys.argv[2:]], on_progress=lambda progress: print(progress.done, flush=True)
    )
    print("added", len(report.added), "unchanged", report.unchanged, "bad", len(report.bad), flush=True)
    memory.close()


if __name__ == "__main__":
    main()
