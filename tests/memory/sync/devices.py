"""Workspaces of one owner on several devices, each with a clock of its own, and the folder between them."""

from pathlib import Path
from typing import Any

from agent.services.foreign_deletion import ForeignDeletions
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.backup.place import BackupPlace, LocalPlace
from memory.cold.encoding import to_bytes
from memory.cold.sql import fetch
from memory.memory import Memory
from memory.records import Conversation, Entry, EntryDraft, EntryKind
from memory.sync.encryption import Keys
from memory.sync.place import SYNC
from memory.sync.sync import Sync, SyncResult
from models.messages import Role
from tests.fakes import FakeClock


class Laptop:
    """A device: its workspace, its clock, and what a person does on it."""

    def __init__(
        self, root: Path, name: str, *, skew_s: float = 0, keys: Keys | None = None, ask_above: int | None = None
    ) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.name = name
        self.clock = FakeClock()
        self.clock.advance(skew_s)
        self.keys = keys
        self.ask_above = ask_above
        self.added = set[str]()
        self.workspace = Workspace(root)
        self.open()
        self.sync.begin(name)

    def open(self) -> None:
        self.memory = Memory.open(self.workspace, self.clock, read_only=False)
        port = ForeignDeletions(self.memory)
        encrypts = self.keys is not None
        self.sync = Sync(self.memory, port, keys=self.keys, encrypts=encrypts, ask_above=self.ask_above)

    def close(self) -> None:
        self.memory.close()

    def say(self, conversation: Conversation, text: str, role: Role = Role.USER, **fields: Any) -> Entry:
        self.clock.advance(1)
        current = self.memory.conversations.at(conversation.seq)
        draft = EntryDraft(
            conversation=conversation.seq,
            parent=current.leaf,
            role=role,
            text=clear(text),
            **{"kind": EntryKind.MESSAGE, **fields},
        )
        return self.memory.conversations.append(draft)

    def talk(self, *texts: str, title: str = "Trip") -> Conversation:
        conversation = self.memory.conversations.new(clear(title))
        for text in texts:
            self.say(conversation, text)
        return conversation

    def found(self, conversation: Conversation) -> Conversation:
        """The same conversation here."""
        return self.memory.conversations.find(conversation.id)

    def delete(self, conversation: Conversation) -> None:
        ForeignDeletions(self.memory).delete(self.found(conversation))

    def run(self, place: Path | BackupPlace) -> SyncResult:
        self.clock.advance(1)
        opened = LocalPlace(place, SYNC) if isinstance(place, Path) else place
        if opened.name not in self.added:
            opened.make()  # as `sync add` does
            self.added.add(opened.name)
        return self.sync.run(opened)


class Hidden(LocalPlace):
    """The folder without some of its files."""

    def __init__(self, folder: Path, hidden: set[str]) -> None:
        super().__init__(folder, SYNC)
        self._hidden = hidden

    def sizes(self) -> dict[str, int]:
        return {name: size for name, size in super().sizes().items() if name not in self._hidden}


def state_of(device: Laptop) -> dict[str, Any]:
    """What all devices hold alike: entries by their ids, titles, labels, deletions, notes. A note that one device
    deleted is empty on the others."""

    def read(db: Any) -> dict[str, Any]:
        entries = fetch(
            db,
            """SELECT c.source, c.id, e.id, p.id, e.kind, e.role, e.speaker, e.time_ms, e.sha256, e.complete
               FROM entries e JOIN conversations c ON c.seq = e.conversation LEFT JOIN entries p ON p.seq = e.parent
               WHERE e.kind <> 'observation'""",
        )
        titles = fetch(db, "SELECT source, id, title FROM conversations")
        labels = fetch(db, "SELECT source, id, label FROM labels JOIN conversations ON seq = conversation")
        tokens = fetch(db, "SELECT token FROM deletions WHERE finished = 1")
        return {"entries": set(entries), "titles": set(titles), "labels": set(labels), "deleted": set(tokens)}

    notes = {file.path: file.text for file in device.memory.hot.files() if file.text}
    return {**device.memory.cold.read(read), "notes": notes}


def title(text: str) -> bytes:
    return to_bytes(text)
