"""What is suggested while a person types: files of the whole project, passages of memory, values of arguments."""

from pathlib import Path

import pytest

from foundation.paths import Workspace
from tests.agent.sessions import open_session
from tests.tui.conftest import Chat, Open


def offered(chat: Chat) -> list[str]:
    return [item.text.strip() for item in chat.screen.suggestions.items]


async def test_a_part_of_a_name_finds_a_file_anywhere_in_the_project(
    open_chat: Open, workspace: Workspace, tmp_path: Path
) -> None:
    for name in ("deep/down/first-session.md", "first.txt", "deep/café 陶.md"):
        (tmp_path / "code" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "code" / name).write_text("", encoding="utf-8")
    session = open_session(workspace, tmp_path, project=(tmp_path / "code",))
    async with open_chat(session=session) as chat:
        await chat.type("see @session")
        await chat.until(lambda: offered(chat))
        assert offered(chat)[0].endswith("deep/down/first-session.md")
        await chat.press("tab")
        assert chat.screen.prompt.text.startswith("see @")
        assert chat.screen.prompt.text.endswith("deep/down/first-session.md ")


async def test_a_passage_of_memory_is_cited(open_chat: Open, workspace: Workspace, tmp_path: Path) -> None:
    session = open_session(workspace, tmp_path)
    async with open_chat(session=session) as chat:
        await chat.say("#The warranty of the boiler ends in 2027.")
        await chat.quiet()
        await chat.insert("when? @mem:boiler warranty")
        await chat.until(lambda: offered(chat))
        await chat.press("tab")
        assert chat.screen.prompt.text.startswith("when? [")
        assert "MEMORY.md" in chat.screen.prompt.text


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("/theme nor", "/theme nord"),
        ("/settings use_mem", "/settings context.use_memory"),
        ("/help arch", "/help archive"),
        ("/memory un", "/memory undo"),
    ],
)
async def test_arguments_are_completed(typed: str, first: str, open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.insert(typed)
        await chat.until(lambda: offered(chat))
        assert offered(chat)[0] == first


async def test_a_whole_argument_and_free_text_offer_nothing(open_chat: Open) -> None:
    async with open_chat() as chat:
        for typed in ("/theme nord", "/remember the", "no command"):
            await chat.insert(typed)
            await chat.pilot.pause(0.15)
            assert offered(chat) == []
            await chat.press("ctrl+c")


async def test_the_files_with_versions_complete_the_log_of_memory(
    open_chat: Open, workspace: Workspace, tmp_path: Path
) -> None:
    session = open_session(workspace, tmp_path)
    async with open_chat(session=session) as chat:
        await chat.say("#The warranty of the boiler ends in 2027.")
        await chat.quiet()
        await chat.insert("/memory log M")
        await chat.until(lambda: offered(chat)[:1] == ["/memory log MEMORY.md"])
        await chat.press("tab")
        assert chat.screen.prompt.text.strip() == "/memory log MEMORY.md"
