"""Kills an archive's keeper again and again: `python kill_archiver.py FOLDER KILLS SEED`; prints what became of it.

Each keeper is a fork of this process. It says things, archives them, archives files, tags, repacks, deletes and
repairs, and writes a line for all that it was told is done. Half are killed at a random moment, half when they ask the
system for something. After each kill another fork opens the store and compares what it finds with the lines.
"""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy  # noqa: F401 -- loaded once, before the forks
import zstandard  # noqa: F401

from foundation.clock import SystemClock
from foundation.privacy import as_given
from foundation.text.analysis import Analyser
from memory.archive.repair import adopt, check  # noqa: F401
from memory.archive.repair.quarantine import Quarantine
from memory.archive.repair.repair import repair
from memory.archive.repair.salvage import salvaged_pages
from memory.archive.rows import pack_gc
from memory.archive.vault import Vault
from memory.cold import ColdStore, deletions
from memory.cold.sql import fetch
from memory.errors import NotFound
from memory.pages.font.glyphs import load_glyphs
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.faults import Fuse

SHARED = ["The valve by the stairs drips when the boiler has run for an hour, and the pan is to be emptied. " * 4] * 3


def words(name: str) -> str:
    """The text of an entry or a file, by its name alone: what was lost can be told without having been kept."""
    chance = random.Random(name)
    lines = [f"{name} says {chance.randrange(10**9)} of the {chance.choice('abcdefgh')} room.\n" for _ in range(40)]
    return "".join([*lines, chance.choice(SHARED), "\n", *lines[: chance.randrange(9)]])


class Told:
    """Lines of what was done, on disk before the next thing begins."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def tell(self, what: str, *names: str) -> None:
        real_write(self._handle, json.dumps([what, *names]).encode() + b"\n")


real_write = os.write


def opened(state: Path, vfs: str | None) -> tuple[ColdStore, Vault]:
    cold = ColdStore.open(state / "cold.db", analyse=Analyser(state / "entities.yaml"), clock=SystemClock(), vfs=vfs)
    return cold, Vault(state / "packs", state / "pages", cold, SystemClock())


def keep(state: Path, told: Told, seed: int, vfs: str | None) -> None:
    """Works without end."""
    chance = random.Random(seed)
    cold, vault = opened(state, vfs)
    for turn in range(1000):
        name = f"c{seed}x{turn}"
        conversation = cold.new_conversation(as_given(name), id=name)
        said = []
        for n in range(chance.randrange(2, 5)):
            id_ = f"{name}e{n}"
            draft = EntryDraft(
                conversation=conversation.seq,
                parent=said[-1].seq if said else None,
                kind=EntryKind.MESSAGE,
                role=Role.USER,
                speaker="Ann",
                id=id_,
                text=as_given(words(id_)),
            )
            said.append(cold.append(draft))
            told.tell("said", id_)
        archive = vault.archive_entries(said, label=name, mode="tiny")
        told.tell("archived", *(entry.id for entry in said))
        match chance.randrange(5):
            case 0:
                vault.archive_text(as_given(words(f"f{name}")), label=f"f{name}", mode="tiny")
                told.tell("file", f"f{name}")
            case 1:
                vault.repacking.run(min_age=timedelta(0), least=1, seconds=0.5)
                told.tell("repacked")
            case 2 if archive.seq:
                vault.tag(archive.seq, as_given("kept"))
                told.tell("tagged", name)
            case 3:
                told.tell("deleting", *(entry.id for entry in said))
                vault.delete_conversation(conversation.seq)
                told.tell("deleted", *(entry.id for entry in said))
            case _:
                mend(state, cold, vault)
                told.tell("repaired")


def mend(state: Path, cold: ColdStore, vault: Vault) -> list[str]:
    now = cold.clock.now()
    vault.finish_deletions()
    found = repair(cold, vault.storage, Quarantine(state / "damaged", now), now, release=vault.release)
    return [f"{one.what} {one.where}: {one.message}" for one in found.problems]


def wrong(state: Path, told: list[list[str]], last: int) -> Iterator[str]:
    """What is lost, doubled or false of what the last lines tell."""
    cold, vault = opened(state, None)
    going = {name for what, *names in told if what in ("deleting", "deleted") for name in names}
    gone = {name for what, *names in told if what == "deleted" for name in names}
    for what, *names in told[-last:]:
        if what == "file":
            rows = [row for row in vault.archives() if row.label == names[0]]
            text = "".join(vault.read_page(page.id).text for row in rows for page in vault.pages(row.seq))
            if text != words(names[0]):
                yield f"file {names[0]}: {len(rows)} times, another text"
        for name in names if what in ("said", "archived") else ():
            if name in gone:
                if cold.read(lambda db, name=name: fetch(db, "SELECT 1 FROM entries WHERE id = ?", (name,))):
                    yield f"{name}: deleted, and there again"
                continue
            try:
                passage = vault.entry_text(cold.find(name))
            except NotFound:
                if name not in going:
                    yield f"{name}: lost"
                continue
            if (passage.text, passage.trust.value) != (words(name), "exact"):
                yield f"{name}: {passage.trust.value}, {hashlib.sha256(passage.text.encode()).hexdigest()[:8]}"
    yield from half_deleted(cold, vault, told)
    twice = "SELECT id, count(*) FROM entries GROUP BY id HAVING count(*) > 1"
    yield from (f"{id_}: {count} times" for id_, count in cold.read(lambda db: fetch(db, twice)))
    yield from (f"{one.where}: {one.message}" for one in cold.check())
    cold.close()


def half_deleted(cold: ColdStore, vault: Vault, told: list[list[str]]) -> Iterator[str]:
    """Whoever opens the store to write finishes what was cut short: then all of a conversation is there, or no word."""
    begun = cold.read(deletions.unfinished)
    if begun and not any(one.what == "deletion" for one in vault.check()):
        yield "a deletion is not finished, and all is well"
    vault.finish_deletions()
    yield from (f"{one.where}: {one.message}" for one in vault.check() if one.what == "deletion")
    here = {id_ for (id_,) in cold.read(lambda db: fetch(db, "SELECT id FROM entries"))}
    gone: set[str] = set()
    for what, *names in told:
        if what == "deleting" and here.isdisjoint(names):
            gone.update(names)
        elif what == "deleting" and not here.issuperset(names):
            yield f"{names}: half of it is deleted"
    yield from (f"{name}: deleted, and its words stand on a page" for name in sorted(gone & on_pages(cold, vault)))


def on_pages(cold: ColdStore, vault: Vault) -> set[str]:
    """Ids that stand in any pack that is here to stay, whether the index knows it or not."""
    going, found = cold.read(pack_gc.owners_by_name), set[str]()
    for name in vault.storage.names():
        if name.endswith(".pages") and name not in going:
            for saved in salvaged_pages(vault.storage.read(name)):
                found.update(one.head.id for one in saved.page.heads if one.head)
                found.update(re.findall(r"c\d+x\d+e\d+(?= says)", saved.page.text))
    return found


def rebuilt(folder: Path, told: list[list[str]]) -> Iterator[str]:
    """What comes back that was deleted, where the database is lost and built again from what stands beside it."""
    state = folder / "lost"
    packs = folder / "state" / "packs"
    if packs.is_dir():  # the keeper may be killed before its first archive
        shutil.copytree(packs, state / "packs")
    cold, vault = opened(state, None)
    yield from mend(state, cold, vault)
    gone = {name for what, *names in told if what == "deleted" for name in names}
    here = {id_ for (id_,) in cold.read(lambda db: fetch(db, "SELECT id FROM entries"))}
    yield from (f"{name}: deleted, and there again" for name in sorted(gone & (here | on_pages(cold, vault))))
    cold.close()
    shutil.rmtree(state)


def forked(work: Any) -> int:
    """The child's number; it never comes back."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException as error:
        import traceback

        print("".join(traceback.format_exception(error)), file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def main() -> None:
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    state, log = folder / "state", folder / "told"
    state.mkdir(parents=True, mode=0o700, exist_ok=True)
    load_glyphs()
    chance = random.Random(seed)
    landed = Counter[str]()
    for n in range(kills):
        at_call = n % 2 == 1

        def work(n: int = n, at_call: bool = at_call) -> None:
            told, fuse = Told(log), Fuse(chance.randrange(1, 1500), after=bool(n % 4 == 1))
            if at_call:
                fuse.lay()
            keep(state, told, seed * 1000 + n, "fused" if at_call else None)

        chance.random()
        child = forked(work)
        if not at_call:
            time.sleep(chance.uniform(0.02, 1.2))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        landed["call" if at_call else "moment"] += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        look(folder, 40)
    look(folder, 10**9, repaired=True)
    told = [json.loads(line)[0] for line in log.read_text().splitlines()]
    print(json.dumps({"landed": landed, "told": Counter(told)}))


def look(folder: Path, last: int, *, repaired: bool = False) -> None:
    """Compares, in a process of its own; ends all where something is wrong."""
    log = folder / "told"
    lines = log.read_text().splitlines() if log.exists() else []
    told = [json.loads(line) for line in lines]

    def work() -> None:
        if found := list(wrong(folder / "state", told, last)):
            raise AssertionError("\n".join(found[:20]))
        if repaired:
            cold, vault = opened(folder / "state", None)
            left = mend(folder / "state", cold, vault)
            assert left == [], left
            if found := list(wrong(folder / "state", told, last)):
                raise AssertionError("after the repair:\n" + "\n".join(found[:20]))
            if found := list(rebuilt(folder, told)):
                raise AssertionError("built again:\n" + "\n".join(found[:20]))

    _, status = os.waitpid(forked(work), 0)
    if status:
        sys.exit(1)


if __name__ == "__main__":
    main()
