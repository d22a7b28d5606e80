"""The versions of the files of memory on screen, over a real folder: listed, compared, filtered, opened, restored."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.memory import Memory
from memory.versions.cause import Author, caused_by
from tests.tui.conftest import Chat, Open
from tests.tui.fakes import FakeSession, answer
from tui.overview.memory_screen import MemoryScreen
from tui.overview.restore_dialog import RestoreScreen
from tui.overview.versions_screen import VersionsScreen
from tui.passages.text_screen import TextScreen

TEXT = "# Memory\n\n- The boiler is serviced in May.\n- 锅炉 🙂\n"
MODEL = "The valve cost 12.50 [red]阀门[/red]."


@pytest.fixture
def session(workspace: Workspace) -> Iterator[Any]:
    """MEMORY.md by hand, then by a model, and a file about people by hand."""
    fake: Any = FakeSession(answer)
    fake.workspace = workspace
    workspace.memory_md.write_text(TEXT, encoding="utf-8")
    fake.memory = Memory.open(workspace, SystemClock())
    fake.memory.hot.look()
    with caused_by(Author.MODEL, "tool remember in c_1"):
        fake.memory.hot.remember(clear(MODEL), heading=None, conversation="c_1")
    workspace.memory_dir.mkdir(exist_ok=True)
    (workspace.memory_dir / "人.md").write_text("- Ann plays the cello. 🎻\n", encoding="utf-8")
    yield fake
    fake.memory.close()


async def opened(chat: Chat, key: str = "h") -> VersionsScreen:
    chat.screen.queue.add("/memory")
    await chat.until(lambda: isinstance(chat.app.screen, MemoryScreen) and chat.app.screen.is_read)
    await chat.press(key)
    await chat.until(lambda: isinstance(chat.app.screen, VersionsScreen) and chat.app.screen.is_read)
    screen = chat.app.screen
    assert isinstance(screen, VersionsScreen)
    return screen


def seen(chat: Chat) -> str:
    return " ".join(" ".join(chat.seen).split())


def rows(chat: Chat) -> list[str]:
    """The rows of the list that are versions."""
    screen = chat.app.screen
    assert isinstance(screen, VersionsScreen)
    return [f"{row.label} {row.figure}" for row in screen.contents.rows if row.id]


async def test_the_versions_of_the_chosen_file_say_who_why_and_how_much(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session, size=(120, 36)) as chat:
        await opened(chat)
        await chat.until(lambda: "12.50 [red]阀门[/red]" in seen(chat))
        by_model, by_hand = rows(chat)
        assert "a model" in by_model and "tool remember in c_1" in by_model and by_model.endswith("−0")
        assert "you" in by_hand and "found when versions were first saved" in by_hand and by_hand.endswith("+4 −0")
        await chat.press("down")
        await chat.until(lambda: "+- The boiler is serviced in May." in seen(chat))
        assert "阀门" not in seen(chat)


async def test_all_files_are_listed_together_each_with_its_name(open_chat: Open, session: Any) -> None:
    (session.workspace.root / "AGENTS.md").write_text("Be brief.\n", encoding="utf-8")
    async with open_chat(session=session, size=(120, 36)) as chat:
        await opened(chat, "a")
        together = "\n".join(rows(chat))
        for name in ("MEMORY.md", "memory/人.md", "AGENTS.md"):
            assert name in together


async def test_words_filter_the_versions_and_esc_shows_all_again(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session, size=(80, 24)) as chat:
        screen = await opened(chat, "a")
        total = len(rows(chat))
        await chat.press("slash")
        await chat.type("remember model")
        await chat.until(lambda: len(rows(chat)) == 1)
        assert f"1 of {total} versions" in seen(chat)
        await chat.press("enter", "end")
        assert not isinstance(chat.app.focused, Input)
        assert len(rows(chat)) == 1, "the filter stays when the list has the keys"
        await chat.press("escape")
        await chat.until(lambda: len(rows(chat)) == total)
        assert chat.app.screen is screen


async def test_words_that_no_version_has_are_said_so(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        await opened(chat)
        await chat.press("slash")
        await chat.type("zeppelin")
        await chat.until(lambda: "No version matches." in seen(chat))


async def test_enter_opens_the_whole_text_of_a_version_and_d_its_difference(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session, size=(120, 36)) as chat:
        await opened(chat)
        await chat.press("down", "enter")
        await chat.until(lambda: isinstance(chat.app.screen, TextScreen) and "serviced in May" in seen(chat))
        assert "MEMORY.md, version 1" in seen(chat) and "阀门" not in seen(chat)
        await chat.press("escape", "up", "d")
        await chat.until(lambda: isinstance(chat.app.screen, TextScreen) and "阀门" in seen(chat))
        assert "what version 2 changed" in seen(chat)


async def test_a_version_is_restored_once_its_difference_was_agreed_to(open_chat: Open, session: Any) -> None:
    file: Path = session.workspace.memory_md
    before = file.read_bytes()
    async with open_chat(session=session, size=(120, 36)) as chat:
        await opened(chat)
        await chat.press("down", "r")
        await chat.until(lambda: isinstance(chat.app.screen, RestoreScreen))
        assert "Restore version 1 of MEMORY.md?" in seen(chat) and "-" in seen(chat) and "阀门" in seen(chat)
        await chat.press("escape")
        assert file.read_bytes() == before
        await chat.press("r")
        await chat.until(lambda: isinstance(chat.app.screen, RestoreScreen))
        await chat.press("enter")
        newest = lambda: session.memory.versions.store.newest("MEMORY.md").number  # noqa: E731
        await chat.until(lambda: f"restored to version 1; this is version {newest()}." in seen(chat))
        assert file.read_text(encoding="utf-8") == TEXT
        assert "version 1 restored" in rows(chat)[0], "a restore is a version too"


async def test_what_was_edited_by_hand_since_stays_a_version(open_chat: Open, session: Any) -> None:
    file: Path = session.workspace.memory_md
    async with open_chat(session=session, size=(120, 36)) as chat:
        await opened(chat)
        file.write_text("- by hand, in between\n", encoding="utf-8")
        await chat.press("down", "r")
        await chat.until(lambda: isinstance(chat.app.screen, RestoreScreen) and "-- by hand, in between" in seen(chat))
        await chat.press("enter")
        await chat.until(lambda: "restored to version 1" in seen(chat))
        store = session.memory.versions.store
        assert b"- by hand, in between\n" in [store.body(version) for version in store.versions("MEMORY.md")]


async def test_the_present_text_is_not_restored_again(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        await opened(chat)
        await chat.press("r")
        await chat.until(lambda: "MEMORY.md already has that text." in seen(chat))


async def test_a_version_where_the_file_was_gone_is_no_text_to_restore(open_chat: Open, session: Any) -> None:
    session.workspace.memory_md.unlink()
    session.memory.hot.look()
    session.workspace.memory_md.write_text(TEXT, encoding="utf-8")
    async with open_chat(session=session) as chat:
        await opened(chat)
        await chat.press("down")
        assert rows(chat)[1].endswith("removed")
        await chat.press("r")
        await chat.until(lambda: "MEMORY.md was not there" in seen(chat))


async def test_a_damaged_version_is_named_and_the_others_are_listed(open_chat: Open, session: Any) -> None:
    newest = session.memory.versions.store.newest("MEMORY.md")
    for file in (session.workspace.versions / "objects").rglob("*"):
        if file.is_file() and newest.sha256.endswith(file.name.removesuffix(".zst")[-20:]):
            file.write_bytes(b"nothing of that")
    async with open_chat(session=session, size=(120, 36)) as chat:
        await opened(chat)
        damaged, whole = rows(chat)
        assert damaged.endswith("damaged") and whole.endswith("+4 −0")
        await chat.press("enter")
        await chat.until(lambda: "it cannot be shown" in seen(chat))


async def undone(chat: Chat) -> None:
    """`u` in /memory, with the question answered."""
    await chat.press("u")
    await chat.until(lambda: isinstance(chat.app.screen, RestoreScreen))
    await chat.press("enter")
    await chat.until(lambda: isinstance(chat.app.screen, MemoryScreen))


async def test_u_takes_back_the_last_change_of_the_file_whoever_made_it(open_chat: Open, session: Any) -> None:
    file: Path = session.workspace.memory_md
    by_model = file.read_text(encoding="utf-8")
    by_hand = by_model.replace("# Memory", "# 记忆")
    file.write_text(by_hand, encoding="utf-8")
    async with open_chat(session=session, size=(120, 36)) as chat:
        chat.screen.queue.add("/memory")
        await chat.until(lambda: isinstance(chat.app.screen, MemoryScreen) and chat.app.screen.is_read)
        await chat.press("u")
        await chat.until(lambda: "of MEMORY.md, by you" in seen(chat) and "-# 记忆" in seen(chat))
        await chat.press("escape")
        await chat.until(lambda: isinstance(chat.app.screen, MemoryScreen))
        assert file.read_text(encoding="utf-8") == by_hand
        await undone(chat)
        await chat.until(lambda: "was undone" in seen(chat))
        assert file.read_text(encoding="utf-8") == by_model
        await undone(chat)
        await chat.until(lambda: "version 2 is taken back" in seen(chat))
        assert file.read_text(encoding="utf-8") == TEXT
        await chat.press("u")
        await chat.until(lambda: "MEMORY.md has no earlier version" in seen(chat))


async def test_what_taking_back_the_change_of_another_device_does_is_said(open_chat: Open, session: Any) -> None:
    with caused_by(Author.SYNC, "from another"):
        session.memory.hot.remember(clear("From the desk."), heading=None, conversation=None)
    async with open_chat(session=session) as chat:
        chat.screen.queue.add("/memory")
        await chat.until(lambda: isinstance(chat.app.screen, MemoryScreen) and chat.app.screen.is_read)
        await chat.press("u")
        await chat.until(lambda: "comes back on your other devices, even if it was deleted there" in seen(chat))
        await chat.press("escape")
        await chat.until(lambda: isinstance(chat.app.screen, MemoryScreen))
        session.memory.hot.remember(clear("Mine."), heading=None, conversation=None)
        await chat.press("u")
        await chat.until(lambda: isinstance(chat.app.screen, RestoreScreen) and "Mine." in seen(chat))
        assert "your other devices" not in seen(chat)


async def test_a_restored_version_is_taken_back_as_any_change(open_chat: Open, session: Any) -> None:
    file: Path = session.workspace.memory_md
    by_model = file.read_text(encoding="utf-8")
    session.memory.restorer.restore(session.memory.versions.store.version(1))
    async with open_chat(session=session) as chat:
        chat.screen.queue.add("/memory")
        await chat.until(lambda: isinstance(chat.app.screen, MemoryScreen) and chat.app.screen.is_read)
        await undone(chat)
        await chat.until(lambda: "was undone" in seen(chat))
        assert file.read_text(encoding="utf-8") == by_model


async def test_nothing_is_taken_back_of_a_file_that_changed_while_the_question_was_open(
    open_chat: Open, session: Any
) -> None:
    file: Path = session.workspace.memory_md
    async with open_chat(session=session) as chat:
        chat.screen.queue.add("/memory")
        await chat.until(lambda: isinstance(chat.app.screen, MemoryScreen) and chat.app.screen.is_read)
        await chat.press("u")
        await chat.until(lambda: isinstance(chat.app.screen, RestoreScreen))
        file.write_text("- Meanwhile.\n", encoding="utf-8")
        await chat.press("enter")
        await chat.until(lambda: "MEMORY.md was changed meanwhile." in seen(chat))
        assert file.read_text(encoding="utf-8") == "- Meanwhile.\n"
