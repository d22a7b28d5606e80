"""Fails writers of every kind at every call: `python -m tests.trust.fail_writes FOLDER ERROR EVERY [KIND …]`.

A fork of this process opens the kind, writes 0 and 1, and then 2 with ERROR (ENOSPC, EIO) at one call, then 3 without.
Another one opens what is left and compares. EVERY: each so many-th call is failed. With the word
`careless` the writer swallows the failure and acknowledges: the fault that the comparison must see. Prints, by kind,
how many calls failed, at which of them the write was acknowledged all the same, and what was wrong: an acknowledged
write that is not there, an earlier one that is lost, a later one that cannot be made, an error that is no sentence.
"""

import errno
import json
import os
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Struct, field

from foundation.errors import PalimpsestError
from memory.pages.font.glyphs import load_glyphs
from tests.faults import Fuse
from tests.trust.kill_writes import forked, look, told
from tests.trust.writes import KINDS, lost


class Failures(Struct):
    """What the failures of one kind came to."""

    failed: int = 0
    acknowledged: dict[str, int] = field(default_factory=dict[str, int])
    wrong: list[str] = field(default_factory=list[str])


def attempt(kind: str, folder: Path, at: int, error: int) -> list[str]:
    """Lines: the numbers that were acknowledged, `burnt` where the call was reached, `! …` for what is wrong."""

    def work(pipe: int) -> None:
        real_write = os.write
        lines: list[str] = []
        with closing(KINDS[kind](folder)) as writes:
            for number in (0, 1):
                writes.write(number)
                lines.append(str(number))
            fuse = Fuse(at, error=error)
            fuse.lay()
            try:
                reopened = KINDS[kind](folder)
                with closing(reopened):
                    reopened.write(2)
                    lines.append("2")
            except (PalimpsestError, OSError) as refusal:
                lines.append("2" if "careless" in sys.argv else f"refused {type(refusal).__name__}: {refusal}")
            fuse.lift()
            if fuse.burnt:
                lines.append(f"burnt {fuse.what}")
            if not writes.keeps_all:  # the next write would hide it
                lines += [f"! {line}" for line in lost(kind, folder, [int(line) for line in lines if line.isdigit()])]
            try:
                writes.write(3)
                lines.append("3")
            except Exception as later:
                lines.append(f"! a later write fails: {type(later).__name__}: {later}")
        real_write(pipe, "".join(f"{' '.join(line.split())}\n" for line in lines).encode())

    child, reading = forked(work)
    pending, lines = bytearray(), list[str]()
    while (new := told(reading, pending)) or pending:
        lines += new
    os.close(reading)
    os.waitpid(child, 0)
    return lines


def fail_all(kind: str, error: int, every: int) -> Failures:
    found, at = Failures(), 1
    while True:
        with TemporaryDirectory() as name:
            folder = Path(name)
            lines = attempt(kind, folder, at, error)
            acknowledged = [int(line) for line in lines if line.isdigit()]
            where = f"{kind}, call {at}: "
            found.wrong += [where + line for line in lines if line.startswith("!")]
            found.wrong += [where + line for line in look(kind, folder, acknowledged)]
            what = next((line.partition(" ")[2] for line in lines if line.startswith("burnt")), None)
            if what is None and not any(line.startswith("!") for line in lines):
                return found
            found.failed += 1
            if "2" in lines and what is not None:
                found.acknowledged[what] = found.acknowledged.get(what, 0) + 1
            at += every


def main() -> None:
    os.environ["PALIMPSEST_CONFIG_DIR"] = f"{sys.argv[1]}/user-config"
    error, every = getattr(errno, sys.argv[2]), int(sys.argv[3])
    load_glyphs()
    kinds = [word for word in sys.argv[4:] if word != "careless"] or list(KINDS)
    outcomes = {kind: fail_all(kind, error, every) for kind in kinds}
    print(json.dumps(json.loads(msgspec.json.encode(outcomes))))


if __name__ == "__main__":
    main()
