"""Resolver of references: what an id, a place in a note's file, an archive's label or a citation names.

The model's `recall`, `/recall`, the command line, the library and the citations in a message all resolve them here:

    e_4kx7m2p0q9ab, e_4kx7       an entry, by its id or a beginning that no other id has; imported ids only whole
    pg_9f3c21d07b44              a page
    m_1c9e40aa                   a note
    MEMORY.md#L3-L7, MEMORY.md:3 the notes whose lines the first line is within
    chat:c_9k2x7m0p              the newest messages of a conversation, by its whole id
    #3, house letters            an archive, by its number or its whole label (the newest of that label)
    [House · Ann · e_4kx7…]      what the citation's last part names
"""

import re
import time
from collections.abc import Callable
from itertools import islice
from typing import Final

from msgspec import Struct

from foundation.citations import CHAT, PLACE, reference_in
from foundation.program import PROGRAM
from foundation.trust import Citation
from memory.archive.rows.archives import label_doubts, page_label_doubts
from memory.archive.rows.pages import page_row
from memory.archive.vault import Vault
from memory.cold import ColdStore
from memory.cold.entries import entries_with_id
from memory.cold.unverified import unverified_answers
from memory.errors import Damaged, NewerPack, NotFound, StorageUnreachable
from memory.hot import HotMemory, NoSuchNote, Note
from memory.pages.types import ArchiveRow, PageText
from memory.passage_cache import PassageCache
from memory.recalled_passage import (
    RecalledPassage,
    passage_of_archive,
    passage_of_entry,
    passage_of_note,
    passage_of_page,
    warned,
)
from memory.records import Entry, EntryKind
from models.messages import Role

_NUMBER: Final = re.compile(r"#\d+\Z")
MESSAGES_OF_CHAT: Final = 60  # of a conversation that is referred to: its newest ones
_ENTRIES_OF_CHAT: Final = 1_000  # that are looked through for them
_PLACE: Final = re.compile(rf"{PLACE}\Z")


class PageId(Struct, frozen=True):
    """A page in the archive."""

    id: str


Target = Entry | Note | PageId | ArchiveRow
"""What a reference names."""


class References:
    """Resolves references in one memory. Safe to call from any thread."""

    def __init__(self, cold: ColdStore, hot: HotMemory, vault: Callable[[], Vault], passages: PassageCache) -> None:
        self._cold = cold
        self._hot = hot
        self._vault = vault
        self._passages = passages

    def find(self, text: str, conversation: str = "") -> tuple[Target, ...]:
        """What the reference names: several where an imported id occurs in several conversations, and of a conversation
        its messages. () for plain words.

        `conversation` (an id or a title) narrows entries to one conversation and leaves archives out. Raises NotFound
        for a reference to nothing, or one that is ambiguous.
        """
        ref = reference_in(text)
        if ref.startswith(CHAT) and len(ref.split()) == 1:
            return self._messages(ref.removeprefix(CHAT), conversation)
        if ref.startswith("pg_") and self._vault().knows(ref):
            return (PageId(ref),)
        if not conversation and (archive := self._archive(ref)):
            return (archive,)
        if notes := self._notes(ref):
            return notes
        is_words = not ref or any(letter.isspace() for letter in ref)
        return () if is_words else self._entries(ref, conversation)

    def recall(self, text: str, conversation: str = "") -> tuple[RecalledPassage, ...]:
        """The whole passages that the reference names; () for plain words. Raises NotFound, and Damaged."""
        return tuple(self.read(target) for target in self.find(text, conversation))

    def read(self, target: Target) -> RecalledPassage:
        """The whole passage. Raises NotFound where it was deleted meanwhile, and Damaged."""
        match target:
            case Entry():
                return self._entry_passage(target)
            case Note():
                return passage_of_note(target)
            case PageId(id=page_id):
                page = self._vault().read_page(page_id)
                passage = passage_of_page(page, Citation(kind="page", ref=page_id, title=page.label, page=page_id))
                return warned(passage, *self._cold.read(lambda db: page_label_doubts(db, page_id)))
            case ArchiveRow(seq=seq):
                return warned(self._archive_passage(target), *self._cold.read(lambda db: label_doubts(db, seq)))

    def _archive_passage(self, archive: ArchiveRow) -> RecalledPassage:
        """The pages that can be read. Raises Damaged where none can."""
        vault, pages, damage = self._vault(), list[PageText | None](), None
        for row in vault.pages(archive.seq):
            try:
                pages.append(vault.read_page(row.id))
            except (StorageUnreachable, NewerPack):  # nothing is known to be lost
                raise
            except Damaged as error:
                damage = error
                pages.append(None)
        if damage is not None and not any(pages):
            raise damage
        return passage_of_archive(archive, pages)

    def _entry_passage(self, entry: Entry) -> RecalledPassage:
        began = time.monotonic()
        passage = self._passages.passage(entry)
        took = round((time.monotonic() - began) * 1000, 3)
        conversation = self._cold.conversation_at(entry.conversation_seq)
        unverified = not conversation.source and bool(unverified_answers(self._cold, [entry]))
        return passage_of_entry(entry, passage, conversation, took, unverified=unverified)

    def _messages(self, id_: str, within: str) -> tuple[Entry, ...]:
        """The newest messages on the branch of the conversation of that id, in their order. Raises NotFound."""
        found = self._cold.conversation(id_) if id_ else None
        is_elsewhere = found is not None and within and self._cold.conversation(within).seq != found.seq
        if found is None or found.id != id_ or is_elsewhere:
            raise NotFound(
                "No such conversation",
                f"There is no conversation {id_} here.",
                f"`{PROGRAM} conversations list` shows their ids.",
            )
        path = islice(self._cold.path(found.leaf), _ENTRIES_OF_CHAT) if found.leaf is not None else iter(())
        spoken = (
            entry for entry in path if entry.kind is EntryKind.MESSAGE and entry.role in {Role.USER, Role.ASSISTANT}
        )
        return tuple(islice(spoken, MESSAGES_OF_CHAT))[::-1]

    def _entries(self, ref: str, conversation: str) -> tuple[Entry, ...]:
        """The entries of that id or beginning. Raises NotFound for what has the form of a reference."""
        within = self._cold.conversation(conversation).seq if conversation else None
        if entries := self._cold.read(lambda db: entries_with_id(db, ref, within)):
            return tuple(entries)
        if ref.startswith("e_"):
            return (self._cold.find(ref, within),)
        self._refuse_missing(ref)
        return ()

    def _archive(self, ref: str) -> ArchiveRow | None:
        """The archive of that number or exact label, if it has pages."""
        try:
            archive = self._vault().find_archive(ref)
        except NotFound:
            return None
        named = _NUMBER.match(ref) or archive.label == ref
        return archive if named and archive.pages else None

    def _notes(self, ref: str) -> tuple[Note, ...]:
        """The notes of that id or place, as their files are now."""
        place = _PLACE.match(ref)
        if not place and not ref.startswith("m_"):
            return ()
        self._hot.look()
        if not place:
            return tuple(note for note in self._hot.notes() if note.id == ref)
        path, line = place["path"], int(place["anchor"] or place["line"])
        return tuple(
            note for note in self._hot.notes() if note.path == path and note.line_first <= line <= note.line_last
        )

    def _refuse_missing(self, ref: str) -> None:
        """Raises NotFound for what has the form of a reference: it names nothing."""
        if ref.startswith("pg_"):
            self._cold.read(lambda db: page_row(db, ref))
        elif ref.startswith("m_"):
            self._hot.note(ref)
        elif _NUMBER.match(ref):
            self._vault().find_archive(ref)
            raise NotFound("No pages", f"Archive {ref} has no pages.", f"`{PROGRAM} archive --list` shows archives.")
        elif _PLACE.match(ref):
            raise NoSuchNote(
                "No such note",
                f"There is no note at {ref}. Notes are the entries of MEMORY.md and memory/*.md.",
                f"`{PROGRAM} memory list` shows them with their lines.",
            )


def nothing_named(text: str) -> NotFound:
    """The error for plain words, for callers that take references only."""
    return NotFound(
        "Not found",
        f"“{text}” is not an id, a line range of a note file, or an archive label.",
        f"`{PROGRAM} search` searches; `{PROGRAM} archive --list` shows the labels.",
    )
