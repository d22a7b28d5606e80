"""A disk that refuses drafts and history is told in the chat, which stays open."""

from errno import EROFS
from pathlib import Path
from typing import Any

import pytest

from agent.events import TurnFailed, UserStored
from foundation.paths import Workspace
from memory.errors import StoreFull
from tests.tui.fakes import FakeSession

NOT_KEPT = "The draft could not be saved: Read-only file system."


def refuse(*_: object, **__: object) -> None:
    raise OSError(EROFS, "Read-only file system", "c_1.md")


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.services.drafts.write_atomically", refuse)
    monkeypatch.setattr("agent.services.drafts.remove", refuse)
    monkeypatch.setattr("tui.widgets.prompt.history.append", refuse)


def notices(chat: Any) -> list[str]:
    return [notice.message for notice in chat.app._notifications]  # noqa: SLF001 - no public way to read them


@pytest.mark.usefixtures("read_only")
async def test_a_draft_that_cannot_be_written_is_told_once_and_the_chat_goes_on(
    open_chat: Any, workspace: Workspace
) -> None:
    async with open_chat(notifications=True) as chat:
        workspace.drafts.mkdir(parents=True)
        (workspace.drafts / "new.md").write_text("old", "utf-8")
        for text in ("one", "two 你好"):
            await chat.type(text)
            assert not chat.screen.draft_keeper.save()
            await chat.press("enter")
            await chat.quiet()
        assert [text for text, _, _ in chat.session.sent] == ["one", "two 你好"]
        assert notices(chat).count(NOT_KEPT) == 1
        assert "The history could not be written: Read-only file system." in notices(chat)


@pytest.mark.usefixtures("read_only")
async def test_a_switch_keeps_the_draft_that_cannot_be_written_in_the_history(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.type("unsent 中文")
        chat.screen.draft_keeper.stash()
        assert chat.screen.prompt.text == ""
        assert chat.screen.prompt.prompt_history.entries[-1] == "unsent 中文"


@pytest.mark.usefixtures("read_only")
async def test_the_chat_is_left_without_an_error_where_nothing_is_lost(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.say("one")
        await chat.quiet()
        await chat.insert("/exit")
        await chat.press("enter")
        await chat.until(lambda: chat.session.closed)
    assert chat.app.error is None


@pytest.mark.parametrize(("is_stored", "left"), [(False, "hello 你好"), (True, "")])
async def test_a_message_that_was_not_stored_is_in_the_prompt_again(open_chat: Any, is_stored: bool, left: str) -> None:
    failed = TurnFailed("read_only", "The workspace is read-only", "Nothing can be added.", "")
    events = [*([UserStored("c_1", "e_1")] if is_stored else []), failed]
    session = FakeSession(lambda _: events)
    async with open_chat(session=session) as chat:
        await chat.say("hello 你好")
        await chat.quiet()
        assert "The workspace is read-only" in chat.text
        assert chat.screen.prompt.text == left


async def test_a_message_whose_file_is_no_text_is_in_the_prompt_again(open_chat: Any, tmp_path: Path) -> None:
    (tmp_path / "big.bin").write_bytes(b"\x00\xff\xfe" * 9)
    (tmp_path / "good.txt").write_text("good", "utf-8")
    async with open_chat() as chat:
        await chat.say("look @good.txt @big.bin ")
        await chat.quiet()
        assert "big.bin is neither UTF-8 text nor a picture" in chat.text
        assert chat.screen.prompt.text.strip() == "look @good.txt @big.bin"
        assert chat.session.sent == []


@pytest.mark.usefixtures("read_only")
async def test_a_text_that_is_lost_on_leaving_is_an_error(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.type("unsent 中文")
        with pytest.raises(OSError, match="Read-only"):
            chat.screen.draft_keeper.save_at_end()
        await chat.press("ctrl+c")


async def test_a_command_that_the_disk_refuses_is_no_defect(open_chat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(*_: object) -> None:
        refuse()

    monkeypatch.setattr("agent.commands.registry.run", run)
    async with open_chat() as chat:
        await chat.say("/status")
        await chat.quiet()
        assert "The disk cannot be written" in chat.text
        assert "Read-only file system: c_1.md." in chat.text
        assert "A defect" not in chat.text


async def test_a_message_that_is_stored_does_not_return_when_something_after_it_has_no_room(open_chat: Any) -> None:
    def events(_: str) -> Any:
        yield UserStored("c_1", "e_1")
        raise StoreFull("No space is left", "The disk is full.")

    session = FakeSession(events)
    async with open_chat(session=session) as chat:
        await chat.say("one")
        await chat.quiet()
        assert "No space is left" in chat.text
        assert chat.screen.prompt.text == ""
