"""A note that one device deleted while another one edited it: it stays whole on all, and a person reads why."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import memory.sync.note_graph as note_graph
import memory.sync.notes as notes
from foundation.privacy import clear
from memory.hot.note import TextChange
from memory.versions.cause import Author, Cause
from tests.memory.sync.devices import Laptop
from tests.memory.sync.test_forgotten import forget_words, words_at
from tests.memory.sync.test_notes import sync, text, write

NAME = "memory/r.md"
RECIPE = "# Recipe\n- flour\n- salt\n"
EDITS = {
    "changed": "# Recipe\n- flour\n- sea salt\n",
    "appended": "# Recipe\n- flour\n- salt\n- 锅炉 🐋\n",
    "shortened": "# Recipe\n- salt\n",
}


@pytest.fixture
def phone(tmp_path: Path) -> Iterator[Laptop]:
    device = Laptop(tmp_path / "phone" / "ws", "phone", skew_s=11 * 3600)
    yield device
    device.close()


def delete(device: Laptop) -> None:
    (device.workspace.root / NAME).unlink()


def empty(device: Laptop) -> None:
    write(device, "\n", NAME)


def texts(*devices: Laptop) -> set[str]:
    return {text(device, NAME) for device in devices}


@pytest.mark.parametrize("remove", [delete, empty])
@pytest.mark.parametrize("edited", EDITS.values(), ids=EDITS.keys())
@pytest.mark.parametrize("is_deleted_first", [True, False])
def test_the_edited_note_stays_whole_on_both(
    desk: Laptop,
    laptop: Laptop,
    place: Path,
    remove: Callable[[Laptop], None],
    edited: str,
    *,
    is_deleted_first: bool,
) -> None:
    write(desk, RECIPE, NAME)
    sync(place, desk, laptop)
    (laptop if is_deleted_first else desk).clock.advance(2 * 86400)
    remove(desk)
    write(laptop, edited, NAME)
    sync(place, *((desk, laptop) if is_deleted_first else (laptop, desk)))
    assert texts(desk, laptop) == {edited}
    delete(laptop)  # knowing of both
    sync(place, laptop, desk)
    assert text(desk, NAME) == ""


def test_it_stays_whole_on_three_whoever_hears_of_what_first(
    desk: Laptop, laptop: Laptop, phone: Laptop, place: Path
) -> None:
    write(desk, RECIPE, NAME)
    sync(place, desk, laptop, phone)
    delete(desk)
    desk.run(place)
    phone.run(place)
    assert text(phone, NAME) == ""
    write(laptop, EDITS["changed"], NAME)
    sync(place, laptop, phone, desk)
    assert texts(desk, laptop, phone) == {EDITS["changed"]}


def test_the_edits_of_two_are_merged_as_if_nobody_had_deleted_it(
    desk: Laptop, laptop: Laptop, phone: Laptop, place: Path
) -> None:
    write(desk, RECIPE, NAME)
    sync(place, desk, laptop, phone)
    write(laptop, EDITS["changed"], NAME)
    delete(desk)
    write(phone, "# A recipe\n- flour\n- salt\n", NAME)
    sync(place, laptop, desk, phone)
    sync(place, laptop, desk, phone)
    assert texts(desk, laptop, phone) == {"# A recipe\n- flour\n- sea salt\n"}


def test_what_both_deleted_or_nobody_edited_is_gone(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, RECIPE, NAME)
    sync(place, desk, laptop)
    delete(desk)
    empty(laptop)
    sync(place, desk, laptop)
    assert text(laptop, NAME).strip() == ""
    assert not (desk.workspace.root / NAME).exists() or not text(desk, NAME).strip()


def test_who_deletes_a_part_deletes_that_part(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, RECIPE + "- sugar\n", NAME)
    sync(place, desk, laptop)
    write(desk, "# Recipe\n- salt\n- sugar\n", NAME)
    write(laptop, "# Recipe\n- flour\n- salt\n- brown sugar\n", NAME)
    sync(place, desk, laptop)
    assert texts(desk, laptop) == {"# Recipe\n- salt\n- brown sugar\n"}


def test_each_reads_once_that_it_was_deleted_and_why_it_is_kept(
    desk: Laptop, laptop: Laptop, phone: Laptop, place: Path
) -> None:
    write(desk, RECIPE, NAME)
    sync(place, desk, laptop, phone)
    delete(desk)
    write(laptop, EDITS["changed"], NAME)
    desk.run(place)
    end = "at the same time."
    assert laptop.run(place).news == [
        f"{NAME} was deleted on desk but kept, because it was edited on this device {end}"
    ], "though nothing is written into its file"
    assert desk.run(place).news[1:] == [
        f"{NAME} was deleted on this device but kept, because it was edited on laptop {end}"
    ]
    assert phone.run(place).news[1:] == [f"{NAME} was deleted on desk but kept, because it was edited on laptop {end}"]
    write(laptop, RECIPE, NAME)
    laptop.run(place)
    assert desk.run(place).news == [f"{NAME} was changed by laptop."]
    assert [device.run(place).news for device in (laptop, phone)] == [[], [f"{NAME} was changed by laptop."]]


def test_a_forgotten_line_does_not_come_back_with_the_edited_note(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, RECIPE + "- the zanzibar canary\n", NAME)
    sync(place, desk, laptop)
    forget_words(desk, "zanzibar")
    delete(desk)
    write(laptop, EDITS["changed"] + "- the zanzibar canary\n", NAME)
    sync(place, laptop, desk)
    sync(place, laptop, desk)
    assert texts(desk, laptop) == {EDITS["changed"]}
    assert "zanzibar" not in words_at(place)


def test_an_edit_of_nothing_but_what_was_forgotten_keeps_no_note(desk: Laptop, laptop: Laptop, place: Path) -> None:
    write(desk, RECIPE, NAME)
    sync(place, desk, laptop)
    write(laptop, RECIPE + "- the zanzibar canary\n", NAME)
    laptop.run(place)
    delete(desk)
    sync(place, desk, laptop)
    assert "zanzibar" in text(desk, NAME)
    forget_words(desk, "zanzibar")
    sync(place, desk, laptop)
    assert not (desk.workspace.root / NAME).exists() or text(desk, NAME) == text(laptop, NAME)
    assert "zanzibar" not in words_at(place) + text(laptop, NAME)


@pytest.mark.parametrize(
    ("now", "new", "wanted"),
    [
        ("# Recipe\n\n- sea salt\n", "\n", "# Recipe\n\n- sea salt\n"),
        ("", "# Recipe\n\n", "# Recipe\n\n"),
        ("# Recipe\n\n- salt\n", "\n", "\n"),
    ],
)
def test_an_edit_in_the_moment_of_writing_keeps_the_note_whole(desk: Laptop, now: str, new: str, wanted: str) -> None:
    """What the file held when the text was merged is not what it holds when it is written."""
    base = "# Recipe\n\n- salt\n"
    write(desk, now, NAME)
    desk.memory.hot.look()
    desk.memory.hot.replace_texts([TextChange(NAME, base, clear(new), Cause(Author.SYNC, "from laptop"))])
    assert text(desk, NAME) == wanted


def without_whole_edits(patch: pytest.MonkeyPatch) -> None:
    """As it was: an empty head is merged like any text."""
    patch.setattr(note_graph, "is_empty", lambda _: False)


def without_telling(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(notes, "_met_deletions", lambda *_: None)


@pytest.mark.parametrize("switch_off", [without_whole_edits, without_telling])
def test_each_rule_is_needed(
    desk: Laptop, laptop: Laptop, place: Path, monkeypatch: pytest.MonkeyPatch, switch_off: Callable[..., None]
) -> None:
    """The control."""
    switch_off(monkeypatch)
    write(desk, RECIPE, NAME)
    sync(place, desk, laptop)
    delete(desk)
    desk.run(place)
    laptop.clock.advance(2 * 86400)  # so that the edit is the later one
    write(laptop, EDITS["changed"], NAME)
    news = laptop.run(place).news
    assert text(laptop, NAME) != EDITS["changed"] or "was deleted on" not in "".join(news)
