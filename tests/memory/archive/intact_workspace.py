"""A small workspace that has all that an archive can have, for tests that break it."""

from contextlib import suppress
from pathlib import Path

from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.archive.repair.quarantine import Quarantine
from memory.archive.repair.repair import RepairResult, repair
from memory.cold.integrity.forged_names import remove_forged
from memory.errors import ForgedName
from memory.memory import Memory
from memory.records import Entry, EntryDraft, EntryKind
from memory.settings import ArchiveSettings
from models.messages import Role, Text
from tests.fakes import FakeClock

FILE = "".join(f"note {n}: Grüße, 世界 ␛ ↵ 🦊 on the shelf by the kettle\n" for n in range(260))


def talk(memory: Memory, count: int = 12, title: str = "The boiler") -> list[Entry]:
    """A conversation in which two people take turns; its entries, oldest first."""
    conversation = memory.cold.new_conversation(as_given(title))
    said: list[Entry] = []
    for n in range(count):
        draft = EntryDraft(
            conversation=conversation.seq,
            parent=said[-1].seq if said else None,
            kind=EntryKind.MESSAGE,
            role=Role.ASSISTANT if n % 2 else Role.USER,
            speaker="" if n % 2 else "Ann",
            text=as_given(f"Entry {n} tells of the boiler, valve {n * 7919}.\n" * (1 + 9 * n)),
            meta={"n": n},
            sent=(Text("what was sent along"),) if n == 2 else (),
        )
        said.append(memory.cold.append(draft))
    return said


def archived(root: Path, clock: FakeClock) -> tuple[Memory, list[Entry]]:
    """A workspace with an archived file and an archived conversation, tagged and pinned; the conversation's entries."""
    root.mkdir(parents=True, exist_ok=True)
    without_parity = ArchiveSettings(parity=0)  # so that repairs from other sources are seen
    memory = Memory.open(Workspace(root), clock, read_only=False, settings=without_parity)
    memory.vault.archive_text(as_given(FILE), label="notes")
    said = talk(memory)
    kept = memory.vault.archive_entries(said, label="boiler")
    memory.vault.tag(kept.seq, as_given("house"))
    memory.vault.pin(kept.seq)
    return memory, said


def texts(memory: Memory, entries: list[Entry]) -> list[str]:
    """Their texts, each exact."""
    passages = [memory.vault.entry_text(memory.cold.find(entry.id)) for entry in entries]
    assert {passage.trust.value for passage in passages} == {"exact"}
    return [passage.text for passage in passages]


def problems(memory: Memory) -> list[str]:
    """What `check` lists. A name that breaks its grammar ends the look at the archive, and is listed by the store's."""
    found = memory.cold.check()
    with suppress(ForgedName):
        found += memory.vault.check()
    return [f"{one.what} {one.where}: {one.message}" for one in found]


def mend(memory: Memory, parity: int = 0) -> RepairResult:
    memory.cold.write(remove_forged)  # as `check --repair` does first
    space, now = memory.workspace, memory.cold.clock.now()
    return repair(
        memory.cold,
        memory.vault.storage,
        Quarantine(space.damaged, now),
        now,
        kept_texts=space.kept_texts,
        parity=parity,
        release=memory.vault.release,
    )
