"""Putting words into a memory, and asking for them."""

from datetime import UTC, datetime
from typing import Any

from foundation.privacy import as_given
from memory.memory import Memory
from memory.records import Entry, EntryDraft, EntryKind
from memory.search import Query, SearchResults
from models.messages import Role


class Talk:
    """Conversations are made as they are named."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.seqs: dict[str, int] = {}

    def conversation(self, name: str) -> int:
        if name not in self.seqs:
            self.seqs[name] = self.memory.cold.new_conversation(as_given(name), id=name).seq
        return self.seqs[name]

    def say(self, text: str, *, to: str = "c", speaker: str = "", day: str = "2026-03-01", **more: Any) -> Entry:
        return self.memory.cold.append(self.draft(text, to=to, speaker=speaker, day=day, **more))

    def draft(self, text: str, *, to: str = "c", speaker: str = "", day: str = "2026-03-01", **more: Any) -> EntryDraft:
        return EntryDraft(
            conversation=self.conversation(to),
            parent=None,
            kind=more.pop("kind", EntryKind.MESSAGE),
            role=more.pop("role", Role.USER),
            text=as_given(text),
            speaker=speaker,
            time=datetime.fromisoformat(day).replace(tzinfo=UTC),
            **more,
        )

    def ask(self, text: str = "", **more: Any) -> SearchResults:
        return self.memory.search.query(Query(text=text, **more))

    def found(self, text: str = "", **more: Any) -> list[str]:
        """The snippets of what is found."""
        return [hit.snippet for hit in self.ask(text, **more).hits]
