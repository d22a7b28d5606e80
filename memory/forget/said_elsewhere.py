"""Pieces of what goes, without those that something which stays says by itself: these are not looked for."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import apsw
from msgspec import Struct

from foundation.text.folding import fold
from memory.cold.encoding import to_bytes
from memory.cold.sql import batches, each, fetch, marks
from memory.forget.choice import NamedLine
from memory.forget.pieces import cases, encodings
from memory.forget.scan import own_files
from memory.forget.work import entry_bytes, found_in
from memory.forgotten.fingerprints import Fingerprint, Fingerprints
from memory.hot.parse import lines_of
from memory.memory import Memory
from memory.records import EntryKind
from models.messages import Role

MOST_NAMED: Final = 20  # entries and conversations that stay
_LAST: Final = 1 << 62  # after every seq


class AlsoSaid(Struct, frozen=True):
    """Entries that stay and say parts of it by themselves: the first ones, as seqs, and their conversations."""

    entries: tuple[int, ...] = ()
    conversations: tuple[int, ...] = ()


class Pieces:
    """Pieces under the forms in which they are looked for. A piece is given up in all of its forms: an index holds in
    small letters what a text says in capitals. `short` are pieces that count as whole words only."""

    def __init__(self, pieces: Iterable[str], short: Iterable[str], secret: bytes) -> None:
        long = (Fingerprints.of(_encodings(piece), secret) for piece in pieces)
        whole = (Fingerprints.of(encodings(cases([piece, fold(piece)])), secret, whole=True) for piece in short)
        self._forms = [frozenset(found.prints) for found in (*long, *whole)]
        self._by_form: dict[Fingerprint, list[int]] = {}
        for number, forms in enumerate(self._forms):
            for form in forms:
                self._by_form.setdefault(form, []).append(number)
        self.prints = Fingerprints(self._by_form, secret)

    def give_up(self, said: Collection[Fingerprint]) -> None:
        """Leaves the pieces of these forms out from now on."""
        numbers = {number for form in said for number in self._by_form.get(form, ())}
        self.prints = self.prints.without(form for number in numbers for form in self._forms[number])


def give_up_what_stays(
    memory: Memory, pieces: Pieces, words: Fingerprints, entries: Sequence[int], conversations: Sequence[int]
) -> AlsoSaid:
    """Gives up the pieces that a source which stays says by itself, and tells which sources these are.

    No source is what was derived, and what a model or a tool said after it in the same conversation: that repeats it.
    """
    if not pieces.prints:
        return AlsoSaid()
    first_seq = _first_seqs(memory, entries)
    going, whole = set(entries), set(conversations)
    sources = memory.cold.read(roles_of_sources)
    by: list[int] = []
    where: dict[int, None] = {}
    for batch in entry_bytes(memory):
        staying = [
            entry
            for entry in batch
            if entry.seq in sources
            and entry.seq not in going
            and entry.conversation not in whole
            and not (sources[entry.seq] != Role.USER.value and entry.seq > first_seq.get(entry.conversation, _LAST))
        ]
        terms = memory.cold.read(lambda db, seqs=[entry.seq for entry in staying]: _terms_of(db, seqs))
        bodies = [b"\0".join((entry.text, terms.get(entry.seq, b""))) for entry in staying]
        for index in found_in(pieces.prints, bodies):
            if said := pieces.prints.found(bodies[index]) - set(words.prints):
                pieces.give_up(said)
                by.append(staying[index].seq)
                where[staying[index].conversation] = None
    return AlsoSaid(tuple(by[:MOST_NAMED]), tuple(where)[:MOST_NAMED])


def give_up_short(pieces: Pieces, texts: Iterable[tuple[str, bytes]]) -> tuple[str, ...]:
    """Gives up the short pieces that the person says in these texts, by name: nobody knows whether they repeat it.
    Gives the names of the texts."""
    names: dict[str, None] = {}
    for name, text in texts:
        found = pieces.prints.found(text)
        if (short := {print_ for print_ in found if print_.whole}) and len(short) == len(found):
            pieces.give_up(short)
            names[name] = None
    return tuple(names)


def texts_of_person(memory: Memory, going: Collection[NamedLine]) -> Iterable[tuple[str, bytes]]:
    """The lines of notes that stay, and the person's own files, each with its file's relative name."""
    memory.hot.look()
    for file in memory.hot.files():
        for number, line in enumerate(lines_of(file.text), 1):
            if NamedLine(file.path, number, line.rstrip("\r\n")) not in going:
                yield file.path, to_bytes(line)
    yield from own_files(memory.workspace)


def roles_of_sources(db: apsw.Connection) -> dict[int, str]:
    """The role of every entry that is no derived one."""
    kinds = f"'{EntryKind.OBSERVATION.value}', '{EntryKind.SUMMARY.value}'"
    sql = f"""SELECT e.seq, e.role FROM entries e JOIN terms t ON t.entry = e.seq
              WHERE NOT t.derived AND e.kind NOT IN ({kinds})"""
    return dict(each(db, sql))


def _encodings(piece: str) -> set[bytes]:
    """The bytes under which a piece is looked for."""
    return {raw for raw in encodings([piece]) if raw.lower() == raw or raw.upper() != raw}


def _terms_of(db: apsw.Connection, seqs: Sequence[int]) -> dict[int, bytes]:
    """What the index makes of these entries, in small letters."""
    found: dict[int, bytes] = {}
    for batch in batches(seqs):
        found.update(each(db, f"SELECT entry, CAST(terms AS BLOB) FROM terms WHERE entry IN ({marks(batch)})", batch))
    return found


def _first_seqs(memory: Memory, entries: Sequence[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for batch in batches(list(entries)):
        sql = f"SELECT conversation, min(seq) FROM entries WHERE seq IN ({marks(batch)}) GROUP BY conversation"
        for conversation, seq in memory.cold.read(lambda db, sql=sql, batch=batch: fetch(db, sql, batch)):
            found[conversation] = min(seq, found.get(conversation, seq))
    return found
