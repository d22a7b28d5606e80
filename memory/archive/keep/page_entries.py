"""The entries of an archived file: each page's text is one, found by its terms and read back from its pixels."""

from collections.abc import Sequence

import apsw

from foundation.clock import Clock
from foundation.privacy import Cleared, cleared_fields, part_of
from memory.cold.insert import insert_conversation, insert_entry
from memory.cold.records import Analyse, Draft, EntryKind, Terms
from memory.pages.types import PageRow
from models.messages import Role


class PageEntry:
    """A page that an entry is to stand for; `seq` is the entry's, once it is inserted. `number` counts from 1.

    `start` is where its characters begin in the file's text.
    """

    def __init__(self, row: PageRow, number: int, start: int, terms: Terms) -> None:
        self.row = row
        self.number = number
        self.start = start
        self.terms = terms
        self.seq = 0


def insert_page_entries(  # noqa: PLR0917 — the conversation, and what its entries are made of
    db: apsw.Connection, clock: Clock, title: Cleared, kind: str, text: Cleared, pages: Sequence[PageEntry]
) -> int:
    """A conversation of that kind with an entry for each page, none of whose text goes to the store; its seq.

    `text` is the file's. No page's own is held longer than its row is written.
    """
    conversation = insert_conversation(db, clock, title, kind=kind)
    parent: int | None = None
    for page in pages:
        draft = Draft(
            conversation=conversation.seq,
            parent=parent,
            kind=EntryKind.PAGE,
            role=Role.USER,
            text=part_of(text, page.start, page.start + page.row.chars),
            meta=cleared_fields({"page": page.row.id, "number": page.number}),
        )
        page.seq = parent = insert_entry(db, draft, clock=clock, analyse=_ready(page.terms), keep_text=False).seq
    return conversation.seq


def _ready(terms: Terms) -> Analyse:
    return lambda _text, _speaker, _meta=None: terms
