"""The id made for an imported entry tells nothing of its words, and the same file is never imported twice."""

import hashlib
from collections.abc import Iterator

import pytest

from agent.importers.jsonl import read_jsonl
from agent.importers.store import ImportReport, store_all
from foundation.paths import Workspace
from foundation.privacy import cleared_id
from foundation.text.analysis import Analyser
from memory.cold import ColdStore
from memory.cold.conversations import insert_conversation
from memory.conversations import Conversations
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.fakes import FakeClock


@pytest.fixture
def cold(workspace: Workspace, clock: FakeClock) -> Iterator[ColdStore]:
    store = ColdStore.open(workspace.database, analyse=Analyser(workspace.entities_yaml), clock=clock)
    yield store
    store.close()


LINE = b'{"text": "my pin is <private>4711</private>", "conversation": "c"}'


def store(cold: ColdStore, *lines: bytes) -> ImportReport:
    return store_all(Conversations(cold), read_jsonl(lines, "c"), source="s", fixed_source=False)


def old_id(text: str) -> str:
    """As version 0.3.0 made it."""
    return "i_" + hashlib.sha256("\x1f".join(("user", "", "", text)).encode()).hexdigest()[:16]


def ids(cold: ColdStore) -> list[str]:
    return cold.read(lambda db: [row[0] for row in db.execute("SELECT id FROM entries ORDER BY seq")])


def test_nobody_can_try_words_on_the_id(cold: ColdStore) -> None:
    store(cold, LINE)
    (id_,) = ids(cold)
    tried = {old_id(f"my pin is <private>{pin:04}</private>") for pin in range(10_000)}
    assert id_.startswith("i_")
    assert id_ not in tried


def test_the_same_file_again_adds_nothing(cold: ColdStore) -> None:
    assert store(cold, LINE, LINE).entries == 2
    assert (store(cold, LINE, LINE).entries, store(cold, LINE, LINE, LINE).entries) == (0, 1)


def test_what_version_0_3_0_imported_is_known_again(cold: ColdStore) -> None:
    before = old_id("my pin is <private>4711</private>")
    conversation = cold.write(lambda db: insert_conversation(db, cold.clock, "c", source="s", id="c"))
    cold.append(
        EntryDraft(
            conversation=conversation.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text="x", id=before
        )
    )
    assert store(cold, LINE).entries == 0
    assert ids(cold) == [before]


@pytest.mark.parametrize("known", [True, False])
def test_a_private_name_is_keyed_unless_version_0_3_0_named_it(cold: ColdStore, known: bool) -> None:
    name = "pin <private>4711</private>"
    if known:
        cold.write(lambda db: insert_conversation(db, cold.clock, "c", source="s", id=cleared_id(name)))
    store(cold, b'{"text": "a", "conversation": "' + name.encode() + b'"}')
    (found,) = {conversation.id for conversation in cold.conversations()}
    assert found.startswith("pin [private]-")
    assert (found == cleared_id(name)) is known
