"""Memory files on screen, over a real folder: listed, edited, merged, refused, followed on disk."""

from collections.abc import Iterator
from typing import Any

import pytest
from textual import events
from textual.widgets import TextArea

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.memory import Memory
from memory.versions.cause import Author, caused_by
from tests.tui.conftest import Chat, Open
from tests.tui.fakes import FakeSession, answer
from tui.overview.edit_screen import COPIES, LEFT_OUT, MERGED, UNSAVED_SIGN, EditScreen
from tui.overview.memory_screen import MemoryScreen
from tui.passages.text_screen import TextScreen
from tui.widgets.query_input import QueryInput

TEXT = "# Memory\n\n- The boiler is serviced in May.\n- 锅炉 🙂\n"


@pytest.fixture
def session(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr("tui.overview.memory_screen.PERIOD_S", 0.05)
    fake: Any = FakeSession(answer)
    fake.workspace = workspace
    workspace.memory_md.write_text(TEXT, encoding="utf-8")
    fake.memory = Memory.open(workspace, SystemClock())
    yield fake
    fake.memory.close()


async def opened(chat: Chat) -> MemoryScreen:
    chat.screen.queue.add("/memory")
    await chat.until(lambda: isinstance(chat.app.screen, MemoryScreen) and chat.app.screen.is_read)
    screen = chat.app.screen
    assert isinstance(screen, MemoryScreen)
    return screen


async def edited(chat: Chat, text: str) -> EditScreen:
    await chat.press("enter")
    await chat.until(lambda: isinstance(chat.app.screen, EditScreen) and chat.app.screen.query(TextArea))
    screen = chat.app.screen
    assert isinstance(screen, EditScreen)
    screen.query_one(TextArea).load_text(text)
    return screen


def seen(chat: Chat) -> str:
    return "\n".join(chat.seen)


async def test_a_file_is_listed_with_its_size_and_text(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session, size=(120, 36)) as chat:
        await opened(chat)
        assert "1 file · " in seen(chat)
        assert any("MEMORY.md" in line and "tokens" in line and "recalled" in line for line in chat.seen)
        assert "The boiler is serviced in May." in seen(chat)


async def test_the_list_is_as_tall_as_its_files_and_the_preview_begins_at_the_first_note(
    open_chat: Open, session: Any
) -> None:
    notes = "".join(f"- Note {number} 锅炉\n" for number in range(1, 30))
    session.workspace.memory_md.write_text(
        f"# Memory\n\n<!-- Yours to edit,\nline by line. -->\n\n{notes}", encoding="utf-8"
    )
    async with open_chat(session=session) as chat:
        await opened(chat)
        await chat.until(lambda: "Note 1 锅炉" in seen(chat))
        assert "Yours to edit" not in seen(chat)
        assert sum("Note" in line for line in chat.seen) >= 12
        await chat.pilot.resize_terminal(40, 10)
        await chat.until(lambda: "Note 1 锅炉" in seen(chat) and "MEMORY.md" in seen(chat))
        assert sum("Note" in line for line in chat.seen) >= 3


async def test_many_files_leave_half_of_the_screen_for_the_preview(open_chat: Open, session: Any) -> None:
    session.workspace.memory_md.write_text("- One\n- Two\n- Three\n- Four\n- Five\n- Six\n", encoding="utf-8")
    (session.workspace.root / "memory").mkdir(exist_ok=True)
    for number in range(30):
        (session.workspace.root / "memory" / f"file{number:02}.md").write_text("- A note.\n", encoding="utf-8")
    async with open_chat(session=session) as chat:
        await opened(chat)
        await chat.until(lambda: "- Six" in seen(chat))
        assert 6 <= sum("file" in line and ".md" in line for line in chat.seen) <= 10


async def test_without_notes_it_says_how_to_write_one(open_chat: Open, session: Any) -> None:
    session.workspace.memory_md.unlink()
    async with open_chat(session=session) as chat:
        await opened(chat)
        assert "`/remember TEXT` writes the first one" in " ".join(seen(chat).split())


async def test_a_change_on_disk_is_shown_at_once_and_marked(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session, size=(120, 36)) as chat:
        await opened(chat)
        session.workspace.memory_md.write_text(f"{TEXT}- By hand.\n", encoding="utf-8")
        await chat.until(lambda: "By hand." in seen(chat) and "MEMORY.md *" in seen(chat))
        await chat.press("d")
        await chat.until(lambda: isinstance(chat.app.screen, TextScreen) and "+- By hand." in seen(chat))
        assert "Changed since this screen was opened, by you: by hand." in seen(chat)


async def test_a_write_of_a_model_is_told_from_one_by_hand(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session, size=(120, 36)) as chat:
        await opened(chat)
        with caused_by(Author.MODEL, "tool remember in c_1"):
            session.memory.hot.remember(clear("The valve cost 12.50."), heading=None, conversation=None)
        await chat.until(lambda: "The valve cost 12.50." in seen(chat))
        await chat.press("d")
        await chat.until(lambda: isinstance(chat.app.screen, TextScreen) and "valve" in seen(chat))
        assert "by a model: tool remember in c_1." in seen(chat)


async def test_an_edit_is_saved_and_the_version_before_it_kept(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        await opened(chat)
        await edited(chat, TEXT.replace("May", "June"))
        await chat.press("ctrl+s")
        await chat.until(lambda: "Saved." in seen(chat))
        assert session.workspace.memory_md.read_text(encoding="utf-8") == TEXT.replace("May", "June")
        store = session.memory.versions.store
        assert store.body(store.versions("MEMORY.md")[-2]).decode() == TEXT


async def test_the_last_change_is_that_of_the_newest_version_with_its_author(open_chat: Open, session: Any) -> None:
    session.memory.hot.look()
    with caused_by(Author.MODEL, "tool remember in c_1"):
        session.memory.hot.remember(clear("The valve cost 12.50."), heading=None, conversation=None)
    async with open_chat(session=session, size=(120, 36)) as chat:
        await opened(chat)
        await chat.press("d")
        await chat.until(lambda: isinstance(chat.app.screen, TextScreen) and "+- The valve" in seen(chat))
        assert "MEMORY.md. Version 2 of " in seen(chat)
        assert "by a model: tool remember in c_1." in seen(chat)


async def test_an_edit_by_hand_meanwhile_is_merged(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        await opened(chat)
        await edited(chat, TEXT.replace("# Memory", "# My memory"))
        session.workspace.memory_md.write_text(f"{TEXT}- By hand.\n", encoding="utf-8")
        await chat.press("ctrl+s")
        await chat.until(
            lambda: "Changes made elsewhere in the meantime were merged in" in " ".join(seen(chat).split())
        )
        assert LEFT_OUT not in " ".join(seen(chat).split())
        now = session.workspace.memory_md.read_text(encoding="utf-8")
        assert now == f"{TEXT.replace('# Memory', '# My memory')}- By hand.\n"


async def test_what_is_private_is_left_out_of_a_saved_file_and_that_is_said(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        await opened(chat)
        await edited(chat, f"{TEXT}- <private>the code</private> is new.\n")
        await chat.press("ctrl+s")
        await chat.until(lambda: LEFT_OUT in " ".join(seen(chat).split()))
        assert MERGED not in " ".join(seen(chat).split())
        assert "the code" not in session.workspace.memory_md.read_text(encoding="utf-8")


@pytest.mark.parametrize("before", [TEXT, TEXT.rstrip(), "one\r\ntwo", ""])
async def test_a_line_appended_by_hand_after_a_save_is_a_line_of_its_own(
    open_chat: Open, session: Any, before: str
) -> None:
    session.workspace.memory_md.write_bytes(before.encode())
    async with open_chat(session=session) as chat:
        await opened(chat)
        screen = await edited(chat, f"{before.rstrip()}\n- typed in the editor".lstrip())
        await chat.press("ctrl+s")
        await chat.until(lambda: "Saved." in seen(chat))
        assert not screen.is_changed
        with session.workspace.memory_md.open("ab") as file:
            file.write(b"- x\n")
        lines = session.workspace.memory_md.read_text(encoding="utf-8").splitlines()
        assert lines[-2:] == ["- typed in the editor", "- x"]


async def test_an_edit_of_the_same_line_is_refused_and_nothing_is_lost(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        await opened(chat)
        screen = await edited(chat, TEXT.replace("May", "June"))
        by_hand = TEXT.replace("May", "July")
        session.workspace.memory_md.write_text(by_hand, encoding="utf-8")
        await chat.press("ctrl+s")
        await chat.until(lambda: "the same lines of" in " ".join(seen(chat).split()))
        assert session.workspace.memory_md.read_text(encoding="utf-8") == by_hand
        assert "June" in screen.query_one(TextArea).text
        assert COPIES in " ".join(seen(chat).split())
        await chat.press("ctrl+t")
        await chat.until(lambda: "Copied the whole text." in seen(chat))
        assert chat.app.clipboard == TEXT.replace("May", "June")


async def test_an_unsaved_edit_is_dropped_with_the_second_esc_only(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        memory = await opened(chat)
        screen = await edited(chat, "other")
        await chat.press("escape")
        assert chat.app.screen is screen and "Esc again discards them" in seen(chat)
        await chat.press("escape")
        await chat.until(lambda: chat.app.screen is memory)
        assert session.workspace.memory_md.read_text(encoding="utf-8") == TEXT


async def test_windows_line_ends_survive_an_edit(open_chat: Open, session: Any) -> None:
    session.workspace.memory_md.write_bytes(b"one\r\ntwo\r\n")
    async with open_chat(session=session) as chat:
        await opened(chat)
        screen = await edited(chat, "one\r\ntwo\r\nthree\r\n")
        assert not screen.query_one(TextArea).read_only
        await chat.press("ctrl+s")
        await chat.until(lambda: "Saved." in seen(chat))
        assert session.workspace.memory_md.read_bytes() == b"one\r\ntwo\r\nthree\r\n"


async def test_the_editor_saves_through_the_same_writer(
    open_chat: Open, session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.overview.memory_screen.edited_text", lambda node, text: (f"{text}- From outside.\n", ""))
    async with open_chat(session=session) as chat:
        await opened(chat)
        await chat.press("ctrl+g")
        await chat.until(lambda: "MEMORY.md saved." in seen(chat))
        assert session.workspace.memory_md.read_text(encoding="utf-8") == f"{TEXT}- From outside.\n"


async def test_the_editor_goes_to_the_ends_of_the_text(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        await opened(chat)
        screen = await edited(chat, "- one\n" * 80 + "- the last 🙂")
        area = screen.query_one(TextArea)
        await chat.press("ctrl+end")
        assert area.cursor_location == (80, len("- the last 🙂"))
        assert "the last 🙂" in seen(chat)
        await chat.press("ctrl+home")
        assert area.cursor_location == (0, 0)


async def test_the_editor_says_that_it_is_not_saved_as_long_as_it_is_not(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        await opened(chat)
        await edited(chat, TEXT)
        await chat.until(lambda: "Ctrl+S saves" in seen(chat))
        assert UNSAVED_SIGN not in seen(chat)
        await chat.press("x")
        assert f"MEMORY.md{UNSAVED_SIGN}" in seen(chat)
        await chat.press("backspace")
        assert UNSAVED_SIGN not in seen(chat), "the text is that of the file again"
        await chat.press("y", "ctrl+s")
        await chat.until(lambda: "Saved." in seen(chat))
        assert UNSAVED_SIGN not in seen(chat)


async def test_a_paste_presses_no_key_in_the_list_and_is_text_in_the_editor(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session, size=(120, 36)) as chat:
        screen = await opened(chat)
        for pasted in ("u", "d", "q", "G\r"):
            chat.app.post_message(events.Paste(pasted))
        await chat.pilot.pause(0.3)
        assert chat.app.screen is screen and chat.screen.prompt.text == ""
        editor = await edited(chat, "")
        chat.app.post_message(events.Paste("one\r\x07two\r\n\tthree"))
        await chat.until(lambda: "three" in editor.query_one(TextArea).text)
        assert editor.query_one(TextArea).text == "one\n␇two\n\tthree"


async def test_pasted_lines_are_a_query_in_the_find_bar_and_in_the_search(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.say("hello")
        await chat.quiet()
        for key in ("ctrl+f", "f3"):
            await chat.press(key)
            await chat.until(lambda: isinstance(chat.app.focused, QueryInput))
            field = chat.app.focused
            assert isinstance(field, QueryInput)
            chat.app.post_message(events.Paste("one\r!two\x07\r"))
            await chat.until(lambda field=field: field.value.startswith("one"))
            assert field.value.strip() == "one !two␇" and chat.app.focused is field
            await chat.press("escape")
            await chat.until(lambda: chat.app.focused is chat.screen.prompt)
