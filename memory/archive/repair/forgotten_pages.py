"""Keeps forgotten entries forgotten: which pages of an unknown pack hold a text that the store no longer has.

A forgetting blanks the rows of entries and rewrites their packs. An old pack that comes back, as by an undelete, holds
the texts of before, and its manifest their names.
"""

from collections.abc import Iterator, Mapping

from foundation.clock import to_ms
from foundation.privacy import clear
from memory.archive.repair.diff import Fields, Key
from memory.archive.repair.from_pixels import pieces_of, pixel_page
from memory.archive.repair.reconcile import has_other_text
from memory.archive.repair.salvage import SalvagedPage
from memory.cold import ColdStore
from memory.forgotten.earlier import ForgottenEarlier


class ForgottenPages:
    """`facts` are those of the manifests of unknown packs."""

    def __init__(self, cold: ColdStore, forgotten: ForgottenEarlier, facts: Mapping[Key, Fields]) -> None:
        self._cold = cold
        self._forgotten = forgotten
        self._facts = facts
        self._listed = frozenset(key[1] for key in facts if key[0] == "page")
        self._pages = frozenset(self._of_manifests())

    def holds(self, saved: SalvagedPage) -> bool:
        """Whether the page has an entry that was forgotten, or whose text is another one since a forgetting."""
        page = saved.page.page_id
        if page in self._listed:
            return page in self._pages
        return any(
            piece.head is not None
            and self._forgotten.has_text(piece.text, to_ms(piece.head.time) if piece.head.time else 0)
            for piece in pieces_of(pixel_page(saved, "", 0))
        )

    def names(self, key: Key, fields: Fields) -> Fields:
        """A fact of an archive or a conversation, without words that were forgotten, and with its other id."""
        match key[0]:
            case "archive":
                made = fields["created_ms"]
                tags = tuple(self._forgotten.without(tag, made) for tag in fields["tags"])
                return fields | {"label": self._forgotten.without(fields["label"], made), "tags": tags}
            case "conversation":
                source, id_ = self._forgotten.known_conversation(clear(fields["source"]), clear(fields["id"]))
                title = self._forgotten.without(fields["title"], fields["created_ms"])
                return fields | {"title": title, "source": source, "id": id_}
            case _:
                return fields

    def _of_manifests(self) -> Iterator[str]:
        for key, fields in self._facts.items():
            if key[0] != "entry":
                continue
            whose = self._facts.get(("conversation", str(fields["conversation"])))
            is_forgotten = whose is not None and self._forgotten.has(whose["source"], whose["id"], fields["id"])
            if is_forgotten or self._cold.read(lambda db, fields=fields: has_other_text(db, fields)):
                yield from (span[2] for span in fields["spans"])
