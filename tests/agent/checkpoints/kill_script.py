"""A process that changes files through checkpoints until it is killed: `kill_script FOLDER STATE`.

For each line on stdin (a seed) it forks such a process and says `started PID`, and `ended STATUS` at its end. The
process says `begun` when the journal has a change, and `done` when it is made.
"""

import os
import random
import sys
from pathlib import Path

from agent.checkpoints.change import CheckpointKind, FileChange
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.journal import Begun, JournalLine
from agent.checkpoints.restore import restore
from foundation.clock import SystemClock
from foundation.files import read_bytes

NAMES = ("a.txt", "b.txt", "pkg/c.txt", "pkg/sub/d.txt", "e.txt")
LINES = 2000


def content(name: str, version: int) -> bytes:
    """A version of the file, of which each part can be told from another version."""
    return f"{name} {version}\n".encode() * LINES


def is_whole(name: str, body: bytes) -> bool:
    """Whether it is one version, whole."""
    lines = body.splitlines()
    return len(lines) == LINES and len(set(lines)) == 1 and lines[0].startswith(f"{name} ".encode())


def change_files(folder: Path, state: Path, seed: int) -> None:
    """Edits, undoes, makes again and rewinds, without an end."""
    chance = random.Random(seed)
    checkpoints = Checkpoints(state, SystemClock(), (folder,))
    add = checkpoints.journal.add

    def add_and_say(line: JournalLine) -> None:
        add(line)
        if isinstance(line, Begun):
            say("begun")

    checkpoints.journal.add = add_and_say  # type: ignore[method-assign]  # says when it was added
    turn = 0
    while True:
        turn += 1
        checkpoints.begin_turn("c_1", f"e_{seed}_{turn}")
        history = checkpoints.history("c_1")
        match chance.choice(["edit", "edit", "edit", "undo", "redo", "rewind"]):
            case "undo" if records := history.last_turn():
                restore(checkpoints, records, CheckpointKind.UNDO, (folder,))
            case "redo" if record := history.last_reversal():
                restore(checkpoints, (record,), CheckpointKind.REDO, (folder,))
            case "rewind" if len(edits := history.edits()) > 2:
                restore(checkpoints, edits[-3:], CheckpointKind.REWIND, (folder,))
            case _:
                checkpoints.apply(_changes(folder, chance), f"e_r{seed}_{turn}")
        say("done")


def say(word: str, value: int = 0) -> None:
    """In one system call, so that a kill cannot cut it."""
    os.write(1, f"{word} {value}\n".encode())


def _changes(folder: Path, chance: random.Random) -> list[FileChange]:
    changes: list[FileChange] = []
    for name in chance.sample(NAMES, chance.randint(1, 4)):
        expected = read_bytes(folder / name) if (folder / name).exists() else None
        new = None if expected is not None and chance.random() < 0.3 else content(name, chance.randrange(10**9))
        changes.append(FileChange(folder=folder, path=name, expected=expected, new=new))
    return changes


def main(folder: Path, state: Path) -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                change_files(folder, state, int(line))
            finally:
                os._exit(1)
        say("started", child)
        say("ended", os.waitpid(child, 0)[1])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
