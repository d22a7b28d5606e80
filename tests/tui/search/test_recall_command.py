"""`/recall` opens the search, and a reference its passage: the passage, its page, a picture. The memory is real."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given, clear
from memory.errors import Damaged
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.tui.fakes import FakeSession, answer
from tui.passages.page_screen import PictureScreen
from tui.passages.screen import PassageScreen
from tui.search.screen import SearchScreen

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

BEGAN = datetime(2026, 3, 14, 9, 26, tzinfo=UTC)
BOILER = "The boiler is serviced in May by Hansen. 锅炉每年五月保养。 🙂"


@pytest.fixture
def memory(workspace: Workspace) -> Iterator[Memory]:
    opened = Memory.open(workspace, SystemClock())
    yield opened
    opened.close()


def say(memory: Memory, *texts: str, title: str = "House") -> list[str]:
    """A conversation of Ann's; gives the ids of its entries."""
    conversation = memory.cold.new_conversation(clear(title))
    drafts = [
        EntryDraft(
            conversation=conversation.seq,
            parent=None,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            speaker="Ann",
            text=clear(text),
            time=BEGAN + timedelta(minutes=number),
        )
        for number, text in enumerate(texts)
    ]
    return [entry.id for entry in memory.cold.append_many(drafts) if entry]


@asynccontextmanager
async def looking(open_chat: Any, memory: Memory, query: str = "", **more: Any) -> AsyncIterator[Any]:
    session = FakeSession(lambda text: answer(text))
    session.memory = memory
    async with open_chat(session=session, **more) as chat:
        await chat.insert(f"/recall {query}".strip())
        await chat.press("escape", "enter")
        await chat.until(lambda: isinstance(chat.app.screen, SearchScreen | PassageScreen))
        yield chat


def seen(chat: Any) -> str:
    return "\n".join(chat.seen)


async def found(chat: Any) -> None:
    await chat.until(lambda: isinstance(chat.app.screen, SearchScreen) and chat.app.screen.rows)


async def test_what_is_found_stands_with_date_trust_and_words(open_chat: Any, memory: Memory) -> None:
    say(memory, BOILER, "The harbour office moved to Quay 7.")
    async with looking(open_chat, memory, "boiler") as chat:
        await chat.until(lambda: "1 found" in seen(chat))
        assert "The boiler is serviced in May by Hansen." in seen(chat)
        assert "House · Ann · 2026-03-14 · exact" in seen(chat)
        assert "harbour" not in seen(chat)[: seen(chat).index("[House")]
        await chat.press("escape")
        assert chat.app.screen is chat.screen


async def test_nothing_asked_lists_what_is_newest_and_typing_looks(open_chat: Any, memory: Memory) -> None:
    say(memory, BOILER, "The harbour office moved to Quay 7.")
    async with looking(open_chat, memory) as chat:
        await chat.until(lambda: "2 found" in seen(chat) or len(chat.app.screen.rows) == 2)
        assert ["harbour" in row.snippet for row in chat.app.screen.rows] == [True, False]
        await chat.type("boiler")
        await chat.until(lambda: "1 found" in seen(chat))
        await chat.type("zzz")
        await chat.until(lambda: "No results for “boilerzzz”" in seen(chat))


async def test_enter_shows_the_passage_whole(open_chat: Any, memory: Memory) -> None:
    say(memory, BOILER + "\n" + "\n".join(f"line {number}" for number in range(200)))
    async with looking(open_chat, memory, "boiler") as chat:
        await found(chat)
        await chat.press("ctrl+o")
        await chat.until(lambda: "201 lines" in seen(chat))
        assert "exact, as it was stored" in seen(chat)
        assert "锅炉每年五月保养。" in seen(chat)
        await chat.press("end")
        assert "201  line 199" in seen(chat)
        await chat.press("home")
        assert "1  The boiler" in seen(chat)
        await chat.press("p")  # it is on no page
        assert isinstance(chat.app.screen, PassageScreen)
        await chat.press("escape")
        assert isinstance(chat.app.screen, SearchScreen)


async def test_a_reference_goes_straight_to_its_passage(open_chat: Any, memory: Memory) -> None:
    (entry, _) = say(memory, BOILER, "Something else.")
    async with looking(open_chat, memory, entry) as chat:
        await chat.until(lambda: isinstance(chat.app.screen, PassageScreen) and "May by Hansen" in seen(chat))
        assert "Something else" not in seen(chat)


async def test_a_reference_to_nothing_says_so(open_chat: Any, memory: Memory) -> None:
    say(memory, BOILER)
    async with looking(open_chat, memory, "pg_doesnotexist") as chat:
        await chat.until(lambda: "pg_doesnotexist" in seen(chat) and "looking" not in seen(chat))
        assert not chat.app.screen.rows
        await chat.until(lambda: "There is no page pg_doesnotexist" in seen(chat))


async def test_a_page_that_lies_anywhere_is_read_by_its_path(open_chat: Any, memory: Memory, tmp_path: Path) -> None:
    (page,) = memory.vault.archive_text(as_given(BOILER), label="A letter").pages
    elsewhere = tmp_path / "x.png"
    elsewhere.write_bytes(memory.vault.png(page.id).read_bytes())
    async with looking(open_chat, memory, str(elsewhere)) as chat:
        await chat.until(lambda: isinstance(chat.app.screen, PassageScreen) and "May by Hansen" in seen(chat))
        assert "exact, read from its pixels" in seen(chat)


async def test_a_citation_goes_into_the_prompt_beside_what_stands_there(open_chat: Any, memory: Memory) -> None:
    (entry,) = say(memory, BOILER)
    async with looking(open_chat, memory, "boiler") as chat:
        chat.screen.prompt.set_text("as in")
        await found(chat)
        await chat.press("ctrl+o")
        await chat.until(lambda: "characters" in seen(chat))
        await chat.press("i")
        await chat.until(lambda: chat.app.screen is chat.screen)
        assert chat.screen.prompt.text == f"as in [House · Ann · 2026-03-14 · {entry}] "


async def test_a_copy_is_to_the_letter_and_what_is_seen_is_not_obeyed(open_chat: Any, memory: Memory) -> None:
    text = "boiler \x1b]52;c;QUJD\x07 \x9b31m \u202e [@click=app.quit]x[/] \x00"
    say(memory, text, title="a \x1b[2J title")
    async with looking(open_chat, memory, "boiler") as chat:
        await found(chat)
        assert not {"\x1b", "\x9b", "\u202e", "\x00"} & set(seen(chat))
        await chat.press("ctrl+o")
        await chat.until(lambda: "characters" in seen(chat))
        assert not {"\x1b", "\x9b", "\u202e", "\x00"} & set(seen(chat))
        assert "[@click=app.quit]x[/]" in seen(chat)
        await chat.press("c")
        assert chat.app.clipboard == text


async def test_an_archived_passage_shows_its_page_as_a_picture(open_chat: Any, memory: Memory) -> None:
    archived = memory.vault.archive_text(as_given(BOILER + "\n" + "More of it. " * 1500), label="A letter")
    assert len(archived.pages) > 1
    async with looking(open_chat, memory, archived.pages[0].id) as chat:
        await chat.until(lambda: "read from its pixels" in seen(chat))
        await chat.press("p")
        await chat.until(lambda: isinstance(chat.app.screen, PictureScreen) and "▀" in seen(chat))
        assert f"Page {archived.pages[0].id}" in seen(chat)
        assert "vision tokens" in seen(chat)
        assert "+ zooms to the passage" in seen(chat)
        whole = seen(chat)
        assert chat.app.screen.zoom.level == 0  # fitted first
        await chat.press("plus")
        await chat.until(lambda: chat.app.screen.zoom.level >= 3 and "▀" in seen(chat))
        level = chat.app.screen.zoom.level
        await chat.press("minus")
        await chat.until(lambda: chat.app.screen.zoom.level == level - 1 and "▀" in seen(chat))
        await chat.press("o")  # there is no desktop here: told, and nothing is run
        await chat.press("escape")
        assert isinstance(chat.app.screen, PassageScreen)
        assert whole.count("▀") > 100


async def test_the_picture_opens_at_the_lines_of_what_was_found(open_chat: Any, memory: Memory) -> None:
    ids = say(memory, *[f"{n}: nothing of note. " * 40 for n in range(30)], "The zeppelin lands at noon.", "So be it.")
    entries = [memory.cold.find(one) for one in ids]
    archived = memory.vault.archive_entries(entries, label="House")
    text = memory.vault.read_page(archived.pages[-1].id).text
    async with looking(open_chat, memory, ids[30]) as chat:
        await chat.until(lambda: "read" in seen(chat))
        await chat.press("p")
        await chat.until(lambda: isinstance(chat.app.screen, PictureScreen) and chat.app.screen.picture is not None)
        screen = chat.app.screen
        await chat.press("plus")
        left, top, *_ = screen.zoom.box(*screen.picture.size, screen.box_ratio)
        columns = screen.picture.width // 8
        row, column = divmod(text.index("The zeppelin"), columns)
        header = 1 if columns >= 95 else 2
        assert abs(top - 16 * (row + header)) <= 1 or top + 64 >= screen.picture.height - 1
        assert left <= column * 8 <= left + 200


async def test_a_damaged_page_is_said_to_be_that(
    open_chat: Any, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (page,) = memory.vault.archive_text(as_given(BOILER), label="A letter").pages
    async with looking(open_chat, memory, page.id) as chat:
        await chat.until(lambda: "read from its pixels" in seen(chat))

        def damaged(_page: str) -> None:
            raise Damaged("A page is damaged", f"Page {page.id}: its pixels do not match its hash.", "Look it over.")

        monkeypatch.setattr(memory.vault, "png", damaged)
        await chat.press("p")
        await chat.until(lambda: "its pixels do not match its hash" in seen(chat))
        assert "it cannot be shown" in seen(chat)


async def test_a_passage_that_cannot_be_read_says_why_and_shows_what_there_is(
    open_chat: Any, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(memory, BOILER)

    def damaged(*_: object) -> None:
        raise Damaged("A text is missing", "It stands on no page.", "`palimpsest check` looks it over.")

    async with looking(open_chat, memory, "boiler") as chat:
        await found(chat)
        monkeypatch.setattr("tui.passages.screen.full_passage", damaged)
        await chat.press("ctrl+o")
        await chat.until(lambda: "A text is missing" in seen(chat))
        assert "May by Hansen" in seen(chat)  # what search had of it
        await chat.press("c", "p")
        assert isinstance(chat.app.screen, PassageScreen)


async def test_a_defect_is_told_and_the_chat_goes_on(
    open_chat: Any, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(memory, BOILER)

    def broken(*_: object) -> None:
        raise ValueError("not this")

    async with looking(open_chat, memory, "boiler") as chat:
        await found(chat)
        monkeypatch.setattr("tui.passages.screen.full_passage", broken)
        await chat.press("ctrl+o")
        await chat.until(lambda: "A bug in Palimpsest" in seen(chat))
        await chat.press("escape")
        await chat.press("escape")
        assert chat.app.screen is chat.screen


async def test_a_slow_read_does_not_hold_the_keys(
    open_chat: Any, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(memory, BOILER)
    release = threading.Event()
    async with looking(open_chat, memory, "boiler") as chat:
        await found(chat)
        monkeypatch.setattr("tui.passages.screen.full_passage", lambda *_: release.wait(5))
        await chat.press("ctrl+o")
        await chat.until(lambda: "reading …" in seen(chat))
        async with asyncio.timeout(1):
            await chat.press("escape")
        assert isinstance(chat.app.screen, SearchScreen)
        release.set()


async def test_an_archives_label_comes_before_the_hits_of_its_words(open_chat: Any, memory: Memory) -> None:
    say(memory, "The harbour letters are in the drawer.")
    memory.vault.archive_text(as_given(BOILER), label="harbour letters")
    async with looking(open_chat, memory, "harbour letters") as chat:
        await found(chat)
        assert [BOILER in row.snippet for row in chat.app.screen.rows][:2] == [True, False]
        assert f"{len(chat.app.screen.rows)} found" in seen(chat)


async def test_the_page_of_a_hit_is_shown_from_the_list(open_chat: Any, memory: Memory) -> None:
    memory.vault.archive_text(as_given(BOILER), label="A letter")
    say(memory, "The harbour office moved to Quay 7.")
    async with looking(open_chat, memory, "boiler") as chat:
        await found(chat)
        await chat.press("ctrl+g")
        await chat.until(lambda: isinstance(chat.app.screen, PictureScreen) and "▀" in seen(chat))
        await chat.press("escape")
        assert isinstance(chat.app.screen, SearchScreen)
    async with looking(open_chat, memory, "harbour") as chat:
        await found(chat)
        await chat.press("tab", "p")  # it is on no page
        await chat.pilot.pause(0.2)
        assert isinstance(chat.app.screen, SearchScreen)


async def test_ten_thousand_lines_open_at_once(open_chat: Any, memory: Memory) -> None:
    (entry,) = say(memory, "\n".join(f"boiler line {number}, 第{number}行 🙂" for number in range(10_000)))
    async with looking(open_chat, memory, entry) as chat:
        await chat.until(lambda: "10,000 lines" in seen(chat))
        await chat.press("end")
        await chat.until(lambda: "10000  boiler line 9999" in seen(chat))
