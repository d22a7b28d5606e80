"""Forgotten lines of the versions of notes that devices share.

A version keeps its id and its place among the others. Of a forgotten line its number is known, and a number that
names the forgetting. A device that has seen the words keeps a hash of them: other
versions of the note that hold the line lose it, too, unless who wrote them had heard of that forgetting. Who says the
same again knowing of it keeps it.
"""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Final

import apsw
import msgspec
from msgspec import Struct

from memory.cold.encoding import to_bytes, to_text
from memory.cold.secret import keyed
from memory.cold.sql import SqlRow, fetch, first, run
from memory.cold.sync_clock import tick
from memory.zstd import packer, unpack

_MOST: Final = 2**26  # bytes of a note
_MOST_HEARD: Final = 1_000
_COLUMNS: Final = "SELECT id, path, body, forgotten, heard FROM sync_notes"
_KNOWN: Final = "SELECT line, forgetting FROM sync_forgotten_lines WHERE note = ? ORDER BY forgetting DESC"
_KEEP: Final = "INSERT OR IGNORE INTO sync_forgotten_lines (note, line, forgetting) VALUES (?, ?, ?)"

MOST_LINES: Final = 2**17
"""Bytes of packed lines: a bit for each line of the longest note."""

PackedLines = tuple[tuple[int, bytes], ...]
"""Forgettings, each with the lines that it took: a bit for each number of a line, the lowest first."""


class NoteRow(Struct, frozen=True):
    """A version as it is stored. `forgotten`: the forgettings of lines by their numbers, from 0. These are empty."""

    id: str
    path: str
    text: str
    forgotten: Mapping[int, int]
    heard: frozenset[int]


def pack_lines(forgotten: Mapping[int, int]) -> PackedLines:
    """The lines in a form that is small and has few values, however many lines there are: at most MOST_LINES bytes."""
    by_forgetting: dict[int, bytearray] = {}
    for number, forgetting in sorted(forgotten.items()):
        bits = by_forgetting.setdefault(forgetting, bytearray())
        bits.extend(bytes(number // 8 + 1 - len(bits)))
        bits[number // 8] |= 1 << number % 8
    if len(by_forgetting) > 1 and sum(map(len, by_forgetting.values())) > MOST_LINES:
        return pack_lines(dict.fromkeys(forgotten, max(by_forgetting)))
    return tuple((forgetting, bytes(bits)) for forgetting, bits in sorted(by_forgetting.items()))


def unpack_lines(packed: PackedLines) -> dict[int, int]:
    """The forgettings of lines by their numbers; of several the lowest."""
    return {
        number: forgetting
        for forgetting, bits in sorted(packed, reverse=True)
        for at, byte in enumerate(bits)
        if byte
        for number in range(at * 8, at * 8 + 8)
        if byte >> number % 8 & 1
    }


def stored_lines(column: bytes) -> dict[int, int]:
    """The lines of a row of `sync_notes`."""
    return unpack_lines(msgspec.msgpack.decode(column, type=PackedLines)) if column else {}


def blanked(text: str, numbers: Collection[int]) -> str:
    """The text with these lines empty, so that each line keeps its number."""
    return "\n".join("" if number in numbers else line for number, line in enumerate(text.split("\n")))


def without_lines(text: str, numbers: Collection[int]) -> str:
    """The text without these lines and their ends."""
    lines = text.split("\n")
    ends = (*("\n" for _ in lines[1:]), "")
    return "".join(
        line + end for number, (line, end) in enumerate(zip(lines, ends, strict=True)) if number not in numbers
    )


def note_row(db: apsw.Connection, id_: str) -> NoteRow | None:
    """The version of that id."""
    row = first(db, f"{_COLUMNS} WHERE id = ?", (id_,))
    return _row(row) if row else None


def heard_of(db: apsw.Connection, path: str) -> tuple[int, ...]:
    """The forgettings of lines of the note, as far as the words are known here; of very many a thousand."""
    sql = "SELECT DISTINCT forgetting FROM sync_forgotten_lines WHERE note = ? ORDER BY forgetting DESC LIMIT ?"
    return tuple(sorted(forgetting for (forgetting,) in fetch(db, sql, (path, _MOST_HEARD))))


def pack_heard(forgettings: Collection[int]) -> bytes:
    return msgspec.msgpack.encode(sorted(forgettings)) if forgettings else b""


def stored_heard(column: bytes) -> tuple[int, ...]:
    return msgspec.msgpack.decode(column, type=tuple[int, ...]) if column else ()


def forget_note_lines(
    db: apsw.Connection, secret: bytes, going: Callable[[str, str], Collection[int]], now_ms: int
) -> int:
    """Empties the lines that go, of all versions of all notes, and has other devices do so; gives their number.

    The files are without these lines already.

    `going` gives the numbers of the lines that go, for the path of a note and a text of it.
    """
    forgetting, count, paths = 0, 0, set[str]()
    for (id_,) in fetch(db, "SELECT id FROM sync_notes"):
        row = note_row(db, id_)
        if row is None or not (numbers := {*going(row.path, row.text)} - {*row.forgotten}):
            continue
        forgetting = forgetting or _new_forgetting(db, now_ms)
        count += len(numbers)
        paths.add(row.path)
        forgotten = {**row.forgotten, **dict.fromkeys(numbers, forgetting)}
        set_lines(db, row, forgotten, sends=True)
        _keep_words(db, secret, row.path, row.text, forgotten)
    for path in paths:
        run(db, "UPDATE sync_merged SET heard = ? WHERE path = ?", (pack_heard(heard_of(db, path)), path))
    return count


def _new_forgetting(db: apsw.Connection, now_ms: int) -> int:
    """A number that no other device gives."""
    ((device,),) = fetch(db, "SELECT id FROM sync_device")
    return int.from_bytes(hashlib.sha256(f"{device} {tick(db, now_ms)}".encode()).digest()[:8]) >> 2


def set_lines(db: apsw.Connection, row: NoteRow, forgotten: Mapping[int, int], *, sends: bool) -> None:
    """Stores the version without these lines. `sends`: other devices get it from this one, too."""
    body, lines = packer()(to_bytes(blanked(row.text, forgotten))), msgspec.msgpack.encode(pack_lines(forgotten))
    run(db, "UPDATE sync_notes SET body = ?, forgotten = ? WHERE id = ?", (body, lines, row.id))
    if sends:
        run(db, "UPDATE sync_notes SET own = 1, segment = NULL WHERE id = ? AND own = 0", (row.id,))


def learn_lines(db: apsw.Connection, secret: bytes, path: str, text: str, forgotten: Mapping[int, int]) -> None:
    """Takes lines that another device forgot of this text out of the versions of the note that hold them here."""
    if _keep_words(db, secret, path, text, forgotten):
        for (id_,) in fetch(db, "SELECT id FROM sync_notes WHERE path = ?", (path,)):
            take_forgotten(db, secret, id_)


def take_forgotten(db: apsw.Connection, secret: bytes, id_: str) -> None:
    """Takes the lines out of a version that were forgotten without its writer having heard of it."""
    row = note_row(db, id_)
    if row is None or not (known := fetch(db, _KNOWN, (row.path,))):
        return
    unheard = {line: forgetting for line, forgetting in known if forgetting not in row.heard}
    found = {
        number: forgetting for number, line in _lines(row.text) if (forgetting := unheard.get(_hashed(secret, line)))
    }
    if found:
        set_lines(db, row, {**found, **row.forgotten}, sends=True)


def _keep_words(db: apsw.Connection, secret: bytes, path: str, text: str, forgotten: Mapping[int, int]) -> bool:
    """Keeps hashes of forgotten lines; whether one is new. A line that stays elsewhere in the text does not go."""
    staying = {line for number, line in _lines(text) if number not in forgotten}
    going = [(number, line) for number, line in _lines(text) if number in forgotten and line not in staying]
    return sum(run(db, _KEEP, (path, _hashed(secret, line), forgotten[number])) for number, line in going) > 0


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that say something, without the white space around them."""
    return ((number, said) for number, line in enumerate(text.split("\n")) if (said := line.strip()))


@lru_cache(maxsize=2**16)
def _hashed(secret: bytes, line: str) -> str:
    return keyed(secret, f"forgotten line {line}")


def _row(row: SqlRow) -> NoteRow:
    id_, path, body, forgotten, heard = row
    text = to_text(unpack(body, limit=_MOST))
    return NoteRow(id_, path, text, stored_lines(forgotten), frozenset(stored_heard(heard)))
