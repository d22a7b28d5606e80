"""Detection of stale text: text in the request that a change of memory has replaced."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from context.assembly.view import BranchView
from context.epoch import EpochState
from context.layers.project import MEMORY, NEWEST
from foundation.clock import iso
from foundation.text.analysis import plain_words
from foundation.text.similarity import overlap
from memory.hot import Note
from memory.hot.parse import parse
from memory.search.results.contradictions import superseded_texts
from models.messages import RecalledSpan, Role

MOST_CHARACTERS = 800  # of replaced text that one change reports
_ALIKE = 0.5  # overlap of the words with the shorter note, from which a note counts as rewritten
_MARK = re.compile(r"^\s*(?:[-*+]|#{1,6}|>|\d{1,3}[.)])\s+")


class NotesInContext(Struct, frozen=True):
    """Text of the notes in the request: by id, and recalled passages by their source."""

    notes: Mapping[str, Note]
    reported: Mapping[str, str]
    recalled: Mapping[tuple[str, str, str], str]

    def text_at(self, id_: str) -> str:
        """Text of the note with this id in the request; "" for none."""
        if id_ in self.reported:
            return self.reported[id_]
        note = self.notes.get(id_)
        return _note_text(note) if note else ""

    def text_of(self, note: Note) -> str:
        """Text of an existing note in the request, recalled passages included; "" for none."""
        return self.text_at(note.id) or self.recalled.get((note.path, note.heading, str(note.time)), "")

    def successors(self, deleted: Iterable[str], new: Sequence[Note]) -> dict[str, str]:
        """Maps the id of each new note that replaces a deleted one to the id of the deleted note."""
        matches: dict[str, str] = {}
        for id_ in deleted:
            old_note = self.notes.get(id_)
            if old_note is None:
                continue
            ranks = [
                (rank, n)
                for n, note in enumerate(new)
                if note.id not in matches and (rank := _succession_score(old_note, note))
            ]
            if ranks:
                matches[new[max(ranks, key=lambda pair: (pair[0], -pair[1]))[1]].id] = id_
        return matches


def old_notes(state: EpochState, in_view: frozenset[int], recalled: Sequence[RecalledSpan]) -> NotesInContext:
    """Collects the notes in the head, the reported changes and the recalled passages in view."""
    texts = [piece.text.partition(f"\n{NEWEST}")[0] for piece in state.pieces if piece.source == MEMORY]
    reported = {
        key.removeprefix("note "): change.words for key, change in state.told.items() if change.entry in in_view
    }
    passages = {
        (part.citation.ref, part.citation.title, str(part.citation.time)): part.text
        for part in recalled
        if part.citation.kind == "memory"
    }
    head_notes = {note.id: note for text in texts for note in parse(text, MEMORY)}
    return NotesInContext(head_notes, {key: text for key, text in reported.items() if text}, passages)


def passages_in(view: BranchView) -> tuple[RecalledSpan, ...]:
    """Passages recalled for messages in view."""
    return tuple(part for entry in view.entries for part in entry.sent if isinstance(part, RecalledSpan))


def current_passages(passages: Iterable[RecalledSpan], notes: Sequence[Note]) -> tuple[tuple[str, str], ...]:
    """Reference and text of each passage, except passages of notes whose text no longer exists."""
    return tuple(
        (part.citation.ref, part.text)
        for part in passages
        if part.citation.kind != "memory"
        or any(note.path == part.citation.ref and part.text.removesuffix("…").strip() in note.text for note in notes)
    )


def superseded_statements(
    message: str, now: datetime, view: BranchView, recalled: Iterable[RecalledSpan]
) -> dict[str, str]:
    """Maps the reference of each entry, in view or recalled, that its speaker contradicted later in the conversation to
    the day of the newest contradiction. The message itself, sent `now`, is the newest."""
    statements = {
        entry.id: (entry.time, entry.said_by, entry.text)
        for entry in view.entries
        if entry.role is Role.USER and entry.text
    }
    for part in recalled:
        is_answer = part.unverified or part.citation.speaker == Role.ASSISTANT.value
        if part.time and part.citation.kind == "entry" and not is_answer:
            statements.setdefault(part.citation.ref, (part.time, part.citation.speaker, part.text))
    said = [(*statement, ref) for ref, statement in statements.items()]
    said.sort(key=lambda statement: statement[0])
    said.append((now, Role.USER.value, message, ""))
    newest = superseded_texts([(speaker, text) for _, speaker, text, _ in said], message)
    return {said[old][3]: iso(said[new][0])[:10] for old, new in newest.items()}


def replaced_lines(before: str, after: str) -> tuple[str, ...]:
    """Lines of `before`, without list and heading marks, that `after` does not contain."""
    current_lines = {_without_mark(line) for line in after.split("\n")}
    replaced: dict[str, None] = {}
    room = MOST_CHARACTERS
    for line in map(_without_mark, before.split("\n")):
        if line and line not in current_lines and line not in replaced and len(line) <= room:
            replaced[line] = None
            room -= len(line)
    return tuple(replaced)


def _without_mark(line: str) -> str:
    return _MARK.sub("", line).strip()


def _note_text(note: Note) -> str:
    return f"{note.heading}\n{note.text}" if note.heading else note.text


def _succession_score(before: Note, after: Note) -> float:
    """Score for `after` being a new version of `before`: 0 for an unrelated note."""
    if before.path != after.path:
        return 0.0
    if before.time is not None and before.time == after.time:
        return 3.0
    if before.time is not None and after.time is not None:
        return 0.0
    if before.heading and before.heading == after.heading:
        return 2.0
    share = overlap(*(set(plain_words(_note_text(note).casefold())) for note in (before, after)))
    return share if share >= _ALIKE else 0.0
