"""A sampled check reads a part of what is stored at random, all of it in time, and names every fault in its part."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.cold.sql import run
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.upkeep.sample import BLOCK, KINDS, check_slice
from memory.upkeep.state import Round
from memory.versions.cause import Author, Cause
from models.messages import Role
from tests.fakes import FakeClock

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


@pytest.fixture
def memory(workspace: Workspace, clock: FakeClock) -> Iterator[Memory]:
    memory = Memory.open(workspace, clock)
    conversation = memory.conversations.new()
    drafts = (
        EntryDraft(
            conversation=conversation.seq,
            parent=None,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=as_given(f"第{n}条 ⛴ the ferry number {n} leaves"),
        )
        for n in range(5 * BLOCK)
    )
    memory.conversations.append_many(drafts)
    for n in range(6):
        words = as_given("".join(f"{n} {line} {line * 7919}\n" for line in range(40)))
        memory.vault.archive_text(words, label=f"label {n}", mode="tiny", keep_entry=False)
        memory.versions.store.record(f"memory/{n}.md", f"note {n}".encode(), Cause(Author.USER, "edit"))
    yield memory
    memory.close()


def whole_round(memory: Memory, kind: str) -> tuple[int, list[str], int]:
    """What slices of no time read until the round has ended: the count, the places of faults, and the slices."""
    position, read, places = Round(), 0, list[str]()
    for slices in count(1):
        done = check_slice(memory, kind, position, 0.0, lambda: False)
        if position.seed and done.round.seed != position.seed:
            return read, places, slices - 1
        position = done.round
        read += done.count
        places += [problem.where for problem in done.problems]
    raise AssertionError


def test_slices_cover_everything_once_a_round(memory: Memory) -> None:
    covered = {kind: whole_round(memory, kind) for kind in KINDS}
    assert {kind: (read, faults) for kind, (read, faults, _) in covered.items()} == {
        "entries": (5 * BLOCK, []),
        "packs": (6, []),
        "versions": (6, []),
    }
    assert all(slices >= 5 for _, _, slices in covered.values()), "a slice reads a part"


def test_each_round_has_an_order_of_its_own(memory: Memory) -> None:
    first = {check_slice(memory, "versions", Round(), 0.0, lambda: False).round.position for _ in range(8)}
    assert len(first) > 1


def test_every_flipped_bit_is_found_within_a_round(memory: Memory, workspace: Workspace) -> None:
    pack = sorted(workspace.packs.glob("*.pages"))[3]
    _flip(pack, 100)
    body = next(
        path for path in sorted(workspace.versions.rglob("*")) if path.is_file() and path.parent.name != "versions"
    )
    _flip(body, body.stat().st_size - 1)
    with closing(sqlite3.connect(workspace.database)) as db:
        (text,) = db.execute("SELECT seq FROM entries WHERE kind = 'message' LIMIT 1 OFFSET 200").fetchone()
        db.execute("UPDATE entries SET body = CAST('forged' AS BLOB), packed = 0, chars = 6 WHERE seq = ?", (text,))
        (row, row_id) = db.execute("SELECT seq, id FROM entries WHERE kind = 'message' LIMIT 1 OFFSET 99").fetchone()
        db.execute("UPDATE entries SET time_ms = time_ms + 1 WHERE seq = ?", (row,))
        (text_id,) = db.execute("SELECT id FROM entries WHERE seq = ?", (text,)).fetchone()
        db.commit()
    assert sorted(whole_round(memory, "entries")[1]) == sorted([text_id, row_id])
    assert whole_round(memory, "packs")[1] == [pack.name]
    assert len(whole_round(memory, "versions")[1]) == 1


def test_a_lost_pack_is_a_fault_and_one_that_was_deleted_meanwhile_is_none(
    memory: Memory, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory.upkeep import sample

    pack = sorted(workspace.packs.glob("*.pages"))[0]
    pack.unlink()
    assert whole_round(memory, "packs")[1] == [pack.name]

    def deleted_meanwhile(*_: object) -> bool:
        memory.cold.write(lambda db: [run(db, f"DELETE FROM {table}") for table in ("archive_pages", "pages", "packs")])
        return False

    monkeypatch.setattr(sample, "pack_is_sound", deleted_meanwhile)
    assert check_slice(memory, "packs", Round(), 60.0, lambda: False).problems == ()


def test_a_slice_ends_when_it_is_told_to(memory: Memory) -> None:
    done = check_slice(memory, "entries", Round(), 60.0, lambda: True)
    assert done.count <= BLOCK


def _flip(path: Path, offset: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[offset] ^= 1
    path.chmod(0o600)
    path.write_bytes(bytes(raw))
