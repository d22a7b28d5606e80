"""Kills syncs at every operation at the location, then at random moments: `python kill_sync.py FOLDER KILLS SEED`.

Each is a fork of this process: it says something, then syncs. What it said before it was killed must be on both devices
in the end. Prints how many were killed, and how many entries were acknowledged.
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from foundation.errors import PalimpsestError
from memory.backup.place import LocalPlace
from memory.sync.place import SYNC
from tests.memory.sync.devices import Laptop, state_of


class FusedPlace(LocalPlace):
    """Ends the process by SIGKILL before its operation number `fuse`, or after it."""

    def __init__(self, folder: Path, fuse: int) -> None:
        super().__init__(folder, SYNC)
        self._fuse = fuse

    def write(self, name: str, data: bytes, *, sync: bool = False) -> None:
        self._burn()
        super().write(name, data, sync=sync)
        self._burn()

    def read(self, name: str) -> bytes:
        self._burn()
        return super().read(name)

    def delete(self, name: str) -> None:
        self._burn()
        super().delete(name)

    def _burn(self) -> None:
        self._fuse -= 1
        if self._fuse == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def was_killed(work: Callable[[], object], after: float = 0) -> bool:
    """Runs the work in a fork, which is killed after so many seconds; False where it had ended by then."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    if after:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    ended = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(ended) or os.WEXITSTATUS(ended) == 0, "it failed"
    return os.WIFSIGNALED(ended)


def main(folder: Path, kills: int, seed: int) -> None:
    chance, landed = random.Random(seed), {"at an operation": 0, "at a moment": 0}
    place, said = folder / "shared", folder / "said"

    def say_and_sync(name: str, number: int, fuse: int) -> None:
        device = Laptop(folder / name / "ws", name, skew_s=number)
        known = device.memory.conversations.recent(limit=3)
        conversation = known[number % len(known)] if known else device.talk()
        for _ in range(3):
            entry = device.say(conversation, f"Words {number} " * 9)
            with said.open("a") as file:
                file.write(f"{entry.id}\n")
        (device.workspace.root / "MEMORY.md").write_text(f"- {name} {number}\n")
        device.run(FusedPlace(place, fuse))
        device.close()

    for number in range(kills):
        name = ("desk", "laptop")[number % 2]
        work = partial(say_and_sync, name, number, chance.randrange(1, 9))
        landed["at an operation"] += was_killed(work)
    for number in range(kills, 2 * kills):
        name = ("desk", "laptop")[number % 2]
        after = chance.uniform(0.01, 0.12)
        landed["at a moment"] += was_killed(partial(say_and_sync, name, number, 0), after)

    def look() -> None:
        devices = [Laptop(folder / name / "ws", name, skew_s=10_000) for name in ("desk", "laptop")]
        for _ in range(3):
            for device in devices:
                device.run(place)
        states = [state_of(device) for device in devices]
        assert states[0] == states[1], "they differ"
        ids = {entry[2] for entry in states[0]["entries"]}
        assert set(said.read_text().split()) <= ids, "something that was said is lost"
        assert not list(place.glob(".*.tmp")), "a part of a file was left"
        for device in devices:
            assert device.memory.cold.check() == []
            device.close()

    assert not was_killed(look)
    print(json.dumps({**landed, "said": len(said.read_text().split())}))


def both(folder: Path, times: int) -> None:
    """Two processes of one workspace, which say and sync at once; then what they said is on another device."""
    place, said = folder / "shared", folder / "said"
    Laptop(folder / "desk" / "ws", "desk").close()

    def talk(number: int) -> None:
        device = Laptop(folder / "desk" / "ws", "desk", skew_s=number)
        conversation = device.talk(title=f"Talk {number}")
        for turn in range(times):
            entry = device.say(conversation, f"Words {number} {turn}")
            with said.open("a") as file:
                file.write(f"{entry.id}\n")
            try:
                device.run(place)
            except PalimpsestError as error:
                assert "running" in error.title, error
        device.close()

    children = [os.fork() or _run(lambda number=number: talk(number)) for number in range(2)]
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)

    def look() -> None:
        desk, other = (Laptop(folder / name / "ws", name, skew_s=1000) for name in ("desk", "other"))
        for device in (desk, other):
            device.run(place)
        assert set(said.read_text().split()) == {entry[2] for entry in state_of(other)["entries"]}
        for device in (desk, other):
            device.close()

    assert not was_killed(look)


def _run(work: Callable[[], object]) -> int:
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


if __name__ == "__main__":
    if sys.argv[1] == "both":
        both(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
