"""Every kind of write that the program acknowledges, for the tests that break it off.

A kind is opened on a folder and writes numbers: `write(n)` returns once n is acknowledged. `found` gives the numbers
that are there whole, read by another opening of the folder; `problems` what the program's own checks name.
"""

import re
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Final

from agent.checkpoints.change import FileChange
from agent.checkpoints.check import check_checkpoints
from agent.checkpoints.checkpoints import Checkpoints
from agent.config.edit import save_value
from agent.config.settings import all_settings
from agent.permissions.rules import RuleSource, Verdict, parse_rule
from agent.permissions.stored_rules import RuleFile
from agent.services.drafts import Drafts
from foundation.clock import SystemClock
from foundation.errors import PalimpsestError
from foundation.paths import Workspace
from foundation.privacy import Cleared, as_given
from foundation.trust import Trust
from foundation.yaml import load_yaml
from memory.backup.backup import back_up
from memory.backup.place import LocalPlace
from memory.backup.snapshot import read_snapshot, snapshot_ids
from memory.backup.verify import check_backup
from memory.check import check
from memory.errors import NotFound
from memory.knowledge.records import KnowledgeRecord
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.search import Query
from memory.settings import ArchiveSettings
from memory.versions.cause import BY_HAND
from memory.versions.objects import content_name
from memory.versions.store import VersionStore
from models.messages import Role
from tui.widgets.prompt.history import PromptHistory

SETTINGS: Final = ArchiveSettings(parity=2)


def text_of(number: int) -> str:
    """What is written as that number: any difference from it is damage."""
    return f"Number {number} is zebra{number}: the ferry 渡轮 {number * 7919} leaves.\n" * (3 + number % 5)


def number_in(text: str) -> int | None:
    """The number whose text this is, whole; None where it is none."""
    match = re.match(r"Number (\d+) ", text)
    return int(match[1]) if match and text == text_of(int(match[1])) else None


class Writes:
    """A kind of write, open on a folder. With `keeps_all` False a write replaces the one before."""

    keeps_all = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, number: int) -> None:
        raise NotImplementedError

    def found(self) -> set[int]:
        raise NotImplementedError

    def problems(self) -> list[str]:
        return []

    def close(self) -> None:
        """Where it holds anything open."""


class OfMemory(Writes):
    """Writes to a workspace's memory."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.workspace = Workspace(folder / "workspace")
        self.workspace.root.mkdir(exist_ok=True)
        self.memory = Memory.open(self.workspace, SystemClock(), SETTINGS, read_only=False)
        self.memory.recover()

    def close(self) -> None:
        self.memory.close()

    def problems(self) -> list[str]:
        return [f"{one.what} {one.where}: {one.message}" for one in check(self.workspace, SETTINGS).problems]

    def entry(self, number: int) -> EntryDraft:
        conversation = self.memory.cold.latest() or self.memory.cold.new_conversation()
        text = as_given(text_of(number))
        return EntryDraft(
            conversation=conversation.seq,
            parent=conversation.leaf,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=text,
            id=f"e{number}",
        )

    def entries(self) -> set[int]:
        cold = self.memory.cold
        chats = cold.conversations(kind=None)
        branch = [entry for chat in chats if chat.leaf for entry in cold.branch(chat.leaf).entries]
        passages = [self.memory.passage(entry) for entry in branch if entry.role is Role.USER]
        return {n for one in passages if one.trust is Trust.EXACT and (n := number_in(one.text)) is not None}


class Entries(OfMemory):
    """A message, and an answer to it in pieces."""

    def write(self, number: int) -> None:
        draft = self.entry(number)
        said = self.memory.cold.append(draft)
        answer = EntryDraft(
            conversation=draft.conversation,
            parent=said.seq,
            kind=EntryKind.MESSAGE,
            role=Role.ASSISTANT,
            text=as_given(""),
        )
        begun = self.memory.cold.begin_answer(answer)
        begun.write(Cleared("So far "))
        begun.finish(Cleared(f"So far {number}"))

    def found(self) -> set[int]:
        return self.entries()


class Packs(OfMemory):
    """A text as pages in a pack, with manifest and parity."""

    def write(self, number: int) -> None:
        self.memory.vault.archive_text(as_given(text_of(number)), label=f"f{number}", mode="tiny")

    def found(self) -> set[int]:
        vault = self.memory.vault
        texts = ["".join(vault.read_page(page.id).text for page in vault.pages(row.seq)) for row in vault.archives()]
        return {n for text in texts if (n := number_in(text)) is not None}


class ArchivedEntries(OfMemory):
    """A message whose text is moved from the store into a pack."""

    def write(self, number: int) -> None:
        self.memory.vault.archive_entries([self.memory.cold.append(self.entry(number))], label=f"e{number}")

    def found(self) -> set[int]:
        return self.entries()


class Repacking(Packs):
    """A text as pages, and all pages so far moved to a new pack."""

    def write(self, number: int) -> None:
        super().write(number)
        self.memory.vault.repacking.run(min_age=timedelta(0), least=1, seconds=0.5)


class Index(OfMemory):
    """A message and the index of it."""

    def write(self, number: int) -> None:
        self.memory.cold.append(self.entry(number))
        self.memory.search.update()

    def found(self) -> set[int]:
        hits = {n: self.memory.search.query(Query(text=f"zebra{n}")).hits for n in self.entries()}
        return {n for n, found in hits.items() if any(f"zebra{n}:" in hit.snippet for hit in found)}


class KnowledgeFiles(OfMemory):
    """A file that is added."""

    def write(self, number: int) -> None:
        path = self.folder / f"of-{number}.md"
        path.write_bytes(text_of(number).encode())
        report = self.memory.knowledge.add([path])
        if not report.added:
            raise PalimpsestError("Not added", report.bad[0].why)

    def found(self) -> set[int]:
        knowledge = self.memory.knowledge
        texts = [knowledge.text(known).text for known in self._files()]
        return {n for text in texts if (n := number_in(text.rstrip("\n") + "\n")) is not None}

    def _files(self) -> list[KnowledgeRecord]:
        try:
            return self.memory.knowledge.find(["*"])
        except NotFound:
            return []


class Mirrored(OfMemory):
    """A message and the readable copy of its conversation."""

    def write(self, number: int) -> None:
        draft = self.entry(number)
        self.memory.cold.append(draft)
        self.memory.mirrors.update(draft.conversation)

    def found(self) -> set[int]:
        text = "".join(path.read_text("utf-8") for path in self.workspace.conversations.glob("*.md"))
        return {n for n in self.entries() if text_of(n).strip() in text}


class Notes(OfMemory):
    """A note in MEMORY.md."""

    def write(self, number: int) -> None:
        self.memory.hot.remember(as_given(f"zebra{number} is remembered, {number * 7919}"))

    def found(self) -> set[int]:
        self.memory.hot.refresh()
        texts = [note.text for note in self.memory.hot.notes()]
        numbers = [int(match[1]) for text in texts if (match := re.fullmatch(r"- zebra(\d+) is remembered, \d+", text))]
        assert len(numbers) == len(set(numbers)) == len(texts), texts
        return set(numbers)


class Versions(Writes):
    """A version of a file."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.store = VersionStore(folder / "versions", SystemClock())

    def write(self, number: int) -> None:
        assert self.store.record("MEMORY.md", text_of(number).encode(), BY_HAND)

    def found(self) -> set[int]:
        bodies = [self.store.body(version).decode() for version in self.store.versions()]
        return {n for body in bodies if (n := number_in(body)) is not None}

    def problems(self) -> list[str]:
        return [problem.message for problem in self.store.check()]


class FileChanges(Writes):
    """A change of a file by a tool, with its checkpoint."""

    keeps_all = False

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.project = folder / "project"
        self.project.mkdir(exist_ok=True)
        self.checkpoints = Checkpoints(folder / "state", SystemClock(), (self.project,))
        self.checkpoints.begin_turn("c_1", "e_1")

    def write(self, number: int) -> None:
        path = self.project / "a.txt"
        before = path.read_bytes() if path.exists() else None
        change = FileChange(folder=self.project, path="a.txt", expected=before, new=text_of(number).encode())
        self.checkpoints.apply([change], f"e_{number}")

    def found(self) -> set[int]:
        self.checkpoints.take_notices()
        path = self.project / "a.txt"
        number = number_in(path.read_text("utf-8")) if path.exists() else None
        assert number is not None or not path.exists(), path.read_text("utf-8")
        return set() if number is None else {number}

    def problems(self) -> list[str]:
        return [one.message for one in check_checkpoints(self.folder / "state")]


class SavedSettings(Writes):
    """A setting in config.yaml."""

    keeps_all = False

    def write(self, number: int) -> None:
        setting = all_settings()["versions.all_days"]
        save_value(self.folder / "config.yaml", self.folder / "versions", setting, number + 1)

    def found(self) -> set[int]:
        path = self.folder / "config.yaml"
        return {load_yaml(path.read_text())["versions"]["all_days"] - 1} if path.exists() else set()


class SavedRules(Writes):
    """A permission rule."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.rules = RuleFile(folder / "permissions.yaml", RuleSource.USER)

    def write(self, number: int) -> None:
        assert self.rules.add(parse_rule(Verdict.ALLOW, f"run_command(zebra{number} *)", RuleSource.USER))

    def found(self) -> set[int]:
        self.rules.refresh()
        return {int(match[1]) for rule in self.rules.rules if (match := re.search(r"zebra(\d+) ", str(rule)))}


class SavedDrafts(Writes):
    """The draft of a conversation."""

    keeps_all = False

    def write(self, number: int) -> None:
        Drafts(self.folder / "drafts").save("c", text_of(number))

    def found(self) -> set[int]:
        text = Drafts(self.folder / "drafts").load("c").text
        number = number_in(text)
        assert number is not None or not text, text
        return set() if number is None else {number}


class Prompts(Writes):
    """A line of the prompt history."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.history = PromptHistory(folder / "history.jsonl")
        self.history.load()

    def write(self, number: int) -> None:
        self.history.add(text_of(number))

    def found(self) -> set[int]:
        history = PromptHistory(self.folder / "history.jsonl")
        history.load()
        return {n for text in history.entries if (n := number_in(text)) is not None}


class Backups(OfMemory):
    """A backup, of a note that changes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.place = LocalPlace(folder / "place")

    def write(self, number: int) -> None:
        self.workspace.memory_md.write_bytes(text_of(number).encode())
        back_up(self.workspace, self.place, SystemClock(), device="d", program="0")

    def found(self) -> set[int]:
        if not self.place.folder.exists() or not list(self.place.folder.glob("*.snapshot")):
            return set()
        snapshots = [read_snapshot(self.place, id_) for id_ in snapshot_ids(self.place)]
        bodies = {file.sha256 for one in snapshots for file in one.files if file.path == "MEMORY.md"}
        return {n for n in range(200) if content_name(text_of(n).encode()) in bodies}

    def problems(self) -> list[str]:
        if not self.place.folder.exists() or not list(self.place.folder.glob("*.snapshot")):
            return []
        return [problem.message for problem in check_backup(self.place).problems]


KINDS: Final[dict[str, Callable[[Path], Writes]]] = {
    "entries": Entries,
    "packs": Packs,
    "archived entries": ArchivedEntries,
    "archive move": Repacking,
    "index": Index,
    "knowledge": KnowledgeFiles,
    "mirrors": Mirrored,
    "notes": Notes,
    "versions": Versions,
    "checkpoints": FileChanges,
    "settings": SavedSettings,
    "permission rules": SavedRules,
    "drafts": SavedDrafts,
    "prompt history": Prompts,
    "backup": Backups,
}


def lost(kind: str, folder: Path, acknowledged: list[int]) -> list[str]:
    """What is lost or damaged after the writes that were acknowledged, in order; the one after may be there or not."""
    with closing(KINDS[kind](folder)) as writes:
        there = writes.found()
        wrong = [f"{kind}: {problem}" for problem in writes.problems()]
    if writes.keeps_all:
        return wrong + [f"{kind}: {number} is lost" for number in acknowledged if number not in there]
    if acknowledged and not any(number >= acknowledged[-1] for number in there):
        return [*wrong, f"{kind}: {acknowledged[-1]} is lost, {sorted(there)} is there"]
    return wrong
