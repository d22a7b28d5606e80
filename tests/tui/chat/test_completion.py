"""What is suggested while a person types: files of the whole project, passages of memory, values of arguments."""

from pathlib import Path

import pytest

from agent.services.context_view import context_view
from agent.session import Session
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.errors import Damaged
from memory.records import EntryDraft, EntryKind
from models.messages import Role
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


async def test_a_memory_that_cannot_be_searched_is_told_once_and_the_chat_stays(
    open_chat: Open, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_session(workspace, tmp_path)

    def damaged(*_: object) -> None:
        raise Damaged("Damaged", "The index cannot be read.", "palimpsest check --repair")

    monkeypatch.setattr(session.memory.search, "query", damaged)
    async with open_chat(session=session, notifications=True) as chat:
        for words in ("boiler", "kettle"):
            await chat.insert(f"when? @mem:{words}")
            await chat.until(lambda: chat.app._notifications)  # noqa: SLF001 - no public way to read them
            await chat.quiet()
        assert [notice.message for notice in chat.app._notifications] == ["The index cannot be read."]  # noqa: SLF001
        await chat.insert("still here")
        assert "still here" in chat.screen.prompt.text


async def test_a_past_conversation_is_cited_by_its_title_and_its_messages_are_in_the_request(
    open_chat: Open, workspace: Workspace, tmp_path: Path
) -> None:
    session = open_session(workspace, tmp_path)
    past = store_chat(session, "Trip to 希腊 🏺", "The ferry to Hydra leaves at 09:40.", "Then book the 09:40 ferry.")
    store_chat(session, "Boiler", "It is serviced in May.", "Noted.")
    async with open_chat(session=session) as chat:
        await chat.insert("when? @chat:希腊")
        await chat.until(lambda: offered(chat))
        assert [item.label for item in chat.screen.suggestions.items] == ["Trip to 希腊 🏺"]
        await chat.press("tab")
        assert chat.screen.prompt.text.startswith("when? [Trip to 希腊 🏺 · ")
        assert f"chat:{past}]" in chat.screen.prompt.text
        view = await context_view(session, chat.screen.prompt.text)
        message = "\n".join(part.text for part in view.parts if part.layer == "message")
        assert "The ferry to Hydra leaves at 09:40." in message
        assert "Then book the 09:40 ferry." in message
        assert "serviced in May" not in message
        await chat.press("ctrl+u")
        await chat.insert("@chat:")
        await chat.until(lambda: len(offered(chat)) == 2)


def store_chat(session: Session, title: str, said: str, answered: str) -> str:
    conversation = session.memory.conversations.new(as_given(title))
    entry = None
    for role, text in ((Role.USER, said), (Role.ASSISTANT, answered)):
        draft = EntryDraft(
            conversation=conversation.seq, parent=entry, kind=EntryKind.MESSAGE, role=role, text=as_given(text)
        )
        entry = session.memory.conversations.append(draft).seq
    session.memory.conversations.set_leaf(conversation.seq, entry)
    return conversation.id


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


@pytest.mark.parametrize("size", [(45, 10), (80, 24), (200, 50)])
async def test_the_list_of_commands_never_covers_the_prompt(open_chat: Open, size: tuple[int, int]) -> None:
    async with open_chat(size=size) as chat:
        await chat.press("slash")
        await chat.until(lambda: chat.screen.suggestions.display)
        await chat.until(lambda: any(line.strip() == "❯ /" for line in chat.seen))
        assert any("/help" in line for line in chat.seen)
