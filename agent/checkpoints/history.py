"""Reads the journal: which checkpoints are in effect, and which are undone."""

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from agent.checkpoints.change import CheckpointKind, CheckpointRecord
from agent.checkpoints.journal import Begun, Ended, JournalLine

EDITS = (CheckpointKind.TOOL, CheckpointKind.COMMAND)
REVERSALS = (CheckpointKind.UNDO, CheckpointKind.REWIND)


class CheckpointHistory(Struct, frozen=True):
    """The checkpoints of one conversation that changed files, oldest first."""

    records: tuple[CheckpointRecord, ...]

    @classmethod
    def read(cls, lines: Iterable[JournalLine], conversation: str) -> "CheckpointHistory":
        """What the journal says of the conversation. A change that has not ended is left out."""
        return cls(tuple(record for record in finished(lines) if record.conversation == conversation))

    def in_effect(self) -> tuple[CheckpointRecord, ...]:
        """Those that no undo, redo or rewind took back, oldest first."""
        reverted: set[str] = set()
        effective: list[CheckpointRecord] = []
        for record in reversed(self.records):
            if record.id not in reverted:
                reverted.update(record.reverts)
                effective.append(record)
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
        effective = self.in_effect()
        reversals = [record for record in effective if record.kind in REVERSALS]
        if not reversals:
            return None
        place = self.records.index(reversals[-1])
        is_last = not any(record.kind in EDITS for record in self.records[place:])
        return reversals[-1] if is_last else None


def finished(lines: Iterable[JournalLine]) -> tuple[CheckpointRecord, ...]:
    """The checkpoints that ended, each with the files that it changed; those that changed none are left out."""
    lines = tuple(lines)
    ends = {line.id: line for line in lines if isinstance(line, Ended)}
    records = (
        _as_ended(line.record, ends[line.record.id])
        for line in lines
        if isinstance(line, Begun) and line.record.id in ends
    )
    return tuple(record for record in records if record.files or record.reverts)


def unfinished(lines: Sequence[JournalLine]) -> tuple[CheckpointRecord, ...]:
    """The checkpoints that began and did not end: in progress, or interrupted."""
    ended = {line.id for line in lines if isinstance(line, Ended)}
    return tuple(line.record for line in lines if isinstance(line, Begun) and line.record.id not in ended)


def _as_ended(record: CheckpointRecord, end: Ended) -> CheckpointRecord:
    """The record with the files that were changed. A reversal that changed only some of its files reverts nothing:
    what it took back stays to be undone."""
    if end.changed is None:
        return record
    files = tuple(record.files[index] for index in end.changed if index < len(record.files))
    whole = len(files) == len(record.files)
    return structs.replace(record, files=files, reverts=record.reverts if whole else ())
