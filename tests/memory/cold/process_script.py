"""Run as a process of its own: `write PATH NAME COUNT`, `answer PATH`, `fill PATH BALLAST` or `reopen PATH`."""

import contextlib
import os
import sys
import time
from pathlib import Path

from foundation.privacy import Cleared
from memory.cold import ColdStore, connection
from memory.errors import StoreBusy, StoreFull
from tests.memory.cold.drafts import answered, open_store, said


def write(path: Path, name: str, count: str, mode: str = "") -> None:
    """So many entries in a conversation of its own and in one that is shared; says how many were acknowledged.

    With `careless` as its mode it waits for no other writer, and takes a refusal for an acknowledgement.
    """
    cold = open_store(path)
    own, shared = cold.new_conversation(id=name), cold.conversation("shared")
    if mode:
        cold.close()
        cold = opened_without_patience(path)
    refusals = StoreBusy if mode else ()
    acknowledged = 0
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(int(count)):
        for draft in (said(own.seq, "mine", id=f"{number}"), said(shared.seq, "ours", id=f"{name}-{number}")):
            with contextlib.suppress(refusals):
                cold.append(draft)
            acknowledged += 1
    cold.close()
    print(acknowledged, flush=True)


def opened_without_patience(path: Path) -> ColdStore:
    """A store that waits for no other writer. To open it is refused, too, while another one opens it."""
    connection.BUSY_MS = 0
    while True:
        with contextlib.suppress(StoreBusy):
            return open_store(path)


def answer(path: Path) -> None:
    """An answer that is on its way until this process is killed."""
    cold = open_store(path)
    begun = cold.begin_answer(answered(cold.new_conversation().seq, "", id="e_underway"))
    begun.write(Cleared("So far "))
    print("begun", flush=True)
    sys.stdin.readline()
    os._exit(9)


def fill(path: Path, ballast: str) -> None:
    """Writes until the disk is full, makes room, and goes on."""
    cold = open_store(path)
    conversation = cold.new_conversation()
    under_way = cold.begin_answer(answered(conversation.seq, ""))
    written = 1
    try:
        while written < 10_000:
            cold.append(said(conversation.seq, os.urandom(3000).hex(), id=f"{written}"))
            written += 1
    except StoreFull as error:
        print(f"full after {written}: {error.message}", flush=True)
    assert cold.statistics().entries == written
    under_way.write(Cleared(os.urandom(30_000).hex()))
    while under_way.failure is None:
        time.sleep(0.005)
    Path(ballast).unlink()
    assert under_way.abandon().chars == 60_000
    cold.append(said(conversation.seq, "room again", id="after"))
    assert [change.entry for change in cold.changes(0, 100_000)] == [*range(1, written + 1), 1, written + 1]
    problems = cold.check()
    cold.close()
    print("problems", len(problems), flush=True)


def reopen(path: Path) -> None:
    """Opens the store on a disk without any room, then with some."""
    cold = open_store(path)
    conversation = cold.new_conversation()
    cold.append(said(conversation.seq, "one"))
    cold.close()
    with (path.parent / "everything").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass
    try:
        open_store(path)
    except StoreFull as error:
        print(error.message)
    (path.parent / "everything").unlink()
    cold = open_store(path)
    cold.append(said(conversation.seq, "two"))
    print("problems", len(cold.check()))
    cold.close()


if __name__ == "__main__":
    {"write": write, "answer": answer, "fill": fill, "reopen": reopen}[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
