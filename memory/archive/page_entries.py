"""The entries of an archived file: each page's text is one, found by its terms and read back from its pixels."""

from collections.abc import Iterable

import apsw

from foundation.clock import Clock
from foundation.privacy import Cleared
from memory.archive import ledger
from memory.archive.ledger import Bound, Span
from memory.cold.entries import Analyse, Draft, EntryKind, Terms
from memory.cold.insert import insert_conversation, insert_entry
from models.messages import Role


def insert_page_entries(
    db: apsw.Connection, clock: Clock, title: Cleared, pages: Iterable[tuple[Bound, Terms]]
) -> None:
    """A conversation of kind archive with an entry for each page, none of whose text goes to the store.

    The terms come ready: finding them takes longer than all else here, and the store is locked meanwhile.
    """
    conversation = insert_conversation(db, clock, title, kind="archive")
    parent: int | None = None
    for page, terms in pages:
        draft = Draft(
            conversation=conversation.seq,
            parent=parent,
            kind=EntryKind.PAGE,
            role=Role.USER,
            text=Cleared(page.text),  # a part of what was cleared
            meta={"page": page.id, "number": page.number},
        )
        entry = insert_entry(db, draft, clock=clock, analyse=_ready(terms), keep_text=False)
        parent = entry.seq
        ledger.insert_spans(db, entry.seq, [Span(0, len(page.text), page.id, 0)])


def _ready(terms: Terms) -> Analyse:
    return lambda _text, _speaker: terms
