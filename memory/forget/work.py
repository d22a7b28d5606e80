"""One job's parts, as each step needs them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import apsw
from msgspec import Struct

from foundation.paths import Workspace
from memory.cold.encoding import to_bytes, unpack
from memory.cold.secret import keyed
from memory.cold.sql import each, fetch, run
from memory.errors import Damaged, NotFound, StorageUnreachable
from memory.forget.escapes import unescaped
from memory.forget.replacement import replaced_in_escapes
from memory.forgotten.fingerprints import FORGOTTEN, Fingerprints
from memory.forgotten.journal import ForgetJob
from memory.memory import Memory
from memory.records import EntryKind
from models.messages import Role

UNREACHABLE: Final = "unreachable"
DAMAGED: Final = "damaged"
_AT_ONCE: Final = 500
_ROWS: Final = """SELECT seq, body, packed, chars, meta, sent, CAST(speaker AS BLOB), conversation, CAST(kind AS BLOB),
    CAST(id AS BLOB)
    FROM entries WHERE seq > ? ORDER BY seq LIMIT ?"""

_ANSWERS: Final = f"""SELECT seq, parent FROM entries WHERE seq > ? AND role IN ('{Role.ASSISTANT}', '{Role.TOOL}')
    AND kind IN ('{EntryKind.MESSAGE}', '{EntryKind.TOOL_CALL}', '{EntryKind.TOOL_RESULT}') ORDER BY seq"""


class StepCounts(Struct, frozen=True):
    """What a step took away, by kind, and sentences for the person."""

    counts: Mapping[str, int] = {}
    sentences: tuple[str, ...] = ()


Step = Callable[["ForgetWork"], StepCounts]
DERIVED: Final = (EntryKind.OBSERVATION.value.encode(), EntryKind.SUMMARY.value.encode())


class EntryBytes(NamedTuple):
    """All words of an entry's row: its text, from its pages where it has none in its row, and its other columns."""

    seq: int
    conversation: int
    kind: bytes
    text: bytes
    meta: bytes
    names: bytes  # its speaker and its id
    sent: bytes  # what was sent with it besides its text, such as passages that were recalled
    is_archived: bool
    id: str
    unread: str  # why its text could not be read: "", "unreachable" or "damaged"

    @property
    def words(self) -> bytes:
        """All of them, as they are and behind the escapes of JSON."""
        return behind_escapes(b"\0".join((self.text, self.meta, self.names, self.sent)))


class ForgetWork:
    """A job and the memory that it works on. Steps may be run again at any time: each finds what is left by itself.

    One is made for each step, because what is cached of the store holds for that long.
    """

    def __init__(self, memory: Memory, job: ForgetJob) -> None:
        self.memory = memory
        self.job = job

    @property
    def workspace(self) -> Workspace:
        return self.memory.workspace

    @cached_property
    def prints(self) -> Fingerprints:
        return Fingerprints(self.job.prints, self.memory.cold.secret)

    @cached_property
    def _refs(self) -> frozenset[str]:
        return frozenset(self.job.refs)

    def is_ref(self, name: str) -> bool:
        """Whether an id, or the name of a draft, is one of what goes."""
        return bool(name and self._refs) and line_hash(self.memory.cold.secret, name) in self._refs

    def is_earlier(self, entry: EntryBytes) -> bool:
        """Whether it was here when the job began, was derived of what was, or answers it."""
        last = self.job.last_entry
        return last is None or entry.seq <= last or entry.kind in DERIVED or entry.seq in self.late_answers

    @cached_property
    def late_answers(self) -> frozenset[int]:
        """Seqs of answers and tool results after the job began, in turns of messages from before it.

        Their words were on their way: the model was sent them.
        """
        last = self.job.last_entry
        if last is None:
            return frozenset()
        found: set[int] = set()
        for seq, parent in self.memory.cold.read(lambda db: list(each(db, _ANSWERS, (last,)))):
            if parent is not None and (parent <= last or parent in found):
                found.add(seq)
        return frozenset(found)

    def hashed(self, name: str) -> str:
        """What stands for a name in the journal."""
        return line_hash(self.memory.cold.secret, name)

    def lines_named(self, name: str) -> frozenset[str]:
        """The hashes of the lines of a file, by its relative name, that go."""
        hashed = self.hashed(name) if self.job.lines else ""
        return frozenset(line.line for line in self.job.lines if line.file == hashed)

    def keeps(self, name: str) -> bool:
        """Whether the person keeps the words in this file."""
        return bool(self.job.kept) and self.hashed(name) in self.job.kept

    def named(self, name: str) -> str:
        """The file's relative name after the job: a note whose name holds the words gets another one."""
        if not self.prints.holds(name.encode("utf-8", "surrogateescape")):
            return name
        folder = "memory/" if name.startswith("memory/") else ""
        return f"{folder}note-{self.hashed(name)[:8]}.md"

    def replaced(self, text: str) -> str:
        """The text with `[forgotten]` in the place of what is looked for."""
        return replaced_in_escapes(self.prints, text)


def behind_escapes(raw: bytes) -> bytes:
    """The bytes, and how they read behind the escapes of JSON."""
    return b"\0".join([raw, *map(to_bytes, unescaped(raw.decode("utf-8", "replace")))]) if b"\\" in raw else raw


def line_hash(secret: bytes, line: str) -> str:
    """What stands for a line of a note, or for a name, in the journal."""
    return keyed(secret, f"line {line.strip()}")


def entry_bytes(memory: Memory, after: int = 0) -> Iterator[list[EntryBytes]]:
    """All entries after that one, in order of seq, a batch at a time."""
    while rows := memory.cold.read(lambda db: fetch(db, _ROWS, (after, _AT_ONCE))):  # noqa: B023 -- called at once
        yield [_of(memory, row) for row in rows]
        after = rows[-1][0]


def found_in(prints: Fingerprints, bodies: Sequence[bytes]) -> list[int]:
    """The indexes of the bodies that hold any of them; all are looked through at once, which is faster."""
    starts: list[int] = []
    at = 0
    for body in bodies:
        starts.append(at)
        at += len(body) + 1
    found: dict[int, None] = {}
    index = 0
    for span in prints.spans(b"\0".join(bodies)):
        while index + 1 < len(starts) and starts[index + 1] <= span.start:
            index += 1
        found[index] = None
    return list(found)


def _of(memory: Memory, row: tuple[object, ...]) -> EntryBytes:
    seq, body, packed, chars, meta, sent, speaker, conversation, kind, id_ = row
    assert isinstance(seq, int) and isinstance(chars, int) and isinstance(conversation, int) and isinstance(kind, bytes)
    text, unread, is_archived = b"", "", body is None and chars > 0
    try:
        if isinstance(body, bytes):
            text = to_bytes(unpack(body, int(bool(packed)), chars))
        elif is_archived:
            text = to_bytes(memory.passage(memory.cold.entry(seq)).text)
    except StorageUnreachable:
        unread = UNREACHABLE
    except Damaged:
        unread = DAMAGED
    except NotFound:  # deleted meanwhile
        pass
    names = b"\0".join(part for part in (speaker, id_) if isinstance(part, bytes))
    beside, parts = (part if isinstance(part, bytes) else b"" for part in (meta, sent))
    name = id_.decode("utf-8", "replace") if isinstance(id_, bytes) else ""
    return EntryBytes(seq, conversation, kind, text, beside, names, parts, is_archived, name, unread)


def drop_requests(db: apsw.Connection, conversations: Sequence[int]) -> None:
    """Ends the epochs of these conversations and marks their mirrors as outdated: the next request begins anew."""
    for conversation in conversations:
        for table in ("requests", "epochs"):
            run(db, f"DELETE FROM {table} WHERE conversation = ?", (conversation,))
        run(db, "UPDATE mirrors SET head = x'' WHERE conversation = ?", (conversation,))


__all__ = [
    "DERIVED",
    "FORGOTTEN",
    "EntryBytes",
    "ForgetWork",
    "Step",
    "StepCounts",
    "behind_escapes",
    "drop_requests",
    "entry_bytes",
    "found_in",
    "line_hash",
]
