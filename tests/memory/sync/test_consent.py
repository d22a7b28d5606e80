"""What another device deletes, forgets or empties waits for an answer here, if it takes much."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.errors import NotFound
from memory.records import Conversation
from tests.memory.sync.devices import Hidden, Laptop

LIMIT = 20


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Laptop]:
    device = Laptop(tmp_path / "asking" / "ws", "asking", ask_above=LIMIT)
    yield device
    device.close()


def shared(asking: Laptop, laptop: Laptop, place: Path, count: int, *, touched: bool) -> Conversation:
    """A conversation of `asking` that both devices have, with a message of the other one if it was touched there."""
    conversation = asking.talk(*(f"Saying number {number}." for number in range(count - touched)))
    asking.run(place)
    laptop.run(place)
    if touched:
        laptop.say(laptop.found(conversation), "And I add this.")
        laptop.run(place)
        asking.run(place)
    return conversation


def texts(device: Laptop, conversation: Conversation) -> list[str]:
    found = device.memory.conversations.find(conversation.id)
    return [device.memory.passage(entry).text for entry in device.memory.conversations.all_entries(found.seq)]


@pytest.mark.parametrize(("count", "touched", "waits"), [(3, True, False), (3, False, True), (21, True, True)])
def test_a_deletion_waits_if_it_takes_much_or_what_was_not_touched_there(
    asking: Laptop, laptop: Laptop, place: Path, *, count: int, touched: bool, waits: bool
) -> None:
    conversation = shared(asking, laptop, place, count, touched=touched)
    before = texts(asking, conversation)
    laptop.delete(conversation)
    laptop.run(place)
    result = asking.run(place)
    if not waits:
        assert (result.deleted, result.held) == (1, ())
        with pytest.raises(NotFound):
            asking.found(conversation)
        return
    (held,) = result.held
    assert (held.kind, held.id, held.title, held.entries) == ("deletion", conversation.id, "Trip", count)
    assert held.device.startswith("laptop (d_")
    assert texts(asking, conversation) == before
    assert asking.run(place).newly_held == ()
    asking.say(asking.found(conversation), "I go on.")
    asking.run(place)
    assert texts(asking, conversation)[-1] == "I go on."


def test_a_yes_deletes_and_a_no_keeps_for_good(asking: Laptop, laptop: Laptop, place: Path) -> None:
    kept, gone = (shared(asking, laptop, place, 3, touched=False) for _ in range(2))
    for conversation in (kept, gone):
        laptop.delete(conversation)
    laptop.run(place)
    assert len(asking.run(place).held) == 2
    asking.sync.answer([gone.id], accept=True)
    asking.sync.answer([kept.id], accept=False)
    with pytest.raises(NotFound):
        asking.found(gone)
    asking.memory.cold.write(lambda db: db.execute("DELETE FROM sync_read").fetchall())  # all is read once more
    result = asking.run(place)
    assert (result.held, result.deleted) == ((), 0)
    assert len(texts(asking, kept)) == 3


@pytest.mark.timeout(60)
def test_many_small_deletions_wait_from_the_limit_on(asking: Laptop, laptop: Laptop, place: Path) -> None:
    talks = [shared(asking, laptop, place, 7, touched=True) for _ in range(4)]
    for number, conversation in enumerate(talks):
        laptop.delete(conversation)
        laptop.run(place)
        result = asking.run(place)
        assert len(result.held) == max(0, number - 1), "two talks of seven entries are fourteen"


def test_forgotten_entries_wait(asking: Laptop, laptop: Laptop, place: Path) -> None:
    conversation = shared(asking, laptop, place, 30, touched=False)
    before = texts(asking, conversation)
    entries = list(laptop.memory.conversations.all_entries(laptop.found(conversation).seq))
    forget(laptop, [entry.seq for entry in entries[:25]])
    laptop.run(place)
    result = asking.run(place)
    (held,) = result.held
    assert (held.kind, held.id, held.entries) == ("forgetting", conversation.id, 25)
    assert texts(asking, conversation) == before
    asking.sync.answer([conversation.id], accept=True)
    assert texts(asking, conversation).count("[forgotten]") == 25
    assert asking.sync.held() == []


def test_a_refused_forgetting_is_not_asked_again(asking: Laptop, laptop: Laptop, place: Path) -> None:
    conversation = shared(asking, laptop, place, 30, touched=False)
    before = texts(asking, conversation)
    forget(laptop, [entry.seq for entry in laptop.memory.conversations.all_entries(laptop.found(conversation).seq)])
    laptop.run(place)
    asking.run(place)
    asking.sync.answer([conversation.id], accept=False)
    asking.memory.cold.write(lambda db: db.execute("DELETE FROM sync_read").fetchall())
    assert asking.run(place).held == ()
    assert texts(asking, conversation) == before


def test_few_forgotten_entries_are_forgotten_here(asking: Laptop, laptop: Laptop, place: Path) -> None:
    conversation = shared(asking, laptop, place, 30, touched=False)
    entries = list(laptop.memory.conversations.all_entries(laptop.found(conversation).seq))
    forget(laptop, [entry.seq for entry in entries[:5]])
    laptop.run(place)
    assert asking.run(place).held == ()
    assert texts(asking, conversation).count("[forgotten]") == 5


@pytest.mark.parametrize("left", ["", "- one line\n"])
def test_an_emptied_note_waits(asking: Laptop, laptop: Laptop, place: Path, left: str) -> None:
    whole = "# Notes\n\n" + "".join(f"- note {number}\n" for number in range(30))
    asking.workspace.memory_md.write_text(whole)
    asking.run(place)
    laptop.run(place)
    laptop.workspace.memory_md.write_text(left)
    laptop.run(place)
    (held,) = asking.run(place).held
    assert (held.kind, held.id) == ("note", "MEMORY.md")
    assert held.entries in {30, 31}
    assert asking.workspace.memory_md.read_text() == whole
    assert asking.run(place).newly_held == ()
    asking.sync.answer(["MEMORY.md"], accept=False)
    asking.run(place)
    laptop.run(place)
    assert asking.workspace.memory_md.read_text() == laptop.workspace.memory_md.read_text() == whole
    laptop.workspace.memory_md.write_text(left)
    laptop.run(place)
    asking.run(place)
    asking.sync.answer(["MEMORY.md"], accept=True)
    assert asking.workspace.memory_md.read_text() == left
    assert asking.sync.held() == []


def test_an_edit_of_many_lines_does_not_wait(asking: Laptop, laptop: Laptop, place: Path) -> None:
    asking.workspace.memory_md.write_text("".join(f"- note {number}\n" for number in range(30)))
    asking.run(place)
    laptop.run(place)
    edited = "".join(f"- other note {number}\n" for number in range(30))
    laptop.workspace.memory_md.write_text(edited)
    laptop.run(place)
    assert asking.run(place).held == ()
    assert asking.workspace.memory_md.read_text() == edited


def test_a_new_device_is_asked_nothing(asking: Laptop, laptop: Laptop, place: Path) -> None:
    conversation = laptop.talk(*(f"Saying {number}" for number in range(30)))
    forget(laptop, [entry.seq for entry in laptop.memory.conversations.all_entries(conversation.seq)])
    laptop.delete(laptop.talk(*(f"Saying {number}" for number in range(30))))
    laptop.run(place)
    assert asking.run(place).held == ()


def forget(device: Laptop, seqs: list[int]) -> None:
    from agent.services.forget import forgetting
    from memory.forget.choice import Chosen
    from memory.forget.plan import plan_forgetting

    chosen = Chosen(title="some", entries=dict.fromkeys(seqs, "chosen"))
    job = forgetting(device.memory)
    job.run(job.begin(plan_forgetting(device.memory, chosen, device.clock.now())))


@pytest.mark.timeout(60)
def test_what_a_third_device_says_meanwhile_arrives(asking: Laptop, laptop: Laptop, desk: Laptop, place: Path) -> None:
    conversation = shared(asking, laptop, place, 3, touched=False)
    desk.run(place)
    desk.say(desk.found(conversation), "Said on the third device.")
    before = {path.name for path in place.iterdir()}
    desk.run(place)
    of_desk = {path.name for path in place.iterdir()} - before
    laptop.delete(conversation)
    laptop.run(place)
    assert len(asking.run(Hidden(place, of_desk)).held) == 1
    asking.run(place)
    assert texts(asking, conversation)[-1] == "Said on the third device."


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 42))])
def test_in_any_course_no_more_than_the_limit_is_lost_without_an_answer(
    asking: Laptop, laptop: Laptop, place: Path, seed: int
) -> None:
    """Another device deletes, forgets and empties as it likes, in several runs of one week."""
    chance = random.Random(seed)
    whole = "".join(f"- note {number}\n" for number in range(30))
    asking.workspace.memory_md.write_text(whole)
    talks = [shared(asking, laptop, place, chance.randint(1, 9), touched=chance.random() < 0.7) for _ in range(5)]
    asking.run(place)
    laptop.run(place)
    said = {talk.id: texts(asking, talk) for talk in talks}
    for _ in range(3):
        for talk in chance.sample(talks, 2):
            try:
                found = laptop.found(talk)
            except NotFound:
                continue
            entries = [entry.seq for entry in laptop.memory.conversations.all_entries(found.seq)]
            if chance.random() < 0.5:
                laptop.delete(talk)
            else:
                forget(laptop, chance.sample(entries, chance.randint(1, len(entries))))
        kept = laptop.workspace.memory_md.read_text().splitlines(keepends=True)
        laptop.workspace.memory_md.write_text("".join(kept[: chance.randint(0, len(kept))]))
        laptop.run(place)
        asking.run(place)
    lost = 30 - len(asking.workspace.memory_md.read_text().splitlines())
    for talk in talks:
        try:
            lost += texts(asking, talk).count("[forgotten]")
        except NotFound:
            lost += len(said[talk.id])
    assert lost <= LIMIT
