"""`check` finds every flipped bit: in packs, in manifests, and in every column of the archive's rows."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from foundation.privacy import as_given
from memory.archive.packs.manifest import manifest_names, read_manifest
from memory.archive.packs.storage import LocalStorage
from memory.archive.repair.check import pack_is_sound
from memory.archive.rows import pages
from memory.cold.sql import fetch, run
from memory.errors import Damaged
from memory.memory import Memory
from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import archived, mend, problems

TABLES = ("packs", "archives", "pages", "spans", "archive_tags", "archive_pages", "passages", "entries", "terms")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace without a fault, for the tests here to copy."""
    root = tmp_path_factory.mktemp("sound") / "workspace"
    memory, _ = archived(root, FakeClock())
    assert problems(memory) == []
    memory.close()
    return root


@pytest.fixture
def memory(sound: Path, tmp_path: Path, clock: FakeClock) -> Iterator[Memory]:
    shutil.copytree(sound, tmp_path / "copy")
    from foundation.paths import Workspace

    memory = Memory.open(Workspace(tmp_path / "copy"), clock, read_only=False)
    yield memory
    memory.close()


def test_a_sound_archive_has_no_problem(memory: Memory) -> None:
    assert problems(memory) == []


class FakeStorage(LocalStorage):
    """One file, in memory."""

    def __init__(self, body: bytes) -> None:
        super().__init__(Path("nowhere"))
        self.body = bytearray(body)

    def size(self, name: str) -> int:
        return len(self.body)

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        return bytes(self.body[offset:] if length is None else self.body[offset : offset + length])

    def flips(self) -> Iterator[None]:
        """Each bit in turn, flipped and put back."""
        for bit in range(len(self.body) * 8):
            self.body[bit // 8] ^= 1 << bit % 8
            yield
            self.body[bit // 8] ^= 1 << bit % 8


def test_every_flipped_bit_of_a_pack_is_found(memory: Memory) -> None:
    memory.vault.archive_text(as_given("short"), label="small", mode="tiny")
    row = min(memory.cold.read(pages.pack_rows), key=lambda row: row.size)
    copy = FakeStorage(memory.vault.storage.read(row.name))
    assert pack_is_sound(copy, row)
    assert len(copy.body) > 500
    assert [pack_is_sound(copy, row) for _ in copy.flips()].count(True) == 0


def test_every_flipped_bit_of_a_manifest_is_found(memory: Memory) -> None:
    storage = memory.vault.storage
    name = min(manifest_names(storage), key=storage.size)
    copy = FakeStorage(storage.read(name))
    assert read_manifest(copy, name).pages
    assert len(copy.body) > 500
    read = 0
    for _ in copy.flips():
        with suppress(Damaged):
            read_manifest(copy, name)
            read += 1
    assert read == 0


@pytest.mark.parametrize("ending", [".pages", ".manifest"])
def test_a_flipped_bit_is_told_by_the_file_it_is_in(memory: Memory, ending: str) -> None:
    for name in [name for name in memory.vault.storage.names() if name.endswith(ending)]:
        path = memory.workspace.packs / name
        whole = path.read_bytes()
        for at in (0, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
            assert name in " ".join(problems(memory))
        path.write_bytes(whole)
    assert problems(memory) == []


def test_a_file_that_is_gone_is_told(memory: Memory) -> None:
    for name in memory.vault.storage.names():
        path = memory.workspace.packs / name
        whole = path.read_bytes()
        path.unlink()
        assert problems(memory), name
        path.write_bytes(whole)
    assert problems(memory) == []


def columns(memory: Memory) -> list[tuple[str, str]]:
    found = []
    for table in TABLES:
        rows = memory.cold.read(lambda db, table=table: fetch(db, f"PRAGMA table_info({table})"))
        found += [(table, row[1]) for row in rows]
    return found


def altered(value: object) -> list[object]:
    """The value as it may read after a bit was flipped in it, or the whole was lost."""
    match value:
        case bool() | int():
            return [value ^ 1, value ^ 64]
        case str():
            return [
                chr(ord(value[0]) ^ 1) + value[1:] if value else "x",
                value[:-1] + chr(ord(value[-1]) ^ 2) if value else "y",
            ]
        case bytes():
            return [
                bytes([value[0] ^ 1]) + value[1:] if value else b"x",
                value[:-1] + bytes([value[-1] ^ 128]) if value else b"y",
            ]
        case _:
            return [7, b"7", "7"]


def with_the_value(database: Path, table: str, column: str, key: tuple[str, tuple[object, ...]], value: object) -> bool:
    """Puts it there behind the store's back; False where SQLite itself does not take it."""
    db = apsw.Connection(str(database))
    try:
        run(db, "PRAGMA foreign_keys = OFF")
        run(db, f"UPDATE {table} SET {column} = ? WHERE {key[0]}", (value, *key[1]))
        return True
    except (apsw.ConstraintError, apsw.MismatchError):
        return False
    finally:
        db.close()


HEALING = {("terms", "analyser")}
"""What needs no inspection: terms of any other version are made anew by themselves."""


def cells(memory: Memory, *, thorough: bool) -> Iterator[tuple[str, str, tuple[str, tuple[object, ...]], object]]:
    """A row of each table, and of it each column, with its value."""
    for table in TABLES:
        infos = memory.cold.read(lambda db, table=table: fetch(db, f"PRAGMA table_info({table})"))
        names = [row[1] for row in infos]
        key = [row[1] for row in infos if row[5]]
        where = "WHERE body IS NULL" if table == "entries" else ""
        rows = memory.cold.read(lambda db, table=table, where=where: fetch(db, f"SELECT * FROM {table} {where}"))
        assert rows, table
        for row in {0, 2 % len(rows), len(rows) - 1} if thorough else {2 % len(rows)}:
            values = dict(zip(names, rows[row], strict=True))
            for name in names:
                if (table, name) in HEALING:
                    continue
                bound = " AND ".join(f"{one} IS ?" for one in key)
                yield table, name, (bound, tuple(values[one] for one in key)), values[name]


@pytest.mark.parametrize(
    "thorough",
    [
        pytest.param(False, marks=[pytest.mark.slow, pytest.mark.timeout(60)]),
        pytest.param(True, marks=[pytest.mark.soak, pytest.mark.timeout(600)]),
    ],
)
def test_every_column_of_the_archives_rows_is_watched_and_mended(memory: Memory, sound: Path, thorough: bool) -> None:
    """And set right again by the repair: by what stands beside the packs."""
    database = memory.workspace.database
    tried = 0
    missed: list[str] = []
    unmended: list[str] = []
    for table, column, key, value in list(cells(memory, thorough=thorough)):
        if column == "seal":
            continue  # it is named by `check`; whether the row or its seal changed cannot be known
        for other in altered(value)[: 2 if thorough else 1]:
            if not with_the_value(database, table, column, key, other):
                continue
            tried += 1
            if not problems(memory):
                missed.append(f"{table}.{column} {value!r} → {other!r}")
            elif left := mend(memory).problems:
                unmended.append(f"{table}.{column} {value!r} → {other!r}: {left}")
            memory.close()
            shutil.rmtree(memory.workspace.state)
            shutil.copytree(sound / ".palimpsest", memory.workspace.state)
            memory = Memory.open(memory.workspace, memory.cold.clock, read_only=False)
    memory.close()
    assert tried > 50
    assert missed == []
    assert unmended == []
