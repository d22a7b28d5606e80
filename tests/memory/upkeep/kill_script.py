"""Archives what nobody touched and takes it back, over and over: `python -m … FOLDER`. Prints a line for each."""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from foundation.paths import Workspace
from memory.memory import Memory
from memory.settings import RetentionSettings
from memory.upkeep.proposal import clean, proposal
from memory.upkeep.retention import undo, undoable


def work(folder: Path) -> None:
    memory = Memory.open(Workspace(folder), read_only=False)
    memory.recover()
    while True:
        if undoable(memory) is not None:
            undo(memory)
            print("undone", flush=True)
        clean(memory, proposal(memory, RetentionSettings(), datetime.now(UTC) + timedelta(days=40)), lambda _: None)
        print("archived", flush=True)


if __name__ == "__main__":
    work(Path(sys.argv[1]))
