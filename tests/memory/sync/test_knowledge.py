"""The text of a file that was added to knowledge is found on the other devices; a kind that is not known is named."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.services import forget
from agent.services.forget_receipt import receipt_lines
from foundation.trust import Trust
from memory.backup.place import LocalPlace
from memory.cold.sql import fetch, run
from memory.knowledge import ocr
from memory.knowledge.readers.document import OcrReader
from memory.search import Query
from memory.sync import inbox, other_logs
from memory.sync.operation import ConversationKey
from memory.sync.place import SYNC
from memory.sync.status import location_status
from tests.memory.knowledge import files
from tests.memory.sync.devices import Laptop, state_of
from tests.memory.sync.test_forgotten import words_at, words_in
from tests.memory.sync.test_hostile_segments import GOOD, put

TEXT = "Paper.\n\nThe gurnard method in a paper about fish and more.\n"


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    path = tmp_path / "paper.md"
    path.write_text(TEXT)
    return path


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "installed_ocr_reader", lambda *_: None)


def names(device: Laptop) -> list[str]:
    """The files that `knowledge list` shows."""
    return [scored.known.name for scored in device.memory.knowledge.memories(400)]


def share(place: Path, *devices: Laptop) -> None:
    for device in devices:
        device.run(place)


def test_it_is_found_there_with_its_name_and_trust(desk: Laptop, laptop: Laptop, place: Path, paper: Path) -> None:
    desk.memory.knowledge.add([paper])
    share(place, desk, laptop)
    for query in (Query(text="gurnard"), Query(text="gurnard", kinds=("knowledge",))):
        (hit,) = laptop.memory.search.query(query).hits
        assert (hit.kind, hit.role, hit.citation.title, hit.trust) == ("knowledge", "", "paper.md", Trust.EXACT)
        assert "gurnard method" in hit.snippet
    assert laptop.memory.passage(laptop.memory.cold.entry(hit.entry)).text == TEXT
    assert names(laptop) == [], "its file is on another device"
    assert state_of(laptop) == state_of(desk)
    assert laptop.memory.cold.check() == []
    assert [device.run(place).segments_written for device in (desk, laptop, desk, laptop)] == [0, 0, 0, 0]


def test_what_text_recognition_read_is_approximate_there_too(
    desk: Laptop, laptop: Laptop, place: Path, tmp_path: Path
) -> None:
    shot = files.picture(tmp_path / "shot.png", "Login failed")
    eyes = OcrReader("eyes", lambda _image: "The gurnard was seen by eyes")
    desk.memory.knowledge.add([shot], ocr_reader=lambda: eyes)
    share(place, desk, laptop)
    (hit,) = laptop.memory.search.query(Query(text="gurnard")).hits
    assert hit.trust is Trust.APPROXIMATE
    assert laptop.memory.passage(laptop.memory.cold.entry(hit.entry)).warnings == (
        "It was read from a picture by OCR, so its text cannot be verified.",
    )


@pytest.mark.parametrize("forgets", [False, True])
def test_it_goes_everywhere_from_wherever_it_is_deleted(
    desk: Laptop, laptop: Laptop, place: Path, paper: Path, forgets: bool
) -> None:
    desk.memory.knowledge.add([paper])
    share(place, desk, laptop)
    if forgets:
        forget.forget(laptop.memory, forget.plan(laptop.memory, named="paper.md"))
    else:
        desk.memory.knowledge.remove(desk.memory.knowledge.find(["paper.md"]))
    share(place, laptop, desk, laptop, desk)
    for device in (desk, laptop):
        assert names(device) == []
        assert state_of(device)["entries"] == set()
        assert b"gurnard method" not in words_in(device)
    assert "gurnard" not in words_at(place)


def test_the_end_of_its_name_takes_it_from_all_on_a_device_without_the_file(
    desk: Laptop, laptop: Laptop, place: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "kn2"
    folder.mkdir()
    letter = folder / "letter.txt"
    for text in ("An earlier gurnard.\n", TEXT):
        letter.write_text(text)
        desk.memory.knowledge.add([folder])
    share(place, desk, laptop)
    planned = forget.plan(laptop.memory, named="letter.txt")
    assert (planned.title, len(planned.conversations)) == ("the file kn2/letter.txt with its whole text", 2)
    forget.forget(laptop.memory, planned)
    share(place, laptop, desk, laptop, desk)
    for device in (desk, laptop):
        assert names(device) == []
        assert state_of(device)["entries"] == set()
        assert b"gurnard" not in words_in(device)
    assert "gurnard" not in words_at(place)


def test_where_only_its_name_goes_there_the_receipt_names_the_text_that_stays(
    desk: Laptop, laptop: Laptop, place: Path, paper: Path
) -> None:
    desk.memory.knowledge.add([paper])
    share(place, desk, laptop)
    job = forget.forget(laptop.memory, forget.plan(laptop.memory, words="paper.md"))
    (stays,) = [line for line in receipt_lines(laptop.memory, job) if line.startswith("Kept: the text")]
    (seq,) = job.unnamed
    id_ = laptop.memory.conversations.at(seq).id
    assert "[forgotten]" in stays and f"`palimpsest forget {id_}`" in stays
    forget.forget(laptop.memory, forget.plan(laptop.memory, named=id_))
    share(place, laptop, desk)
    assert (names(desk), state_of(desk)["entries"]) == ([], set())


def test_the_same_name_here_and_from_another_device_is_one_file(
    desk: Laptop, laptop: Laptop, place: Path, tmp_path: Path
) -> None:
    for device, text in ((desk, "The desk has a gurnard.\n"), (laptop, "The laptop has a tub gurnard.\n")):
        folder = tmp_path / device.name / "kn2"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "letter.txt").write_text(text)
        device.memory.knowledge.add([folder])
    share(place, desk, laptop, desk)
    assert len(forget.plan(laptop.memory, named="letter.txt").conversations) == 2
    forget.forget(laptop.memory, forget.plan(laptop.memory, named="letter.txt"))
    share(place, laptop, desk)
    for device in (desk, laptop):
        assert names(device) == []
        assert state_of(device)["entries"] == set()


def test_words_of_it_that_are_forgotten_there_go_here_as_the_whole_file(
    desk: Laptop, laptop: Laptop, place: Path, paper: Path
) -> None:
    desk.memory.knowledge.add([paper])
    share(place, desk, laptop)
    forget.forget(laptop.memory, forget.plan(laptop.memory, named="gurnard"))
    share(place, laptop, desk)
    assert names(desk) == []
    assert b"gurnard method" not in words_in(desk)


def test_the_same_file_may_be_added_on_both(desk: Laptop, laptop: Laptop, place: Path, paper: Path) -> None:
    desk.memory.knowledge.add([paper])
    laptop.memory.knowledge.add([paper])
    share(place, desk, laptop, desk)
    assert names(desk) == names(laptop) == ["paper.md"]
    assert state_of(laptop) == state_of(desk)
    assert [device.run(place).segments_written for device in (laptop, desk, laptop)] == [0, 0, 0]


def test_what_an_earlier_version_left_out_comes_with_the_next_sync(
    desk: Laptop, laptop: Laptop, place: Path, paper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.talk("Where is the tent?")
    desk.memory.knowledge.add([paper])
    desk.run(place)
    with monkeypatch.context() as earlier:
        for module in (inbox, other_logs):
            earlier.setattr(module, "KINDS", inbox.KINDS - {"knowledge"})
        laptop.run(place)
    laptop.memory.cold.write(lambda db: run(db, "UPDATE sync_read SET problem = '', reader = 0"))
    assert laptop.memory.search.query(Query(text="gurnard")).hits == ()
    assert laptop.run(place).taken.entries == 1
    assert state_of(laptop) == state_of(desk)
    assert laptop.run(place).segments_read == 0


def test_a_kind_that_is_not_known_is_named_until_it_is(
    laptop: Laptop, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = replace(GOOD, id="e_zzzzzzzzzzzz", conversation=ConversationKey("", "c_zzzzzzzzzzzz", "holo\x1bgram", 0))
    name = put(place, GOOD, foreign)
    for _ in range(2):
        result = laptop.run(place)
        (unread,) = result.unread
        assert unread.name == name
        assert "of an unknown type (holo" in unread.message
        assert "\x1b" not in unread.message
        assert [each.name for each in location_status(laptop.memory, LocalPlace(place, SYNC)).problems] == [name]
    ids = laptop.memory.cold.read(lambda db: fetch(db, "SELECT id FROM entries"))
    assert ids == [(GOOD.id,)], "the others of the file are taken"
    for module in (inbox, other_logs):
        monkeypatch.setattr(module, "KINDS", inbox.KINDS | {foreign.conversation.kind})
    result = laptop.run(place)
    assert (result.taken.entries, result.unread) == (1, ())
