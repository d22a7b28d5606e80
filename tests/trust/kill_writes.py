"""Kills writers of every kind again and again: `python -m tests.trust.kill_writes FOLDER KILLS SEED [early]`.

Each writer is a fork of this process. Half are killed at a random moment, half at a call to the system, before it is
made or after. After each kill another fork opens the folder and compares. Prints, by kind, how many kills landed, how
many writes were acknowledged, and what was lost. With `early` a writer acknowledges before it writes: the fault that
the comparison must see.
"""

import json
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy  # noqa: F401 -- loaded once, before the forks
import yaml  # noqa: F401
import zstandard  # noqa: F401
from msgspec import Struct, field
from msgspec import json as to_json

from memory.archive.repair import check  # noqa: F401
from memory.knowledge.ingest import add  # noqa: F401
from memory.pages.font.glyphs import load_glyphs
from memory.search import query_executor  # noqa: F401
from tests.faults import Fuse
from tests.trust.writes import KINDS, lost

KILLS_A_FOLDER = 8
MOST_WRITES = 40


class Outcome(Struct):
    """What the kills of one kind came to."""

    landed: int = 0
    at_a_call: int = 0
    acknowledged: int = 0
    lost: list[str] = field(default_factory=list[str])


def forked(work: Callable[[int], None]) -> tuple[int, int]:
    """The child's id, and the end of a pipe that it writes to."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    status = 1
    try:
        os.close(reading)
        work(writing)
        status = 0
    except BaseException as error:
        os.write(writing, f"! {type(error).__name__}: {error}\n".encode()[:900])
    finally:
        os._exit(status)


def told(reading: int, pending: bytearray) -> list[str]:
    """The lines that are there; none and an empty `pending` at the end."""
    piece = os.read(reading, 65_536)
    *lines, rest = (bytes(pending) + piece).split(b"\n")
    pending[:] = rest
    return [line.decode() for line in lines]


def write_on(kind: str, folder: Path, start: int, fuse: Fuse | None, *, early: bool) -> Callable[[int], None]:
    def work(pipe: int) -> None:
        if fuse:
            fuse.lay()
        writes = KINDS[kind](folder)
        for number in range(start, start + MOST_WRITES):
            if early:
                real_write(pipe, f"{number}\n".encode())
                time.sleep(0.01)
            writes.write(number)
            if not early:
                real_write(pipe, f"{number}\n".encode())

    return work


real_write = os.write


def killed(
    kind: str, folder: Path, start: int, at: int, chance: random.Random, *, early: bool
) -> tuple[int, list[int]]:
    """Runs a writer and kills it, at that call where `at` is not 0; its exit status, and what it acknowledged."""
    fuse = Fuse(at, after=chance.random() < 0.5) if at else None
    child, reading = forked(write_on(kind, folder, start, fuse, early=early))
    acknowledged, pending = list[int](), bytearray()
    wanted, delay = chance.randrange(4), chance.uniform(0, 0.02)
    while True:
        if not at and len(acknowledged) >= wanted and not select.select([reading], [], [], delay)[0]:
            os.kill(child, signal.SIGKILL)
        lines = told(reading, pending)
        acknowledged += [int(line) for line in lines if not line.startswith("!")]
        if errors := [line for line in lines if line.startswith("!")]:
            raise AssertionError(f"{kind}: the writer failed: {errors}")
        if not lines and not pending:
            break
        if not at and len(acknowledged) > wanted:
            delay = 0
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
    os.close(reading)
    return os.waitpid(child, 0)[1], acknowledged


def look(kind: str, folder: Path, acknowledged: list[int]) -> list[str]:
    """`lost`, in a process of its own."""

    def work(pipe: int) -> None:
        for line in lost(kind, folder, acknowledged):
            os.write(pipe, f"{line[:400]}\n".replace("\n", " ").encode() + b"\n")

    child, reading = forked(work)
    pending, found = bytearray(), list[str]()
    while (lines := told(reading, pending)) or pending:
        found += lines
    os.close(reading)
    os.waitpid(child, 0)
    return found


def calls_of(kind: str) -> int:
    """How many calls an opening and four writes make."""

    def work(pipe: int) -> None:
        with TemporaryDirectory() as folder:
            fuse = Fuse(0)
            fuse.lay()
            with closing(KINDS[kind](Path(folder))) as writes:
                for number in range(4):
                    writes.write(number)
            real_write(pipe, f"{fuse.count}\n".encode())

    child, reading = forked(work)
    pending, lines = bytearray(), list[str]()
    while not lines:
        lines = told(reading, pending)
    os.close(reading)
    os.waitpid(child, 0)
    return int(lines[0])


def kill_all(kind: str, folder: Path, kills: int, chance: random.Random, *, early: bool) -> Outcome:
    outcome, calls = Outcome(), calls_of(kind)
    acknowledged, state, start = list[int](), folder, 0
    for number in range(kills):
        if number % KILLS_A_FOLDER == 0:
            state = folder / f"{kind.replace(' ', '-')}-{number}"
            state.mkdir(parents=True)
            acknowledged, start = [], 0
        at = chance.randrange(1, calls + 1) if chance.random() < 0.5 else 0
        status, new = killed(kind, state, start, at, chance, early=early)
        landed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        outcome.landed += landed
        outcome.at_a_call += landed and bool(at)
        outcome.acknowledged += len(new)
        acknowledged += new
        outcome.lost += look(kind, state, acknowledged)
        start = (new[-1] + 1 if new else start) + 1  # that on its way may be there or not
    return outcome


def main() -> None:
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    chance, early = random.Random(seed), "early" in sys.argv
    os.environ["PALIMPSEST_CONFIG_DIR"] = str(folder / "user-config")
    load_glyphs()
    kinds = [kind for kind in KINDS if not early or kind in {"entries", "versions", "drafts"}]
    shares = {kind: kills // len(kinds) + (number < kills % len(kinds)) for number, kind in enumerate(kinds)}
    outcomes = {kind: kill_all(kind, folder, share, chance, early=early) for kind, share in shares.items()}
    print(json.dumps(json.loads(to_json.encode(outcomes))))


if __name__ == "__main__":
    main()
