"""The picker's list of conversations: days, query, preview, rename, export, deletion."""

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from foundation.privacy import clear
from memory.backup.place import LocalPlace
from memory.errors import NotFound
from memory.memory import Memory
from memory.records import ONE_SHOT, EntryDraft, EntryKind
from memory.settings import SyncSettings
from memory.sync.place import SYNC
from memory.sync.renewal import LocationAccess, renew_locations
from memory.sync.sync import Sync
from models.messages import Role
from tests.memory.forget.bytes_of import places_of
from tests.tui.picker.conftest import Picking, Say
from tui.dialogs.confirm import YesScreen
from tui.picker.browser import PickerChoice
from tui.picker.conversations import day_groups


def seen(chat: Any) -> str:
    return "\n".join(chat.seen)


NOON = datetime.now().astimezone().replace(hour=12, minute=0, second=0, microsecond=0)


@pytest.fixture
def three(say: Say) -> list[Any]:
    """Of 12 March 2026, of yesterday, of today."""
    march = NOON.replace(year=2026, month=3, day=12)
    return [
        say("The harbour", "Where is the lighthouse?", moment=march, reply="Behind the mole."),
        say(
            "锅炉 🙂 boiler", "When is it serviced?", "And the pump?", moment=NOON - timedelta(days=1), reply="In May."
        ),
        say("Tea", "At four?", moment=NOON),
    ]


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_conversations_stand_under_their_days_and_months_with_a_preview(
    picking: Picking, three: list[Any], size: tuple[int, int]
) -> None:
    async with picking(size=size) as chat:
        await chat.until(lambda: "2 turns" in seen(chat) and "At four?" in seen(chat))
        lines = [line.strip() for line in chat.seen]
        days = [n for n, line in enumerate(lines) if line.startswith(("▾ Today", "▾ Yesterday", "▾ March 2026"))]
        assert len(days) == 3
        assert "锅炉" in lines[days[1] + 1]
        assert "3 conversations" in seen(chat)
        assert all(cell_len(line) <= size[0] for line in chat.seen)
        for key in ("Enter resume", "→ turns", "Ctrl+R rename", "Ctrl+E export", "Ctrl+D delete", "Esc back"):
            assert key in " ".join(line.strip() for line in chat.seen[-2:])


async def test_a_day_folds_and_unfolds(picking: Picking, three: list[Any]) -> None:
    async with picking() as chat:
        await chat.press("left")
        await chat.until(lambda: "▸ Today" in seen(chat))
        assert "12:00  Tea" not in seen(chat)
        await chat.press("right")
        await chat.until(lambda: "▾ Today" in seen(chat))
        await chat.press("enter")
        await chat.until(lambda: "▸ Today" in seen(chat))
        assert chat.chosen == []


async def test_enter_resumes_and_the_open_one_needs_nothing(picking: Picking, three: list[Any]) -> None:
    async with picking(opened=three[2]) as chat:
        assert chat.picker.conversation == three[1]  # not the open one
        await chat.press("enter")
        assert chat.chosen == [PickerChoice((f"/resume {three[1].id}",))]
    async with picking(opened=three[2]) as chat:
        await chat.press("up", "up", "enter")
        assert chat.chosen == [PickerChoice()]


async def test_titles_and_texts_are_found_as_one_types(picking: Picking, memory: Memory, three: list[Any]) -> None:
    memory.search.update()
    async with picking() as chat:
        await chat.press(*"boiler")
        await chat.until(lambda: "1 by title · 0 more by text" in seen(chat))
        assert chat.picker.conversation == three[1]
        await chat.press("escape")
        assert chat.app.screen is chat.picker
        await chat.press(*"lighthouse")
        await chat.until(lambda: "0 by title · 1 more by text" in seen(chat))
        assert chat.picker.conversation == three[0]
        await chat.until(lambda: "Behind the mole." in seen(chat))  # around the passage
        await chat.press("enter")
        assert chat.chosen == [PickerChoice((f"/resume {three[0].id}",))]


async def test_a_query_that_finds_nothing_says_so(picking: Picking, three: list[Any]) -> None:
    async with picking(query="zebra") as chat:
        await chat.until(lambda: "No title or message matches “zebra”" in seen(chat))


async def test_a_conversation_is_renamed_in_place(picking: Picking, memory: Memory, three: list[Any]) -> None:
    async with picking() as chat:
        await chat.press("ctrl+r", "space", *"time", "enter")
        await chat.until(lambda: "Renamed to “Tea time”." in seen(chat))
        assert memory.conversations.at(three[2].seq).title == "Tea time"
        await chat.press("ctrl+r", "ctrl+u", "enter")
        await chat.until(lambda: "A title cannot be empty." in seen(chat))
        assert memory.conversations.at(three[2].seq).title == "Tea time"


async def test_an_export_asks_before_it_overwrites(picking: Picking, memory: Memory, three: list[Any]) -> None:
    file: Path = memory.workspace.root / "Tea.md"
    async with picking() as chat:
        await chat.press("ctrl+e", "enter")
        await chat.until(lambda: "Written to" in seen(chat))
        assert "At four?" in file.read_text(encoding="utf-8")
        file.write_text("mine", encoding="utf-8")
        await chat.press("ctrl+e", "enter")
        await chat.until(lambda: "Enter overwrites it" in seen(chat))
        assert file.read_text(encoding="utf-8") == "mine"
        await chat.press("enter")
        await chat.until(lambda: "At four?" in file.read_text(encoding="utf-8"))
        await chat.press("ctrl+e", *["backspace"] * 2, *"jsonl", "enter")
        await chat.until(file.with_suffix(".jsonl").is_file)


async def test_a_deletion_says_what_goes_and_is_done_by_y_alone(
    picking: Picking, memory: Memory, three: list[Any]
) -> None:
    async with picking(opened=three[2]) as chat:
        await chat.press("ctrl+d")
        await chat.until(lambda: isinstance(chat.app.screen, YesScreen))
        assert "2 turns" in seen(chat)
        assert "cannot be taken back" in seen(chat)
        await chat.press("enter")
        assert isinstance(chat.app.screen, YesScreen)
        await chat.press("y")
        await chat.until(lambda: "Deleted “锅炉" in seen(chat))
        with pytest.raises(NotFound):
            memory.conversations.at(three[1].seq)
        await chat.until(lambda: "2 conversations" in seen(chat))
        await chat.press("escape")
        assert chat.chosen[0].sentences[0].startswith("Deleted “锅炉")
        assert chat.chosen[0].lines == ()


async def test_a_deletion_leaves_the_location_of_sync_or_names_it(
    picking: Picking, memory: Memory, three: list[Any], tmp_path: Path
) -> None:
    place = tmp_path / "shared"
    location, sync = LocalPlace(place, SYNC), Sync(memory, None)
    location.make()
    sync.begin("desk")
    words = [f"zqbluefin-{number}" for number in range(3)]
    for word, conversation in zip(words, three, strict=True):
        say = EntryDraft(
            conversation=conversation.seq,
            parent=conversation.leaf,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=clear(word),
        )
        memory.conversations.append(say)
    sync.run(location)
    assert list(places_of(place, words).values()) == [words]
    access = LocationAccess(SyncSettings(locations=[location.name]), {"PALIMPSEST_CONFIG_DIR": str(tmp_path)})
    async with picking(locations=access, size=(100, 40)) as chat:
        await chat.press("ctrl+d")
        await chat.until(lambda: isinstance(chat.app.screen, YesScreen))
        await chat.press("y")
        await chat.until(lambda: "Deleted “" in seen(chat))
        (held,) = places_of(place, words).values()
        assert len(held) == 2
        away = place.rename(tmp_path / "away")
        await chat.press("ctrl+d")
        await chat.until(lambda: isinstance(chat.app.screen, YesScreen))
        await chat.press("y")
        await chat.until(lambda: "could not be deleted from" in seen(chat))
        away.rename(place)
        assert renew_locations(memory, access) == ()
        assert [len(held) for held in places_of(place, words).values()] == [1]


async def test_deleting_the_open_one_goes_on_with_a_new_one(picking: Picking, three: list[Any]) -> None:
    async with picking(opened=three[2]) as chat:
        await chat.press("up", "up", "ctrl+d")
        await chat.until(lambda: isinstance(chat.app.screen, YesScreen))
        await chat.press("y")
        await chat.until(lambda: chat.chosen)
        assert chat.chosen[0].lines == ("/new",)


async def test_the_open_one_is_not_deleted_while_it_answers(picking: Picking, memory: Memory, three: list[Any]) -> None:
    async with picking(opened=three[2], is_answering=True) as chat:
        await chat.press("up", "up", "ctrl+d")
        await chat.until(lambda: "An answer is in progress in it." in seen(chat))
        assert memory.conversations.at(three[2].seq).title == "Tea"


async def test_questions_of_print_mode_are_hidden_until_they_are_asked_for(
    picking: Picking, memory: Memory, three: list[Any]
) -> None:
    memory.conversations.label(three[0].seq, clear(ONE_SHOT))
    async with picking() as chat:
        assert "1 of -p hidden: Ctrl+O" in seen(chat)
        assert "The harbour" not in seen(chat)
        await chat.press("ctrl+o")
        await chat.until(lambda: "The harbour" in seen(chat))


async def test_of_thousands_only_the_months_that_are_unfolded_are_read(
    picking: Picking, memory: Memory, say: Say
) -> None:
    for number in range(300):
        say(f"Number {number}", moment=NOON - timedelta(hours=12 * number))
    async with picking() as chat:
        level = chat.picker.level
        assert "300 conversations" in seen(chat)
        listed = sum(level.conversation(number) is not None for number in range(level.count))
        assert 0 < listed <= 100
        before = level.count
        await chat.press("ctrl+end", "right")
        await chat.until(lambda: level.count > before)


def test_days_are_grouped_to_this_week_and_to_months() -> None:
    today = date(2026, 11, 26)  # a Thursday
    days = [today, date(2026, 11, 25), date(2026, 11, 24), date(2026, 11, 23), date(2026, 11, 22), date(2026, 10, 3)]
    periods = day_groups([*days, date(2025, 10, 3)], today)
    assert [(period.label, len(period.days)) for period in periods] == [
        ("Today", 1),
        ("Yesterday", 1),
        ("This week", 2),
        ("November 2026", 1),
        ("October 2026", 1),
        ("October 2025", 1),
    ]
    assert len({period.first for period in periods}) == len(periods), "each folds by itself"


@given(
    st.lists(st.dates(date(2020, 1, 1), date(2030, 1, 1)), unique=True), st.dates(date(2020, 1, 1), date(2030, 1, 1))
)
def test_no_two_periods_fold_together(days: list[date], today: date) -> None:
    periods = day_groups(sorted(days, reverse=True), today)
    assert len({period.first for period in periods}) == len(periods)
    assert [day for period in periods for day in period.days] == sorted(days, reverse=True)
