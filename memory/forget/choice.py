"""What a person names to be forgotten, as entries, whole conversations and lines of notes."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path

from msgspec import Struct, field

from foundation.clock import to_ms
from foundation.errors import Misuse
from foundation.text.folding import fold
from memory.cold.encoding import to_text
from memory.cold.sql import fetch
from memory.errors import Damaged, NotFound
from memory.forget.copies import look_at_copies
from memory.forget.named_files import (
    NamedFile,
    SeveralFiles,
    exact_files,
    files_ending_in,
    note_at,
    only_file,
    typed_path,
)
from memory.forget.scan import is_note
from memory.forget.spellings import Spellings
from memory.forget.work import DERIVED, entry_bytes
from memory.forgotten.tombstones import OTHER_CONVERSATION
from memory.hot.note import Note
from memory.hot.parse import lines_of
from memory.memory import Memory
from memory.records import Conversation

SHORTEST_PHRASE = 2  # characters
_HOLDS = "contains the text"
_OF_ID = "SELECT seq FROM conversations WHERE id = ? AND kind = 'chat' ORDER BY seq"
_TITLES = """SELECT title FROM conversations
    UNION ALL SELECT CAST(source || char(10) || name || char(10) || root AS BLOB) FROM knowledge"""


class NamedLine(Struct, frozen=True):
    """A line of a note: its file's relative name, its number from 1, and its text."""

    file: str
    number: int
    text: str


class Chosen(Struct, kw_only=True):
    """What was named. `entries` are seqs, each with why it goes. `words` are how the phrase is written where it was
    found; none where no phrase was named. `names` are ids of imports that were named: they go as whole words.
    `past` are lines that only versions of a file hold. `same_id` are conversations whose id is the phrase: they stay.
    `file_name` is what was named where it is read as a file's name."""

    title: str
    entries: dict[int, str] = field(default_factory=dict[int, str])
    conversations: dict[int, None] = field(default_factory=dict[int, None])
    lines: dict[NamedLine, None] = field(default_factory=dict[NamedLine, None])
    past: dict[NamedLine, None] = field(default_factory=dict[NamedLine, None])
    words: dict[str, None] = field(default_factory=dict[str, None])
    names: dict[str, None] = field(default_factory=dict[str, None])
    same_id: tuple[int, ...] = ()
    file_name: str = ""


def choose_named(memory: Memory, name: str, here: Path | None = None) -> Chosen:
    """What an id, a file or a phrase names. An id is of an entry, a note, a page, an archive (`#3`), a file that was
    added or a conversation that began here; a file is one of the notes, or one that was added, by its name, its path
    in the folder `here`, or the end of either. All else is a phrase, also the id of an imported conversation: it may be
    a word. Raises SeveralFiles."""
    for choose in (_entries_of_id, _note, partial(_file, here=here), _archive, _own_conversation, _file_by_end):
        try:
            if (chosen := choose(memory, name)) is not None:
                return chosen
        except SeveralFiles:
            raise
        except (NotFound, Misuse):
            continue
    chosen = choose_words(memory, name)
    chosen.same_id = tuple(seq for (seq,) in memory.cold.read(lambda db: fetch(db, _OF_ID, (name,))))
    return chosen


def choose_words(memory: Memory, phrase: str) -> Chosen:
    """Every entry whose text holds the phrase, and every line of a note that does, folded as search folds it, with any
    white space between words. Of an entry that holds it elsewhere, as in its id or in a passage that was recalled with
    it, only that goes.

    Pages of files and knowledge go with the whole file. Raises Misuse for a phrase that is too short.
    """
    if len("".join(fold(phrase).split())) < SHORTEST_PHRASE:
        raise Misuse("Too short", f"“{phrase}” is too short.", "Give at least two characters, or an id.")
    spellings, chosen = Spellings(phrase), Chosen(title=f"“{phrase}”")
    whole = _whole_kinds(memory)
    for batch in entry_bytes(memory):
        for entry in batch:
            spellings.note(to_text(b"\0".join((entry.meta, entry.names, entry.sent))))
            if spellings.note(to_text(entry.text)) and entry.kind not in DERIVED:  # they are made anew
                _take(chosen, whole, entry.seq, entry.conversation, _HOLDS)
    chosen.lines.update(dict.fromkeys(_lines_where(memory, spellings.note)))
    for title in (*_titles(memory), *(file.path for file in memory.hot.files())):
        spellings.note(title)
    look_at_copies(memory, spellings.note_bytes)
    chosen.words.update(spellings.all)
    return chosen


def choose_conversation(memory: Memory, ref: str) -> Chosen:
    """A conversation, and those of the questions that were delegated in it. Raises NotFound."""
    conversation = memory.conversations.find(ref)
    return chosen_conversations(memory, conversation)


def chosen_conversations(memory: Memory, *conversations: Conversation) -> Chosen:
    """The same for conversations that were found."""
    names = [f"“{conversation.title or conversation.id}”" for conversation in conversations[:3]]
    more = f" and {len(conversations) - 3:,} more" if len(conversations) > 3 else ""
    chosen = Chosen(title=f"the conversation {', '.join(names)}{more}")
    for conversation in conversations:
        for each in (conversation, *memory.conversations.delegated(conversation.seq)):
            chosen.conversations[each.seq] = None
    return chosen


def choose_before(memory: Memory, moment: datetime) -> Chosen:
    """Conversations that ended before then, and the earlier entries of the others."""
    chosen = Chosen(title=f"everything from before {moment:%Y-%m-%d}")
    ms = to_ms(moment)
    ended = "SELECT c.seq FROM conversations c WHERE c.updated_ms < ? AND c.kind <> 'knowledge'"
    chosen.conversations.update((seq, None) for (seq,) in memory.cold.read(lambda db: fetch(db, ended, (ms,))))
    older = """SELECT e.seq FROM entries e JOIN conversations c ON c.seq = e.conversation
               WHERE e.time_ms < ? AND c.updated_ms >= ? AND c.kind IN ('chat', 'delegate') ORDER BY e.seq"""
    why = f"from before {moment:%Y-%m-%d}"
    chosen.entries.update((seq, why) for (seq,) in memory.cold.read(lambda db: fetch(db, older, (ms, ms))))
    memory.hot.look()
    for note in memory.hot.notes():
        if note.time is not None and note.time < moment:
            chosen.lines.update(dict.fromkeys(_lines_of_note(memory, note)))
    return chosen


def _entries_of_id(memory: Memory, name: str) -> Chosen | None:
    page = name.startswith("pg_")
    if page:
        spans = "SELECT entry FROM spans WHERE page = ?"
        seqs = [seq for (seq,) in memory.cold.read(lambda db: fetch(db, spans, (name,)))]
        found = list(memory.conversations.entries(seqs).values())
    else:
        found = memory.conversations.entries_named(name)
        if not found and name.startswith(("e_", "i_")):
            found = [memory.conversations.find_entry(name)]
    if not found:
        return None
    chosen, whole = Chosen(title=f"{name}"), _whole_kinds(memory)
    if any(entry.id == name and memory.conversations.at(entry.conversation_seq).source for entry in found):
        chosen.names[name] = None
    for entry in found:
        _take(chosen, whole, entry.seq, entry.conversation_seq, f"on page {name}" if page else "named")
    return chosen


def _note(memory: Memory, name: str) -> Chosen | None:
    memory.hot.look()
    note = next((note for note in memory.hot.notes() if name in {note.id, note.ref}), None)
    if note is None:
        return None
    return Chosen(title=f"the note {note.ref}", lines=dict.fromkeys(_lines_of_note(memory, note)))


def _file(memory: Memory, name: str, here: Path | None = None) -> Chosen | None:
    path = typed_path(name, here)
    for note in filter(None, (name, note_at(memory.workspace, path))):
        if (chosen := _note_file(memory, note, name)) is not None:
            return chosen
    file = only_file(name, exact_files(memory, name, path))
    return _whole_file(file, name) if file else None


def _file_by_end(memory: Memory, name: str) -> Chosen | None:
    memory.hot.look()
    file = only_file(name, files_ending_in(memory, name))
    if file is None:
        return _note_file(memory, f"memory/{name}", name)  # one that is gone
    return _whole_file(file, name) if file.conversations else _note_file(memory, file.name, name)


def _note_file(memory: Memory, note: str, name: str) -> Chosen | None:
    memory.hot.look()
    if any(file.path == note for file in memory.hot.files()):
        lines = _lines_where(memory, lambda text: bool(text.strip()), note)
        return Chosen(title=f"all of {note}", lines=dict.fromkeys(lines), file_name=name)
    if is_note(note) and memory.versions.store.versions(note):
        return Chosen(title=f"all of {note}", past=dict.fromkeys(_past_lines(memory, note)), file_name=name)
    return None


def _whole_file(file: NamedFile, name: str) -> Chosen:
    return Chosen(
        title=f"the file {file.name} with its whole text",
        conversations=dict.fromkeys(file.conversations),
        file_name="" if name in file.ids else name,
    )


def _archive(memory: Memory, name: str) -> Chosen | None:
    archive = memory.vault.find_archive(name)
    if archive.conversation is None:
        return None
    conversation = memory.conversations.at(archive.conversation)
    if conversation.kind in {"archive", "knowledge"}:
        return chosen_conversations(memory, conversation)
    return None


def _own_conversation(memory: Memory, name: str) -> Chosen | None:
    return choose_conversation(memory, name) if name.startswith(("c_", OTHER_CONVERSATION)) else None


def _whole_kinds(memory: Memory) -> frozenset[int]:
    """Conversations that stand for a file: a part of one is not forgotten alone."""
    sql = "SELECT seq FROM conversations WHERE kind IN ('archive', 'knowledge')"
    return frozenset(seq for (seq,) in memory.cold.read(lambda db: fetch(db, sql)))


def _take(chosen: Chosen, whole: frozenset[int], entry: int, conversation: int, why: str) -> None:
    if conversation in whole:
        chosen.conversations[conversation] = None
    else:
        chosen.entries[entry] = why


def _lines_where(memory: Memory, holds: Callable[[str], bool], name: str = "") -> Iterator[NamedLine]:
    memory.hot.look()
    for file in memory.hot.files():
        if name in {"", file.path}:
            for number, line in enumerate(lines_of(file.text), 1):
                if holds(line):
                    yield NamedLine(file.path, number, line.rstrip("\r\n"))


def _past_lines(memory: Memory, name: str) -> Iterator[NamedLine]:
    """The lines with words that versions of a note hold which is gone."""
    store = memory.versions.store
    for version in store.versions(name):
        with suppress(Damaged):
            for number, line in enumerate(lines_of(store.body(version).decode("utf-8", "replace")), 1):
                if line.strip():
                    yield NamedLine(name, number, line.rstrip("\r\n"))


def _lines_of_note(memory: Memory, note: Note) -> list[NamedLine]:
    lines = _lines_where(memory, lambda text: bool(text.strip()), note.path)
    return [line for line in lines if note.line_first <= line.number <= note.line_last]


def _titles(memory: Memory) -> list[str]:
    return [to_text(title) for (title,) in memory.cold.read(lambda db: fetch(db, _TITLES))]
