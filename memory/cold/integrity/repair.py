"""Repair of rows with a flipped bit: restores the values that match the hash."""

from collections.abc import Callable

import apsw
from msgspec import Struct

from memory.cold.changes import note_change
from memory.cold.encoding import digest, pack, to_bytes, unpack
from memory.cold.integrity.bit_flips import row_before, text_before, values_before
from memory.cold.integrity.row_hashes import COLUMNS, NAMES, broken_seals, seal_unsealed
from memory.cold.integrity.row_seals import BrokenRow, broken_rows, restore_row
from memory.cold.sql import SqlRow, each, run
from memory.cold.store import ColdStore
from memory.errors import Damaged

FindText = Callable[[str, bytes], str | None]
"""(an entry's id, its text's SHA-256) → that text, where another copy of it exists."""


class RowRepairResult(Struct, frozen=True):
    """Ids of repaired entries, and of those that stay damaged."""

    mended: tuple[str, ...]
    lost: tuple[str, ...]


def repair_rows(cold: ColdStore, find_text: FindText, copy_database: Callable[[], None]) -> RowRepairResult:
    """Repairs entries where possible, and seals rows without a seal. Calls `copy_database` before the first change."""
    rows = cold.read(lambda db: [(seq, values, row_before(values, seal)) for seq, values, seal in broken_seals(db)])
    texts = cold.read(_broken_texts)
    restored_texts = {seq: text for seq, row in texts if (text := _text(row, find_text)) is not None}
    mended = {seq: before for seq, _, before in rows if before is not None}
    if mended or restored_texts:
        copy_database()

    def transaction(db: apsw.Connection) -> None:
        for seq, before in mended.items():
            _put_row(db, seq, before)
        for seq, text in restored_texts.items():
            body, packed = pack(to_bytes(text))
            run(db, "UPDATE entries SET body = ?, packed = ? WHERE seq = ?", (body, packed, seq))
        note_change(db, "change", mended.keys() | restored_texts.keys())
        seal_unsealed(db)

    cold.write(transaction)
    names = {seq: _name((before or values)[1]) for seq, values, before in rows} | {
        seq: _name(row[0]) for seq, row in texts
    }
    damaged = {seq for seq, _, before in rows if before is None} | {
        seq for seq, _ in texts if seq not in restored_texts
    }
    repaired = (mended.keys() | restored_texts.keys()) - damaged
    return RowRepairResult(tuple(names[seq] for seq in sorted(repaired)), tuple(names[seq] for seq in sorted(damaged)))


def repair_sealed_rows(cold: ColdStore, copy_database: Callable[[], None]) -> int:
    """Repairs rows of other tables with one flipped bit; gives their number. Seals rows without a seal."""
    broken = cold.read(lambda db: list(broken_rows(db)))
    mended = [(row, before) for row in broken if (before := _before(row)) is not None]
    if not broken:
        return 0
    copy_database()

    def transaction(db: apsw.Connection) -> None:
        for row, before in mended:
            restore_row(db, row, before)

    cold.write(transaction)
    return len(mended)


def _before(row: BrokenRow) -> SqlRow | None:
    return None if row.seal is None else values_before(row.values, row.seal, row.table.seal)


def _broken_texts(db: apsw.Connection) -> list[tuple[int, SqlRow]]:
    sql = "SELECT seq, CAST(id AS BLOB), body, packed, chars, sha256 FROM entries WHERE body IS NOT NULL AND complete"
    return [(seq, tuple(row)) for seq, *row in each(db, sql) if not _is_sound(*row[1:])]


def _is_sound(body: bytes, packed: int, chars: int, sha256: bytes) -> bool:
    try:
        return digest(to_bytes(unpack(body, packed, chars))) == sha256
    except Damaged:
        return False


def _text(row: SqlRow, find_text: FindText) -> str | None:
    id_, body, packed, chars, sha256 = row
    text = find_text(_name(id_), sha256)
    return text if text is not None else text_before(body, packed, chars, sha256)


def _put_row(db: apsw.Connection, seq: int, before: SqlRow) -> None:
    values = [_name(value) if column in NAMES else value for column, value in zip(COLUMNS, before, strict=True)]
    assignments = ", ".join(f"{column} = ?" for column in COLUMNS)
    run(db, f"UPDATE entries SET {assignments} WHERE seq = ?", (*values, seq))


def _name(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
