"""Recovers entries that the database has lost and a conversation's mirror still has."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import apsw
from msgspec import Struct, structs

from foundation.clock import to_ms
from foundation.privacy import TextSource, clear, cleared_fields
from memory.cold import ColdStore, deletions
from memory.cold.conversations import insert_conversation, set_leaf
from memory.cold.encoding import digest, plain, to_bytes
from memory.cold.mirrors.parse import Mirror, MirrorTurn, read_mirrors
from memory.cold.mirrors.render import comment_of
from memory.cold.sql import fetch, first
from memory.forgotten.earlier import ForgottenEarlier
from memory.records import MIRROR, RESTORED_FROM, EntryDraft, IntegrityProblem

_OURS = re.compile(r"e_[0-9a-z]+", re.ASCII)
MARK = {RESTORED_FROM: MIRROR}
"""Meta of an entry that came back so: its moment is right to the minute, and its words are never exact."""


class MissingTurns(Struct, frozen=True):
    """A mirror, and its turns that the database lacks."""

    mirror: Mirror
    turns: tuple[MirrorTurn, ...]

    @property
    def problem(self) -> IntegrityProblem:
        count = "1 entry that is" if len(self.turns) == 1 else f"{len(self.turns):,} entries that are"
        where = f"conversations/{self.mirror.name}"
        return IntegrityProblem("mirror", where, f"It contains {count} not in the database.")


class MirrorRecovery:
    """The mirrors in one folder, compared with one store."""

    def __init__(self, folder: Path, cold: ColdStore) -> None:
        self._folder = folder
        self._cold = cold

    def missing(self) -> list[MissingTurns]:
        """Turns that mirrors have and the store lacks; deleted ones stay deleted."""
        deleted = self._cold.read(_deleted)
        # unescaped mirrors come last: their text may forge an id
        mirrors = sorted(self._mirrors(), key=lambda mirror: not mirror.escaped)
        lost_turns = [
            (mirror, self._lost_of(mirror))
            for mirror in mirrors
            if deletions.token_of(plain(mirror.source), plain(mirror.id)) not in deleted
        ]
        return [MissingTurns(mirror, turns) for mirror, turns in lost_turns if turns]

    def text(self, id_: str, sha256: bytes) -> str | None:
        """The exact text of an entry, where a mirror has it."""
        return next((text for text in self._texts.get(id_, ()) if digest(to_bytes(text)) == sha256), None)

    def restore(self, missing: Sequence[MissingTurns]) -> None:
        """Adds the turns to their conversations, one transaction per mirror. Existing entries stay unchanged."""
        for turns in missing:
            self._cold.write(lambda db, turns=turns: self._put(db, turns))

    def _mirrors(self) -> Iterator[Mirror]:
        """The mirrors, without ids, sources, titles and speakers that were forgotten since."""
        forgotten = ForgottenEarlier.beside(self._cold.database)
        for mirror in read_mirrors(self._folder):
            if forgotten and mirror.turns:
                made = to_ms(mirror.created or mirror.turns[0].time)
                source, id_ = forgotten.known_conversation(clear(mirror.source), clear(mirror.id))
                turns = tuple(
                    structs.replace(turn, speaker=forgotten.without(turn.speaker, to_ms(turn.time)))
                    for turn in mirror.turns
                )
                title = forgotten.without(mirror.title, made)
                yield structs.replace(mirror, source=source, id=id_, title=title, turns=turns)
            else:
                yield mirror

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for mirror in read_mirrors(self._folder):
            for turn in mirror.turns:
                found.setdefault(turn.id, []).append(turn.text)
        return found

    def _lost_of(self, mirror: Mirror) -> tuple[MirrorTurn, ...]:
        have = self._cold.read(lambda db: _entries(db, mirror))
        return tuple(
            turn
            for turn in mirror.turns
            if turn.id not in have and not self._cold.read(lambda db, turn=turn: _is_there(db, mirror, turn))
        )

    def _put(self, db: apsw.Connection, missing: MissingTurns) -> None:
        mirror = missing.mirror
        have, parent = _entries(db, mirror), None
        lost = {turn for turn in missing.turns if turn.id not in have and not _is_there(db, mirror, turn)}  # still
        if not lost:
            return
        title = "" if mirror.title == mirror.id else mirror.title
        created = mirror.created or mirror.turns[0].time
        conversation = insert_conversation(
            db, self._cold.clock, clear(title), source=clear(mirror.source), id=clear(mirror.id), created=created
        )
        for turn in mirror.turns:
            if turn not in lost:
                parent = have.get(turn.id, parent)
                continue
            free = turn.id not in have and not _is_claimed(db, turn.id)
            parent = self._cold.insert(db, _draft(conversation.seq, parent, turn, turn.id if free else "")).seq
            have.setdefault(turn.id, parent)
        if conversation.leaf is not None and mirror.turns[-1] not in lost:
            set_leaf(db, conversation.seq, conversation.leaf)


def _deleted(db: apsw.Connection) -> set[str]:
    """Tokens of conversations that were deleted and not imported again."""
    return {deletion.token for deletion in deletions.deletions(db)} - deletions.tokens(db).keys()


def _is_there(db: apsw.Connection, mirror: Mirror, turn: MirrorTurn) -> bool:
    """Whether the store has the turn's text: under its id, or in its conversation where another entry has that id."""
    sha256 = digest(to_bytes(turn.text))
    if first(db, "SELECT 1 FROM entries WHERE id = ? AND sha256 = ?", (turn.id, sha256)):
        return True
    if not _is_claimed(db, turn.id):
        return False
    sql = """SELECT 1 FROM entries e JOIN conversations c ON c.seq = e.conversation
             WHERE c.source = ? AND c.id = ? AND e.sha256 = ?"""
    return first(db, sql, (plain(mirror.source), plain(mirror.id), sha256)) is not None


def _is_claimed(db: apsw.Connection, id_: str) -> bool:
    """Whether the store has an entry with that id, and the id is one that the program generated: it is unique. Ids of
    an import may be the same in several conversations."""
    return bool(_OURS.fullmatch(id_)) and first(db, "SELECT 1 FROM entries WHERE id = ?", (id_,)) is not None


def _draft(conversation: int, parent: int | None, turn: MirrorTurn, id_: str) -> EntryDraft:
    return EntryDraft(
        conversation=conversation,
        parent=parent,
        kind=turn.kind,
        role=turn.role,
        text=clear(turn.text, TextSource.OTHER),
        id=clear(id_),
        speaker=clear(turn.speaker),
        time=turn.time,
        meta=cleared_fields(MARK if turn.complete else {**MARK, "cut_off": True}),
    )


def _entries(db: apsw.Connection, mirror: Mirror) -> dict[str, int]:
    """Seqs of the entries of the mirror's conversation, by the ids of the mirror."""
    sql = """SELECT e.id, e.seq FROM entries e JOIN conversations c ON c.seq = e.conversation
             WHERE c.source = ? AND c.id = ?"""
    return {comment_of(id_): seq for id_, seq in fetch(db, sql, (plain(mirror.source), plain(mirror.id)))}
