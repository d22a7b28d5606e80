"""Reads the journal: which checkpoints are in effect, and which are undone."""

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import dropwhile
from pathlib import Path

from msgspec import Struct, structs

from agent.checkpoints.change import CheckpointKind, CheckpointRecord, is_path
from agent.checkpoints.journal import Begun, Ended, JournalContent, JournalLine

EDITS = (CheckpointKind.TOOL, CheckpointKind.COMMAND)
REVERSALS = (CheckpointKind.UNDO, CheckpointKind.REWIND)


class CheckpointHistory(Struct, frozen=True):
    """The checkpoints of one conversation that changed files, oldest first.

    `unmade` are the files that an interrupted checkpoint left as they were, by its id: what it was to take back of them
    is still in effect. `content` is the whole journal, of which lines may be unreadable.
    """

    records: tuple[CheckpointRecord, ...]
    unmade: dict[str, frozenset[Path]] = {}
    content: JournalContent = JournalContent()

    @classmethod
    def read(cls, content: JournalContent, conversation: str) -> "CheckpointHistory":
        """What the journal says of the conversation. A change that has not ended is left out."""
        own = [(record, end) for record, end in _ended(content.lines) if record.conversation == conversation]
        unmade = {record.id: _unmade(record, end) for record, end in own if end.changed is not None}
        return cls(tuple(_as_ended(record, end) for record, end in own), unmade, content)

    def is_certain(self, records: Sequence[CheckpointRecord]) -> bool:
        """Whether every line after the first of these checkpoints can be read: no later change is missing. Without a
        checkpoint, every line."""
        ids = {record.id for record in records}
        begins = [n for n, line in self.content.numbered if isinstance(line, Begun) and line.record.id in ids]
        return all(number < min(begins, default=0) for number in self.content.unreadable)

    def in_effect(self) -> tuple[CheckpointRecord, ...]:
        """Those that no undo, redo or rewind took back, oldest first, each with the files of which that is so."""
        every = frozenset(file.place for record in self.records for file in record.files)
        left: dict[str, frozenset[Path]] = {}  # the files for which a checkpoint that was taken back is in effect
        effective: list[CheckpointRecord] = []
        for whole in reversed(self.records):
            places = left.get(whole.id)
            record = whole if places is None else _only(whole, places)
            if places is not None and not record.files:
                continue
            effective.append(record)
            taken_back = (every if places is None else places) - self.unmade.get(record.id, frozenset())
            left |= {id_: left.get(id_, every) - taken_back for id_ in record.reverts}
        return tuple(reversed(effective))

    def edits(self) -> tuple[CheckpointRecord, ...]:
        """The changes by tools and commands that are in effect, oldest first."""
        return tuple(record for record in self.in_effect() if record.kind in EDITS)

    def last_turn(self) -> tuple[CheckpointRecord, ...]:
        """The edits of the last turn that changed files; empty where there is none."""
        edits = self.edits()
        return tuple(record for record in edits if record.message == edits[-1].message) if edits else ()

    def last_reversal(self) -> CheckpointRecord | None:
        """The undo or rewind that `/redo` takes back; None where there is none, or files were edited since."""
        reversals = [record for record in self.in_effect() if record.kind in REVERSALS]
        if not reversals:
            return None
        since = dropwhile(lambda record: record.id != reversals[-1].id, self.records)
        return None if any(record.kind in EDITS for record in since) else reversals[-1]


def _ended(lines: Iterable[JournalLine]) -> Iterator[tuple[CheckpointRecord, Ended]]:
    """The checkpoints that ended and changed something, oldest first. A reversal may have found all files as they were
    to be."""
    lines = tuple(lines)
    ends = {line.id: line for line in lines if isinstance(line, Ended)}
    for line in lines:
        if isinstance(line, Begun) and (end := ends.get(line.record.id)) and end.changed != ():
            record, end = _without_forged(line.record, end)
            if record.files or not line.record.files:
                yield record, end


def _without_forged(record: CheckpointRecord, end: Ended) -> tuple[CheckpointRecord, Ended]:
    """Both without the files whose path is none below a project folder: they must not stop the others' undo."""
    usable = [index for index, file in enumerate(record.files) if is_path(file)]
    if len(usable) == len(record.files):
        return record, end
    files = tuple(record.files[index] for index in usable)
    changed = None if end.changed is None else tuple(new for new, old in enumerate(usable) if old in end.changed)
    return structs.replace(record, files=files), structs.replace(end, changed=changed)


def unfinished(lines: Sequence[JournalLine]) -> tuple[CheckpointRecord, ...]:
    """The checkpoints that began and did not end: in progress, or interrupted."""
    ended = {line.id for line in lines if isinstance(line, Ended)}
    return tuple(line.record for line in lines if isinstance(line, Begun) and line.record.id not in ended)


def _as_ended(record: CheckpointRecord, end: Ended) -> CheckpointRecord:
    """The record with the files that were changed."""
    return _only(record, {file.place for file in record.files} - _unmade(record, end))


def _unmade(record: CheckpointRecord, end: Ended) -> frozenset[Path]:
    """The files that the checkpoint was to change and did not."""
    made = set(range(len(record.files)) if end.changed is None else end.changed)
    return frozenset(file.place for index, file in enumerate(record.files) if index not in made)


def _only(record: CheckpointRecord, places: Set[Path]) -> CheckpointRecord:
    return structs.replace(record, files=tuple(file for file in record.files if file.place in places))
