"""What was read lately is at hand, within a bound; what changed or was deleted is not."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from foundation.paths import Workspace
from foundation.trust import Trust
from memory.errors import NotFound
from memory.memory import Memory
from memory.pages.types import EntryText
from memory.passage_cache import PassageCache
from memory.records import Entry
from tests.fakes import FakeClock
from tests.memory.search.conversation import Talk


@pytest.fixture
def memory(workspace: Workspace, clock: FakeClock) -> Iterator[Memory]:
    opened = Memory.open(workspace, clock)
    yield opened
    opened.close()


@pytest.fixture
def talk(memory: Memory) -> Talk:
    return Talk(memory)


def archived(talk: Talk, text: str = "The locker code of the marina is harbour nine two.") -> Entry:
    """An entry whose text stands on a page, read once."""
    entry = talk.say(text, to="secret")
    talk.memory.vault.archive_entries([entry], label="marina")
    entry = talk.memory.cold.entry(entry.seq)
    assert entry.text is None
    assert talk.memory.passage(entry).text == text
    return entry


def delete_elsewhere(memory: Memory, conversation: str) -> None:
    """As another process does: through a connection that this memory knows nothing of."""
    other = Memory.open(Workspace(Path(memory.workspace.root)))
    other.vault.delete_conversation(other.cold.conversation(conversation).seq)
    other.close()


def test_a_deleted_conversation_has_no_passages(talk: Talk) -> None:
    entry = archived(talk)
    talk.memory.vault.delete_conversation(talk.seqs["secret"])
    with pytest.raises(NotFound):
        talk.memory.passage(entry)


def test_a_conversation_deleted_by_another_process_has_no_passages(talk: Talk) -> None:
    entry = archived(talk)
    delete_elsewhere(talk.memory, "secret")
    with pytest.raises(NotFound):
        talk.memory.passage(entry)


def test_a_passage_is_read_once_while_others_are_stored(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = archived(talk)
    talk.say("Something else.", to="other")
    monkeypatch.setattr(talk.memory.vault, "entry_text", lambda _: pytest.fail("It was read again."))
    assert "harbour" in talk.memory.passage(entry).text


def test_two_memories_of_one_workspace_share_nothing(talk: Talk) -> None:
    entry = archived(talk)
    other = Memory.open(Workspace(Path(talk.memory.workspace.root)))
    other.vault.delete_conversation(other.cold.conversation("secret").seq)
    with pytest.raises(NotFound):
        other.passage(entry)
    with pytest.raises(NotFound):
        talk.memory.passage(entry)
    other.close()


def cache(memory: Memory, most: int = 1_000_000) -> PassageCache:
    return PassageCache(memory.cold, memory.vault.entry_text, most)


def test_a_value_is_made_once(memory: Memory) -> None:
    kept, made = cache(memory), count()
    assert [kept.get("key", 1, 100, lambda: next(made)) for _ in range(3)] == [0, 0, 0]


def test_the_least_recently_used_value_goes_first(memory: Memory) -> None:
    kept = cache(memory, most=1000)
    for name in ("a", "b", "c", "d"):
        kept.get(name, name, 250, name.upper)
    kept.get("a", "a", 250, lambda: "made again")
    kept.get("e", "e", 250, "e".upper)
    assert kept.get("a", "a", 250, lambda: "made again") == "A"
    assert kept.get("b", "b", 250, lambda: "made again") == "made again"
    assert kept.bytes <= 1000


def test_a_value_larger_than_a_quarter_of_the_room_is_not_kept(memory: Memory) -> None:
    kept = cache(memory, most=1000)
    kept.get("huge", 1, 251, lambda: "x")
    assert (len(kept), kept.bytes) == (0, 0)


def test_deleted_text_leaves_with_the_next_query(talk: Talk) -> None:
    talk.say("The locker code of the marina is harbour nine two.", to="secret")
    talk.say("The marina has a locker.", to="other")
    assert len(talk.found("locker marina")) == 2
    kept = talk.memory.passages
    assert "harbour" in str(kept.keys())
    talk.memory.vault.delete_conversation(talk.seqs["secret"])
    talk.found("marina")
    assert "harbour" not in str(kept.keys())
    assert len(kept) > 0


def test_a_passage_that_is_not_exact_is_read_anew(talk: Talk) -> None:
    entry = replace(talk.say("The locker code."), text=None)
    trusts, read = iter((Trust.APPROXIMATE, Trust.APPROXIMATE, Trust.EXACT, Trust.EXACT)), list[Trust]()

    def reading(_: Entry) -> EntryText:
        read.append(next(trusts))
        return EntryText("The locker code.", read[-1])

    kept = PassageCache(talk.memory.cold, reading)
    for _ in range(4):
        kept.passage(entry)
    assert read == [Trust.APPROXIMATE, Trust.APPROXIMATE, Trust.EXACT]


def test_a_value_made_while_the_store_changed_is_not_kept(talk: Talk) -> None:
    talk.say("One.")
    kept = cache(talk.memory)
    kept.refresh()

    def make() -> str:
        talk.say("Two.")
        kept.refresh()
        return "made"

    kept.get("key", 1, 10, make)
    assert len(kept) == 0


def test_a_page_of_a_deleted_conversation_is_gone_by_its_id_too(talk: Talk) -> None:
    entry = archived(talk)
    (page,) = talk.memory.passage(entry).pages
    assert "harbour" in talk.memory.vault.read_page(page).text
    delete_elsewhere(talk.memory, "secret")
    with pytest.raises(NotFound):
        talk.memory.recall(page)
    with pytest.raises(NotFound):
        talk.memory.vault.read_page(page)
