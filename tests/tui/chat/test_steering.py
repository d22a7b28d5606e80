"""What is entered while an answer is written: a real session and a scripted server."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.services.drafts import NEW, Drafts
from agent.services.turn_sentences import OTHER_WINDOW
from agent.session import Session
from agent.tools.port import ToolSettings
from foundation.paths import Workspace
from foundation.trust import Trust
from memory.errors import StoreFull
from memory.pages.types import EntryText
from models.settings import ModelSettings
from tests.agent.sessions import asked, open_session
from tests.loopback import Loopback, Pause, Received, Stall, chat, data, delta, json_reply, stream
from tui.chat.blocks import StoredTexts
from tui.chat.drafts import DELAY
from tui.chat.history import EntryReader, items_of
from tui.widgets.prompt.prefixes import line_beside
from tui.widgets.transcript.items import MutedLine

ARGUMENTS = '{"path": "' + "a" * 3_000  # long enough to be counted on screen
CALL = {"index": 0, "id": "call_0", "type": "function", "function": {"name": "read_file", "arguments": ARGUMENTS}}
posix = pytest.mark.skipif(os.name != "posix", reason="the commands are those of a POSIX shell")
MODELS = ModelSettings(tools=True, window=16_000, retries=0)


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as opened:
        yield opened


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path, server: Loopback) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path, server, models=MODELS, tools=ToolSettings())
    yield opened
    await opened.close()


def stalled(*pieces: str) -> Any:
    return stream(*(data(delta(content=piece)) for piece in pieces), Stall())


def plays(server: Loopback, *replies: Any) -> None:
    """Answers chat requests with these replies, in order; others with nothing."""
    waiting = list(replies)

    def reply(received: Received) -> Any:
        is_chat = received.path.endswith("/chat/completions")
        return waiting.pop(0) if is_chat else json_reply({}, status=404)

    server.answers_all(reply)


async def begun(chat_screen: Any, text: str, until: str) -> None:
    await chat_screen.say(text)
    await chat_screen.until(lambda: until in chat_screen.text)


async def steer(chat_screen: Any, text: str) -> None:
    await chat_screen.insert(text)
    await chat_screen.press("ctrl+s")


async def test_ctrl_s_sends_into_the_answer_and_shows_where_it_took_effect(
    open_chat: Any, session: Session, server: Loopback
) -> None:
    plays(server, stalled("Black tea "), chat("Green tea 绿茶."))
    async with open_chat(session=session) as screen:
        await begun(screen, "Which tea?", "Black tea")
        await steer(screen, "Only green ones 🍵")
        await screen.quiet()
        shown = [line.strip() for line in screen.lines if line.strip()]
        first = shown.index("❯ Which tea?")
        assert shown[first:] == [
            "❯ Which tea?",
            "◆ Black tea",
            "the answer was interrupted by your next message",
            "❯ Only green ones 🍵",
            "◆ Green tea 绿茶.",
        ]
        live = screen.text
        await screen.screen.controller.return_to_newest()
        assert [line for line in screen.lines if line.strip()][-5:] == [
            line for line in live.splitlines() if line.strip()
        ][-5:]


async def test_a_message_that_the_turn_took_and_could_not_store_is_in_the_prompt_again(
    open_chat: Any, session: Session, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise StoreFull("No space is left", "Nothing was written.")

    plays(server, stalled("Black tea "))
    async with open_chat(session=session) as screen:
        await begun(screen, "Which tea?", "Black tea")
        with monkeypatch.context() as patched:
            patched.setattr(session.context, "reload", refuse)
            await steer(screen, "Only green ones 🍵")
            await screen.until(lambda: "No space is left" in screen.text)
            await screen.until(lambda: screen.screen.prompt.text == "Only green ones 🍵")
        assert "is kept" not in screen.text
        assert screen.screen.controller.taken == ()


async def test_what_waits_says_what_will_happen_to_it(open_chat: Any, session: Session, server: Loopback) -> None:
    plays(server, stream(data(delta(tool_calls=[CALL])), Stall()))
    async with open_chat(session=session) as screen:
        await screen.say("Which tea?")
        await screen.until(lambda: "writing the arguments" in screen.seen[-1])
        await screen.insert("and then")
        await screen.press("enter")
        await steer(screen, "only green ones")
        assert any("sent at the next step: only green ones" in line for line in screen.seen)
        assert any("queued: and then" in line for line in screen.seen)
        assert any("↑ edits the last one · Ctrl+S sends the queue now" in line for line in screen.seen)
        await screen.press("escape")


async def test_up_in_an_empty_prompt_takes_back_what_waits(open_chat: Any, session: Session, server: Loopback) -> None:
    plays(server, stalled("Black tea "), chat("Green."))
    async with open_chat(session=session) as screen:
        await begun(screen, "Which tea?", "Black tea")
        for text in ("one", "two\nlines"):
            await screen.say(text)
        await screen.press("up")
        assert screen.screen.prompt.text == "two\nlines"
        assert [message.text for message in screen.screen.queue.waiting] == ["one"]
        await screen.press("escape")


async def test_ctrl_s_in_an_empty_prompt_sends_what_waits_now(
    open_chat: Any, session: Session, server: Loopback
) -> None:
    plays(server, stalled("Black tea "), chat("Green."))
    async with open_chat(session=session) as screen:
        await begun(screen, "Which tea?", "Black tea")
        await screen.say("only green ones")
        await screen.press("ctrl+s")
        await screen.quiet()
        assert len(asked(server)) == 2
        assert "◆ Green." in screen.lines


async def test_a_message_that_was_taken_back_steers_after_those_queued_before_it(
    open_chat: Any, session: Session, server: Loopback
) -> None:
    plays(server, stream(data(delta(tool_calls=[CALL])), Stall()))
    async with open_chat(session=session) as screen:
        await screen.say("Which tea?")
        await screen.until(lambda: "writing the arguments" in screen.seen[-1])
        for text in ("one 一", "two 🍵"):
            await screen.say(text)
        await screen.press("up", "ctrl+s")
        await screen.until(lambda: len(screen.screen.queue.steering) == 2)
        assert [message.text for message in screen.screen.queue.steering] == ["one 一", "two 🍵"]
        await screen.press("escape")


async def test_a_message_written_after_one_taken_back_was_deleted_steers_alone(
    open_chat: Any, session: Session, server: Loopback
) -> None:
    plays(server, stream(data(delta(tool_calls=[CALL])), Stall()))
    async with open_chat(session=session) as screen:
        await screen.say("Which tea?")
        await screen.until(lambda: "writing the arguments" in screen.seen[-1])
        for text in ("one", "two"):
            await screen.say(text)
        await screen.press("up", "backspace", "backspace", "backspace")
        await steer(screen, "other")
        assert [(message.text, message.steers) for message in screen.screen.queue.waiting] == [
            ("other", True),
            ("one", False),
        ]
        await screen.press("escape")


async def test_what_waits_is_in_the_draft_while_the_program_may_be_killed(
    open_chat: Any, session: Session, server: Loopback
) -> None:
    plays(server, stalled("Black tea "))
    async with open_chat(session=session) as screen:
        await begun(screen, "Which tea?", "Black tea")
        await screen.say("and then")
        await screen.insert("half a thou")
        drafts = Drafts(screen.screen._start.workspace.drafts)  # noqa: SLF001 - the chat's own folder
        conversation = session.conversation.id
        await screen.until(lambda: drafts.load(conversation).text == "and then\n\nhalf a thou")
        await screen.press("escape")


async def test_leaving_during_an_answer_keeps_what_waits_in_the_draft_of_its_conversation(
    open_chat: Any, session: Session, server: Loopback
) -> None:
    plays(server, stalled("Black tea "))
    async with open_chat(session=session) as screen:
        await begun(screen, "Which tea?", "Black tea")
        await screen.say("and then")
        await screen.insert("half a thou")
        drafts = Drafts(screen.screen._start.workspace.drafts)  # noqa: SLF001 - the chat's own folder
        conversation = session.conversation.id
        screen.screen.leave()
        await screen.until(lambda: screen.screen.controller is None)
        await asyncio.sleep(2 * DELAY)
        assert drafts.load(conversation).text == "and then\n\nhalf a thou"
        assert drafts.load(NEW).text == ""


@pytest.mark.parametrize("line", ["#The tea is green", "/remember The tea is green"])
async def test_a_note_is_kept_while_an_answer_is_written(
    open_chat: Any, session: Session, server: Loopback, line: str
) -> None:
    plays(server, stream(data(delta(content="Black\n\ntea ")), Pause(2), data(delta(content="is black.")), Stall()))
    async with open_chat(session=session) as screen:
        await begun(screen, "Which tea?", "Black")
        await screen.insert(line)
        await screen.press("enter")
        notes = session.workspace.root / "MEMORY.md"
        await screen.until(lambda: notes.exists() and "The tea is green" in notes.read_text("utf-8"))
        await screen.until(lambda: "Saved to MEMORY.md" in screen.text)
        assert screen.screen.queue.busy
        await screen.until(lambda: "tea is black." in screen.text)  # the sentence is not torn
        await screen.press("escape")
        await screen.quiet()
        assert screen.screen.prompt.text == ""


async def test_status_and_help_answer_at_once(open_chat: Any, session: Session, server: Loopback) -> None:
    plays(server, stalled("Black tea "))
    async with open_chat(session=session) as screen:
        await begun(screen, "Which tea?", "Black tea")
        await screen.insert("/status")
        await screen.press("enter")
        await screen.until(lambda: "background: nothing" in screen.text)
        assert screen.screen.queue.busy
        assert "answering" in screen.seen[-1]
        await screen.press("escape")


@posix
async def test_a_command_for_the_shell_runs_at_once_and_stands_where_it_was_run(
    open_chat: Any, session: Session, server: Loopback
) -> None:
    plays(server, stalled("Black tea "))
    async with open_chat(session=session) as screen:
        await begun(screen, "Which tea?", "Black tea")
        await screen.insert("!printf 'gl%s\\n' aze; exit 3")
        await screen.press("enter")
        await screen.until(lambda: "exit 3" in screen.text.partition("aze; exit 3")[2])
        assert screen.screen.queue.busy
        assert "answering" in screen.seen[-1]
        await screen.press("escape")
        await screen.quiet()
        assert "glaze" in screen.text
        assert "stopped" in screen.text
        report = await session.context_report("hello")
        assert "glaze" not in "".join(message.text for message in report.messages)


@posix
async def test_escape_stops_the_answer_first_and_then_the_command(
    open_chat: Any, session: Session, server: Loopback
) -> None:
    plays(server, stalled("Black tea "))
    async with open_chat(session=session) as screen:
        await begun(screen, "Which tea?", "Black tea")
        for line in ("!echo begun; sleep 60", "!echo second"):
            await screen.insert(line)
            await screen.press("enter")
        await screen.until(lambda: "Ctrl+C stops it" in screen.text)
        assert "waiting for the command above" in screen.text
        await screen.press("escape")
        await screen.until(lambda: not screen.screen.queue.busy)
        assert screen.screen.controller.shell.is_running
        await screen.screen.controller.return_to_newest()  # which loads the conversation again
        await screen.press("escape")
        await screen.until(lambda: not screen.screen.controller.shell.is_running)
        assert "stopped by the user" in screen.text
        assert "cancelled before it started" in screen.text


async def test_a_command_that_waits_says_for_what_and_how_to_have_it_now(
    open_chat: Any, session: Session, server: Loopback
) -> None:
    plays(server, stalled("Black tea "))
    async with open_chat(session=session) as screen:
        await begun(screen, "Which tea?", "Black tea")
        await screen.say("/branch")
        assert any("queued until the answer ends: /branch" in line for line in screen.seen)
        assert any("↑ edits it · Esc stops the answer" in line for line in screen.seen)
        await screen.press("escape")
        await screen.quiet()
        assert screen.screen.prompt.text.strip() == "/branch"


@pytest.mark.parametrize(
    "line", ["/new", "/compact", "/undo", "/branch", "/retry", "!ls", "hello", "/usr/bin is a folder"]
)
def test_what_changes_the_conversation_waits(line: str) -> None:
    assert line_beside(line) == ""


@pytest.mark.parametrize("line", ["/help", "/status", "/stats", "/context", "/remember x", "/search x"])
def test_what_changes_nothing_runs_beside_an_answer(line: str) -> None:
    assert line_beside(line) == line


@pytest.mark.parametrize(
    ("queued", "typed", "shown", "others"),
    [
        (["!!pwd", "Which tea? 茶"], "", "!!pwd", ["Which tea? 茶"]),
        (["Which tea?", "!!pwd", "/compact"], "", "Which tea?", ["!!pwd", "/compact"]),
        (["one", "two 🍵"], "three", "one\n\ntwo 🍵\n\nthree", []),
        (["!!pwd", "two"], "three", "two\n\nthree", ["!!pwd"]),
        (["one"], "!ls", "!ls", ["one"]),
        (["!", "rm the cup"], "", "!", ["rm the cup"]),
    ],
)
async def test_after_a_stop_a_command_and_a_message_are_never_one_prompt(
    open_chat: Any, session: Session, server: Loopback, queued: list[str], typed: str, shown: str, others: list[str]
) -> None:
    plays(server, stalled("Black tea "))
    async with open_chat(session=session) as screen:
        await begun(screen, "Which tea?", "Black tea")
        for text in queued:
            await screen.say(text)
        await screen.insert(typed)
        drafts = Drafts(screen.screen._start.workspace.drafts)  # noqa: SLF001 - the chat's own folder
        conversation = session.conversation.id
        await screen.until(lambda: drafts.load(conversation).text == shown)
        await screen.press("escape")
        await screen.quiet()
        prompt = screen.screen.prompt
        assert prompt.text == shown
        assert any("↑ restores them one by one" in line for line in screen.seen) == bool(others)
        for text in others:
            prompt.move_cursor((0, 0))
            await screen.press("up")
            assert prompt.text.strip() == text


async def test_a_stopped_answer_says_so_after_it_is_loaded_again(
    open_chat: Any, session: Session, server: Loopback
) -> None:
    plays(server, stalled("Black tea "))
    async with open_chat(session=session) as screen:
        await begun(screen, "Which tea?", "Black tea")
        await screen.press("escape")
        await screen.quiet()
        await screen.screen.controller.return_to_newest()
        assert "stopped; the partial answer is saved" in screen.text
        assert "broke off" not in screen.text


async def test_an_answer_of_another_window_is_not_said_to_have_broken_off(
    open_chat: Any, session: Session, server: Loopback, workspace: Workspace, tmp_path: Path
) -> None:
    plays(server, stalled("Black tea "))
    other = open_session(workspace, tmp_path)
    async with open_chat(session=session) as screen:
        await begun(screen, "Which tea? 茶", "Black tea")
        conversation = await other.resume_latest()
        entries = await other.branch.history(20, None)
        items = items_of(
            entries,
            EntryReader(
                lambda _: EntryText("", Trust.EXACT),
                StoredTexts(other.memory),
                writer_of=other.memory.conversations.writer_of,
            ),
        )
        assert conversation and [item.text for item in items if isinstance(item, MutedLine)] == [OTHER_WINDOW]
        await screen.screen.controller.return_to_newest()
        assert OTHER_WINDOW not in screen.text, "this window writes it"
        assert "broke off" not in screen.text
        await screen.press("escape")
        await screen.quiet()
    await other.close()
