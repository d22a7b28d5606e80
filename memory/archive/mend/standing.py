"""What still stands of an entry with damaged pages: the rest of it, with marks in the places of what is lost."""

from typing import Protocol

from msgspec import Struct

from foundation.trust import Trust
from memory.archive.index import ledger
from memory.archive.index.ledger import Span
from memory.cold import ColdStore, Entry
from memory.errors import MemoryTrouble, NotFound, Unreachable
from memory.pages.types import PageText, Passage


class Reads(Protocol):
    """What is needed of the vault."""

    def entry_text(self, entry: Entry) -> Passage: ...

    def read_page(self, page_id: str) -> PageText: ...


class Standing(Struct, frozen=True):
    """The text as far as it stands; `troubles` are sentences, none where it stands to the letter."""

    text: str
    lost: tuple[str, ...] = ()  # ids of pages, or the entry's own where the store lost it
    troubles: tuple[str, ...] = ()
    exact: bool = True  # to the letter what was stored: its SHA-256 is the index's


def standing_text(vault: Reads, cold: ColdStore, entry: Entry) -> Standing:
    """The entry's text. Raises Unreachable where its pages cannot be asked for just now, and nothing else."""
    odd = tuple(f"Entry {entry.id}: its {column} is damaged." for column in entry.damaged if column != "text")
    try:
        passage = vault.entry_text(entry)
    except Unreachable:
        raise
    except MemoryTrouble as error:
        return _parts(vault, cold, entry, odd, error)
    if passage.trust is not Trust.EXACT:
        why = tuple(f"Entry {entry.id}: {sentence[0].lower()}{sentence[1:]}" for sentence in passage.told)
        return Standing(passage.text, (), why, exact=False)
    return Standing(passage.text, (), odd)


def _parts(vault: Reads, cold: ColdStore, entry: Entry, odd: tuple[str, ...], error: MemoryTrouble) -> Standing:
    spans = cold.read(lambda db: ledger.spans_of(db, entry.seq))
    if not spans:
        why = f"the text of entry {entry.id} is damaged"
        return Standing(f"[lost: {why}]", (entry.id,), (*odd, f"Entry {entry.id}: {error.message}"), exact=False)
    parts, lost = list[str](), list[str]()
    for span in spans:
        text = _stretch(vault, span)
        if text is None and span.page not in lost:
            lost.append(span.page)
            parts.append(f"[lost: page {span.page} is damaged]")
        parts.append(text or "")
    told = tuple(f"Entry {entry.id}: what stands of it on page {page} is lost." for page in lost)
    if not told:  # its pages are there, and one of them is not the one that should be
        told = (f"Entry {entry.id}: its text is not to the letter; a page is damaged.",)
    return Standing("".join(parts), tuple(lost), (*odd, *told), exact=False)


def _stretch(vault: Reads, span: Span) -> str | None:
    try:
        text = vault.read_page(span.page).text
    except Unreachable:
        raise
    except (MemoryTrouble, NotFound):
        return None
    return text[span.page_start : span.page_start + span.length]
