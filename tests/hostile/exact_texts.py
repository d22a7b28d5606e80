"""A workspace with a text in every place that gives text out, and all that it gives out as exact."""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from msgspec import Struct, field

from agent.exporters import jsonl_objects
from agent.services.recall import recall
from foundation.errors import PalimpsestError
from foundation.paths import Workspace
from foundation.privacy import as_given, clear, cleared_fields, encoded_struct
from foundation.trust import Trust
from memory.check import check
from memory.context_store import NewEpoch
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.search import Query
from memory.settings import ArchiveSettings
from models.messages import Role, Usage
from tests.fakes import FakeClock

REFERENCES = ("#1", "#2", "manual", "e_boiler", "e_ferry", "e_heron", "e_old")
QUESTIONS = ("the boiler firm's account", "when does the ferry leave", "pump pressure manual", "the heron")
LONG = " ".join(f"The ferry number {n} to Bornholm leaves at {n % 24:02}:40 from quay {n}." for n in range(60))


def fill(workspace: Workspace, folder: Path, settings: ArchiveSettings | None = None) -> None:
    """Puts something into every table that gives text out. `folder` is for a file that is added."""
    with closing(Memory.open(workspace, FakeClock(), settings)) as memory:
        chat = memory.cold.new_conversation(clear("House and boat"))
        memory.cold.label(chat.seq, clear("home"))
        said = ["The account of the boiler firm is 11112222.", LONG, "The heron stands in the reeds.", "Pay in May."]
        parent = None
        for n, (id_, text) in enumerate(zip(("e_boiler", "e_ferry", "e_heron", "e_pay"), said, strict=True)):
            draft = EntryDraft(
                conversation=chat.seq,
                parent=parent,
                kind=EntryKind.MESSAGE,
                role=Role.USER,
                text=clear(text),
                id=clear(id_),
                speaker=clear("Ann"),
                meta=cleared_fields({"n": n}),
            )
            parent = memory.cold.append(draft).seq
        answer = memory.cold.begin_answer(
            EntryDraft(
                conversation=chat.seq, parent=parent, kind=EntryKind.MESSAGE, role=Role.ASSISTANT, text=clear("")
            )
        )
        answer.finish(clear("The pump is at 2.5 bar."), usage=Usage(1, 2), model=clear("qwen"), ms=9)
        old = memory.cold.new_conversation(clear("The year before"))
        before = EntryDraft(
            conversation=old.seq,
            parent=None,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=clear("A red ferry." * 30),
            id=clear("e_old"),
        )
        memory.vault.archive_entries([memory.cold.append(before)], label="older", mode="tiny")
        memory.vault.archive_text(as_given("The manual says: pump pressure 2.5 bar."), label="manual", mode="tiny")
        manual = folder / "manual.md"
        manual.write_text("# Pump\n\nThe pump pressure is 2.5 bar.\n\n# Ferry\n\nIt leaves at 09:40.\n", "utf-8")
        memory.knowledge.add([manual])
        memory.knowledge.set_importance(["*.md"], 7)
        epoch = NewEpoch(1, clear("start"), encoded_struct({"head": "words"}))
        memory.context_store.set_epoch(chat.seq, epoch)
        memory.mirrors.update(chat.seq)
        memory.search.query(Query(text="ferry"))
    assert check(workspace, settings).problems == ()


class Given(Struct, frozen=True):
    """All that a workspace gives out as exact: whole texts, snippets, and citations with who said it."""

    texts: set[str] = field(default_factory=set)
    snippets: set[str] = field(default_factory=set)
    cited: set[str] = field(default_factory=set)

    def wrong(self, sound: "Given") -> set[str]:
        """What is here and was never stored."""
        parts = {one for one in self.snippets if not any(one in text for text in sound.texts)}
        return (self.texts - sound.texts) | (self.cited - sound.cited) | parts


def exact(workspace: Workspace, settings: ArchiveSettings | None = None) -> tuple[Given, int]:
    """What is given out as exact by search, recall, export and knowledge, and how often a clear sentence refused."""
    given, refused = Given(), 0
    with closing(Memory.open(workspace, FakeClock(), settings)) as memory:
        for way in _ways(memory, given):
            try:
                way()
            except PalimpsestError:
                refused += 1
    return given, refused


def _ways(memory: Memory, given: Given) -> Iterator[Callable[[], None]]:
    for question in QUESTIONS:
        yield partial(_search, memory, given, question)
        yield partial(_recall, memory, given, question)
    for ref in REFERENCES:
        yield partial(_recall, memory, given, ref)
    yield partial(_export, memory, given)
    yield partial(_knowledge, memory, given)


def _search(memory: Memory, given: Given, question: str) -> None:
    for hit in memory.search.query(Query(text=question)).hits:
        if hit.trust is Trust.EXACT:
            given.snippets.add(hit.snippet)
            given.cited.add(f"{hit.citation} {hit.time} {hit.speaker} {hit.role}")


def _recall(memory: Memory, given: Given, asked: str) -> None:
    for hit in recall(memory, asked).hits:
        if hit.trust is Trust.EXACT:
            given.texts.add(hit.text)
            given.cited.add(f"{hit.citation} {hit.time} {hit.speaker} {hit.role}")


def _export(memory: Memory, given: Given) -> None:
    for conversation in memory.cold.conversations(kind=None):
        for line in jsonl_objects(memory, conversation):
            if line["palimpsest"].get("trust") is None:
                given.texts.add(line["text"])
                given.cited.add(f"{line['id']} {line['time']} {line['speaker']} {line['role']}")


def _knowledge(memory: Memory, given: Given) -> None:
    for known in memory.knowledge.find(["*"]):
        text = memory.knowledge.text(known)
        if text.trust is Trust.EXACT:
            given.texts.add(text.text)
