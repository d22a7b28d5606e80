"""Finds the words that a change replaces: those that the request holds and no file does."""

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from context.assembly.view import BranchView
from context.epoch import EpochState
from context.layers.project import MEMORY, NEWEST
from foundation.text.analysis import plain_words
from foundation.text.similarity import overlap
from memory.hot import Note
from memory.hot.parse import parse
from models.messages import RecalledSpan

MOST_CHARACTERS = 800  # of replaced words that one change names
_ALIKE = 0.5  # of the shorter note's words: the same note, rewritten
_MARK = re.compile(r"^\s*(?:[-*+]|#{1,6}|>|\d{1,3}[.)])\s+")


class NotesInContext(Struct, frozen=True):
    """The notes' text as the request holds it: by id, and recalled passages by their source."""

    notes: Mapping[str, Note]
    told: Mapping[str, str]
    recalled: Mapping[tuple[str, str, str], str]

    def words_at(self, id_: str) -> str:
        """The text of the note with this id in the request; "" for none."""
        if id_ in self.told:
            return self.told[id_]
        note = self.notes.get(id_)
        return _words(note) if note else ""

    def words_of(self, note: Note) -> str:
        """The same for a note that still exists, recalled passages included."""
        return self.words_at(note.id) or self.recalled.get((note.path, note.heading, str(note.time)), "")

    def successors(self, gone: Iterable[str], new: Sequence[Note]) -> dict[str, str]:
        """For a new note that replaces a deleted one: that one's id."""
        found: dict[str, str] = {}
        for id_ in gone:
            then = self.notes.get(id_)
            if then is None:
                continue
            ranks = [(rank, n) for n, note in enumerate(new) if note.id not in found and (rank := _same(then, note))]
            if ranks:
                found[new[max(ranks, key=lambda one: (one[0], -one[1]))[1]].id] = id_
        return found


def old_notes(state: EpochState, in_view: frozenset[int], recalled: Sequence[RecalledSpan]) -> NotesInContext:
    """The notes as the head, the reported changes and the recalled passages in view hold them."""
    texts = [piece.text.partition(f"\n{NEWEST}")[0] for piece in state.pieces if piece.source == MEMORY]
    told = {key.removeprefix("note "): said.words for key, said in state.told.items() if said.entry in in_view}
    passages = {
        (part.citation.ref, part.citation.title, str(part.citation.time)): part.text
        for part in recalled
        if part.citation.kind == "memory"
    }
    held = {note.id: note for text in texts for note in parse(text, MEMORY)}
    return NotesInContext(held, {key: words for key, words in told.items() if words}, passages)


def passages_in(view: BranchView) -> tuple[RecalledSpan, ...]:
    """The passages that messages in view recalled."""
    return tuple(part for entry in view.entries for part in entry.sent if isinstance(part, RecalledSpan))


def current_passages(passages: Iterable[RecalledSpan], notes: Sequence[Note]) -> tuple[tuple[str, str], ...]:
    """Reference and text of each passage, without those of notes whose text is gone."""
    return tuple(
        (part.citation.ref, part.text)
        for part in passages
        if part.citation.kind != "memory"
        or any(note.path == part.citation.ref and part.text.removesuffix("…").strip() in note.text for note in notes)
    )


def replaced_lines(before: str, now: str) -> tuple[str, ...]:
    """The lines of `before`, without list and heading marks, that `now` does not have."""
    stand = {_bare(line) for line in now.split("\n")}
    found: dict[str, None] = {}
    room = MOST_CHARACTERS
    for line in map(_bare, before.split("\n")):
        if line and line not in stand and line not in found and len(line) <= room:
            found[line] = None
            room -= len(line)
    return tuple(found)


def _bare(line: str) -> str:
    return _MARK.sub("", line).strip()


def _words(note: Note) -> str:
    return f"{note.heading}\n{note.text}" if note.heading else note.text


def _same(then: Note, now: Note) -> float:
    """How likely `now` is a new version of `then`: 0 for another note."""
    if then.path != now.path:
        return 0.0
    if then.time is not None and then.time == now.time:
        return 3.0
    if then.time is not None and now.time is not None:
        return 0.0
    if then.heading and then.heading == now.heading:
        return 2.0
    share = overlap(*(set(plain_words(_words(note).casefold())) for note in (then, now)))
    return share if share >= _ALIKE else 0.0
