"""Forgotten words leave titles, labels and readable copies on every device, and the location."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import memory.sync.segment as segment
from foundation.privacy import clear
from foundation.trust import Citation, Trust
from memory.cold.sql import fetch, run
from memory.cold.sync_words import forget_synced
from memory.settings import SyncSettings
from memory.sync.operation import ConversationKey, ForgottenNamesOperation, ValueOperation
from memory.sync.renewal import LocationAccess, renew_locations
from models.messages import RecalledSpan
from tests.memory.forget.bytes_of import places_of
from tests.memory.sync.courses import Course
from tests.memory.sync.devices import Laptop, state_of
from tests.memory.sync.test_forgotten import forget_words
from tests.memory.sync.test_limits import DEVICE, put

WORD = "Hobblewick"


@pytest.fixture
def tablet(tmp_path: Path) -> Iterator[Laptop]:
    device = Laptop(tmp_path / "tablet" / "ws", "tablet")
    yield device
    device.close()


def forget_there(device: Laptop, place: Path, words: str = WORD) -> None:
    """Forgets here and at the location, as `palimpsest forget` does."""
    forget_words(device, words)
    assert renew_locations(device.memory, LocationAccess(SyncSettings(locations=[str(place)]), {})) == ()


def words_left(*roots: Path) -> dict[str, list[str]]:
    """The files below the folders that hold the word, but for the log: a device that is open writes it."""
    return {f"{root}/{name}": words for root in roots for name, words in places_of(root, [WORD]).items()}


def mirrored(device: Laptop) -> str:
    return "".join(path.read_text("utf-8") for path in sorted(device.workspace.conversations.glob("*.md")))


def test_a_title_goes_with_one_sync_of_the_other_device(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("A plan", title=f"{WORD} plan")
    desk.run(place)
    laptop.run(place)
    laptop.memory.mirrors.update(laptop.found(trip).seq)
    laptop.say(laptop.found(trip), "Hello")
    laptop.run(place)
    desk.run(place)
    assert WORD in mirrored(laptop)
    forget_there(desk, place)
    assert words_left(place, desk.workspace.root) == {}
    laptop.run(place)
    assert laptop.found(trip).title == desk.found(trip).title == "[forgotten] plan"
    assert 'title: "[forgotten] plan"' in mirrored(laptop)
    assert words_left(place, laptop.workspace.root) == {}


def test_a_title_that_was_replaced_stays_nowhere(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("A plan", title=f"{WORD} plan")
    desk.memory.mirrors.update(trip.seq)
    desk.run(place)
    laptop.run(place)
    laptop.memory.conversations.rename(laptop.found(trip).seq, clear("Neutral"))
    laptop.run(place)
    desk.run(place)
    for device in (desk, laptop):
        values = device.memory.cold.read(lambda db: list(db.execute("SELECT value FROM sync_values")))
        assert values == [(b"Neutral",)]
    assert 'title: "Neutral"' in mirrored(desk)
    assert words_left(place) == {}


def test_a_label_goes_from_the_other_device(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("A plan")
    desk.memory.conversations.label(trip.seq, clear(f"for {WORD}"))
    desk.memory.conversations.label(trip.seq, clear("travel"))
    desk.talk("Something else", title=f"{WORD} plan")  # so that `forget` finds the words
    desk.run(place)
    laptop.run(place)
    assert len(laptop.found(trip).labels) == 2
    forget_there(desk, place)
    laptop.run(place)
    assert laptop.found(trip).labels == desk.found(trip).labels == ("travel",)
    assert words_left(place, laptop.workspace.root, desk.workspace.root) == {}


def test_a_label_that_was_set_elsewhere_meanwhile_stays(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("A plan", title=f"{WORD} plan")
    desk.run(place)
    laptop.run(place)
    for name in (f"for {WORD}", "travel"):
        laptop.memory.conversations.label(laptop.found(trip).seq, clear(name))
    laptop.run(place)
    desk.run(place)
    laptop.memory.conversations.label(laptop.found(trip).seq, clear("scope:work"))
    laptop.memory.conversations.unlabel(laptop.found(trip).seq, f"for {WORD}")
    laptop.run(place)
    forget_there(desk, place)
    laptop.run(place)
    desk.run(place)
    assert laptop.found(trip).labels == desk.found(trip).labels == ("scope:work", "travel")
    assert words_left(place, laptop.workspace.root, desk.workspace.root) == {}


def test_a_title_that_was_set_elsewhere_meanwhile_gives_way(
    desk: Laptop, laptop: Laptop, tablet: Laptop, place: Path
) -> None:
    trip = desk.talk("A plan", title=f"{WORD} plan")
    for device in (desk, laptop, tablet):
        device.run(place)
    laptop.clock.advance(600)
    laptop.memory.conversations.rename(laptop.found(trip).seq, clear(f"{WORD} plan two"))
    laptop.run(place)  # and the desk has not read it
    tablet.clock.advance(700)
    tablet.memory.conversations.rename(tablet.found(trip).seq, clear(f"{WORD} plan three"))
    forget_there(desk, place)
    laptop.run(place)
    tablet.run(place)
    desk.run(place)
    assert {device.found(trip).title for device in (desk, laptop, tablet)} == {"[forgotten] plan"}
    assert words_left(place, *(device.workspace.root for device in (desk, laptop, tablet))) == {}


def test_what_was_recalled_there_names_the_title_no_more(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("A plan", title=f"{WORD} plan")
    desk.run(place)
    laptop.run(place)
    (entry,) = laptop.memory.conversations.all_entries(laptop.found(trip).seq)
    cited = Citation(kind="entry", ref=entry.id, conversation=trip.id, title=f"{WORD} plan")
    asked = laptop.say(laptop.talk(title="Other"), "What plan?", sent=(RecalledSpan("A plan", cited, Trust.EXACT),))
    forget_there(desk, place)
    laptop.run(place)
    (span,) = laptop.memory.cold.entry(asked.seq).sent
    assert isinstance(span, RecalledSpan)
    assert (span.text, span.citation.title) == ("A plan", "")
    assert words_left(laptop.workspace.root) == {}
    assert laptop.memory.cold.check() == []


def test_who_says_it_again_knowing_of_it_keeps_it(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("A plan", title=f"{WORD} plan")
    desk.run(place)
    laptop.run(place)
    forget_there(desk, place)
    laptop.run(place)
    laptop.memory.conversations.rename(laptop.found(trip).seq, clear(f"{WORD} again"))
    laptop.run(place)
    desk.run(place)
    assert desk.found(trip).title == f"{WORD} again"


def test_two_forgettings_at_the_same_time_leave_no_words(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("A plan", title=f"{WORD} and Yorblast")
    desk.run(place)
    laptop.run(place)
    forget_words(desk, WORD)
    forget_words(laptop, "Yorblast")
    for device in (desk, laptop, desk):
        device.run(place)
    assert desk.found(trip).title == laptop.found(trip).title == "[forgotten]"
    assert words_left(place) == places_of(place, ["Yorblast"]) == {}
    laptop.memory.conversations.rename(laptop.found(trip).seq, clear("Together"))
    laptop.run(place)
    desk.run(place)
    assert desk.found(trip).title == "Together"


def test_a_restored_backup_does_not_bring_it_back(desk: Laptop, laptop: Laptop, place: Path, tmp_path: Path) -> None:
    trip = desk.talk(f"{WORD} sits in the cupboard of the west wing, with 3 keys", title=f"{WORD} sits in the cupboard")
    desk.run(place)
    desk.memory.cold.empty_journal()
    shutil.copytree(desk.workspace.root, tmp_path / "restored" / "ws")
    laptop.run(place)
    laptop.say(laptop.found(trip), f"I also think {WORD} is fine")
    laptop.run(place)
    desk.run(place)
    forget_there(desk, place)
    laptop.run(place)
    restored = Laptop(tmp_path / "restored" / "ws", "restored")
    devices = (restored, laptop, desk)
    for _ in range(2):
        for device in devices:
            device.run(place)
    roots = [device.workspace.root for device in devices]
    restored.close()
    assert words_left(place, *roots) == {}


def test_only_what_tells_of_it_is_sent(desk: Laptop, laptop: Laptop, place: Path) -> None:
    desk.talk("A plan", title=f"{WORD} plan")
    desk.run(place)
    other = desk.talk("Not sent yet", title="Private")
    forget_there(desk, place)
    laptop.run(place)
    titles = {title for _, _, title in state_of(laptop)["titles"]}
    assert titles == {b"[forgotten] plan"}
    desk.run(place)
    laptop.run(place)
    assert laptop.found(other).title == "Private"


def test_an_older_program_leaves_what_tells_of_it_and_names_it(
    desk: Laptop, laptop: Laptop, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trip = desk.talk("A plan", title=f"{WORD} plan")
    desk.run(place)
    laptop.run(place)
    forget_there(desk, place)
    with monkeypatch.context() as patched:
        patched.setattr(segment, "_KNOWN", frozenset({b"PSS1", b"PSS2"}))
        assert all("a newer version" in unread.message for unread in laptop.run(place).unread)
    assert laptop.found(trip).title == f"{WORD} plan"
    laptop.run(place)
    assert laptop.found(trip).title == "[forgotten] plan"


def test_a_value_that_names_very_many_forgettings_is_refused(desk: Laptop, place: Path) -> None:
    trip = desk.talk("A plan", title="Plan")
    desk.run(place)
    key = ConversationKey("", trip.id, "chat", 0)
    put(place, ValueOperation(conversation=key, field="", value=b"Other", clock=1, device=DEVICE, heard=(1,) * 1_001))
    (unread,) = desk.run(place).unread
    assert "larger than any valid segment" in unread.message
    assert desk.found(trip).title == "Plan"


@pytest.mark.parametrize("number", [-1, 2**63, 2**64 - 1])
def test_a_number_that_no_device_gives_is_harmless(desk: Laptop, place: Path, number: int) -> None:
    trip = desk.talk("A plan", title="Plan")
    desk.run(place)
    key = ConversationKey("", trip.id, "chat", 0)
    put(place, ForgottenNamesOperation(conversation=key, labels=True, forgetting=number))
    desk.run(place)
    assert desk.found(trip).title == "Plan"
    assert desk.memory.cold.check() == []


class NamesCourse(Course):
    """A course in which titles and labels are forgotten, too. `gone`: the titles; nobody sets one of them again."""

    gone: set[str]

    def run(self, steps: int) -> None:
        actions = {
            self.say: 4,
            self.rename: 12,
            self.label: 12,
            self.forget_title: 6,
            self.forget_label: 6,
            self.sync: 20,
            self.harm: 4,
        }
        self.gone = set()
        for _ in range(steps):
            (action,) = self.chance.choices(list(actions), list(actions.values()))
            action(self.chance.choice(self.devices))
            self.steps += 1

    def forget_title(self, device: Laptop) -> None:
        if (conversation := self._any(device)) is not None and conversation.title.startswith("T"):
            self.gone.add(conversation.title)
            self._forget(device, conversation.title)

    def forget_label(self, device: Laptop) -> None:
        if (conversation := self._any(device)) is not None and conversation.labels:
            self._forget(device, self.chance.choice(conversation.labels))

    def _forget(self, device: Laptop, word: str) -> None:
        """What a forgetting does to titles and labels, without its other steps."""

        def forgets(db: apsw.Connection) -> None:
            title = f"[forgotten] {self.steps}".encode()
            run(db, "UPDATE conversations SET title = ? WHERE title = ?", (title, word.encode()))
            run(db, "DELETE FROM labels WHERE label = ?", (word,))
            forget_synced(db, lambda raw: word.encode() in raw)

        device.memory.cold.write(forgets)


def titles_kept(device: Laptop) -> set[str]:
    sql = "SELECT title FROM conversations UNION SELECT value FROM sync_values WHERE field = ''"
    return {title.decode() for (title,) in device.memory.cold.read(lambda db: fetch(db, sql))}


SEEDS = [1, 2, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(3, 40))]


@pytest.mark.parametrize("seed", SEEDS)
def test_devices_that_forget_titles_and_labels_converge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    course = NamesCourse(tmp_path, seed, monkeypatch)
    course.run(100)
    course.settle()
    first, *others = course.states()
    for state in others:
        assert (state["titles"], state["labels"]) == (first["titles"], first["labels"]), course.evidence()
    for device in course.devices:
        assert course.gone & titles_kept(device) == set()
    course.close()
