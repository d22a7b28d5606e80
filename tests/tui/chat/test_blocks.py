"""Blocks that open: the same while a turn runs and after the conversation is resumed. Real sessions."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.config.settings import ToolSettings
from agent.permissions.policy import PermissionMode
from agent.session import Session
from foundation.paths import Workspace
from tests.agent.sessions import asked, calls, open_session
from tests.loopback import Loopback, Pause, Received, data, delta, json_reply, stream
from tui.passages.text_screen import TextScreen
from tui.widgets.transcript.block import MAX_LINES, Block
from tui.widgets.transcript.items import ErrorItem, UserItem

SIZES = [(80, 24), (200, 50)]
LINES = [f"行 {number} of the list 🏺" for number in range(300)]


class Script:
    """A server that answers chat requests in order."""

    def __init__(self, server: Loopback) -> None:
        self.server = server
        self._waiting: list[Any] = []
        server.answers_all(self._reply)

    def plays(self, *replies: Any) -> None:
        self._waiting += replies

    def _reply(self, received: Received) -> Any:
        is_chat = received.path.endswith("/chat/completions") and self._waiting
        return self._waiting.pop(0) if is_chat else json_reply({}, status=404)


@pytest.fixture
def server() -> Iterator[Script]:
    with Loopback() as opened:
        yield Script(opened)


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path, server: Script) -> AsyncIterator[Session]:
    project = tmp_path / "project"
    project.mkdir()
    (project / "list.txt").write_text("\n".join(LINES), encoding="utf-8")
    (project / "calc.py").write_text("one = 1\ntwo = 2\n", encoding="utf-8")
    tools = ToolSettings(mode=PermissionMode.EDIT)
    opened = open_session(workspace, tmp_path, server.server, project=[project], tools=tools)
    yield opened
    await opened.close()


def thinking(*pieces: str, answer: str = "Done.") -> Any:
    steps = [delta(reasoning_content=piece) for piece in pieces]
    return stream(*map(data, [*steps, delta(content=answer)]), data(delta("stop")), data("[DONE]"))


def blocks(chat: Any) -> list[Block]:
    return [item for item in chat.screen.transcript.line_cache.items if isinstance(item, Block)]


def block_lines(chat: Any) -> list[str]:
    return [row.text for block in blocks(chat) for row in block.rows]


async def resumed(chat: Any) -> None:
    """Shows the conversation anew, from the store."""
    await chat.screen.controller.return_to_newest()
    await chat.pilot.pause()


def foot(chat: Any) -> str:
    """The rows of the focused block's actions."""
    return " · ".join(chat.seen[-3:])


async def focus(chat: Any, words: str) -> None:
    """Moves up to the block whose first row has these words."""
    for _ in range(30):
        await chat.press("ctrl+up")
        target = chat.screen.transcript.focused
        if target and isinstance(target.first, Block) and words in target.first.text:
            return
    raise AssertionError(f"no block with {words}: {chat.text}")


@pytest.mark.parametrize("size", SIZES)
async def test_a_call_opens_to_its_whole_output_live_and_resumed(
    open_chat: Any, session: Session, server: Script, size: tuple[int, int]
) -> None:
    server.plays(calls("read_file", path="list.txt"))
    server.plays(thinking("Let me see. ", "Well.", answer="Read."))
    async with open_chat(session=session, size=size) as chat:
        await chat.say("read it")
        await chat.quiet()
        live = block_lines(chat)
        assert any(line.startswith("read list.txt") for line in live)
        assert any(line.startswith("thought") and line.endswith("17 characters") for line in live)
        for _ in ("live", "resumed"):
            assert block_lines(chat) == live
            await focus(chat, "read list.txt")
            assert any("▌" in line and "▸ read list.txt" in line for line in chat.seen)
            await chat.press("enter")
            await chat.until(lambda: "行 12 of the list 🏺" in chat.text)
            assert "more lines: e shows all" in chat.text
            assert f"行 {MAX_LINES + 3} of" not in chat.text
            await chat.press("enter")
            await chat.until(lambda: "行 12 of the list 🏺" not in chat.text)
            await chat.press("e")
            await chat.until(lambda: isinstance(chat.app.screen, TextScreen))
            await chat.until(lambda: any("行 9 of the list" in line for line in chat.seen))
            await chat.press("end")
            await chat.until(lambda: any("行 299 of the list" in line for line in chat.seen))
            await chat.press("slash")
            await chat.type("LIST 行 1")
            await chat.press("enter")
            await chat.until(lambda: any("not in this text" in line for line in chat.seen))
            await chat.press("slash", *["backspace"] * 8, "1", "4", "enter")
            await chat.until(lambda: any("1 of 13 · line 15" in line for line in chat.seen))
            await chat.press("N")
            await chat.until(lambda: any("13 of 13 · line 215" in line for line in chat.seen))
            assert any("行 214 of the list" in line for line in chat.seen)
            await chat.press("escape", "escape")
            assert chat.screen.prompt.has_focus
            await resumed(chat)


async def test_reasoning_opens_while_it_streams_and_afterwards(
    open_chat: Any, session: Session, server: Script
) -> None:
    server.plays(thinking("The lamp is ", "to the north. 灯", answer="North."))
    async with open_chat(session=session) as chat:
        await chat.say("where?")
        await chat.quiet()
        for _ in ("live", "resumed"):
            await focus(chat, "thought")
            await chat.press("enter")
            await chat.until(lambda: "The lamp is to the north. 灯" in chat.text)
            assert any("▾ thought" in line for line in chat.lines)
            await chat.press("escape")
            await resumed(chat)
            assert "The lamp is" not in chat.text


async def test_an_edit_opens_to_its_diff(open_chat: Any, session: Session, server: Script) -> None:
    server.plays(calls("read_file", path="calc.py"))
    server.plays(calls("edit_file", path="calc.py", old="two = 2", new="two = 3"))
    server.plays(thinking(answer="Changed."))
    async with open_chat(session=session) as chat:
        await chat.say("change it")
        await chat.quiet()
        for _ in ("live", "resumed"):
            await focus(chat, "edit calc.py")
            await chat.press("enter")
            await chat.until(lambda: "-two = 2" in chat.text and "+two = 3" in chat.text)
            await chat.press("escape")
            await resumed(chat)


async def test_a_paste_stays_folded_and_opens(open_chat: Any, session: Session, server: Script) -> None:
    server.plays(thinking(answer="Long."))
    pasted = "\n".join(LINES[:30])
    async with open_chat(session=session) as chat:
        chat.screen.queue.add(f"what is this: {pasted} ?", pastes=(pasted,))
        await chat.until(lambda: "Long." in chat.text)
        await chat.quiet()
        for _ in ("live", "resumed"):
            assert "❯ what is this: [Pasted text · 30 lines] ?" in chat.text
            assert "行 7" not in chat.text
            await focus(chat, "Pasted text · 30 lines")
            await chat.press("enter")
            await chat.until(lambda: "行 7 of the list" in chat.text)
            await chat.press("escape")
            await resumed(chat)


async def test_a_click_on_the_first_line_opens_a_block_and_another_one_folds_it(
    open_chat: Any, session: Session, server: Script
) -> None:
    server.plays(thinking("Because of the lamp.", answer="So."))
    async with open_chat(session=session) as chat:
        await chat.say("why?")
        await chat.quiet()
        row = next(number for number, line in enumerate(chat.seen) if "▸ thought" in line)
        await chat.pilot.click(offset=(6, row))
        await chat.until(lambda: "Because of the lamp." in chat.text)
        row = next(number for number, line in enumerate(chat.seen) if "▾ thought" in line)
        await chat.pilot.click(offset=(6, row))
        await chat.until(lambda: "Because of the lamp." not in chat.text)


async def test_a_text_that_is_gone_says_so(open_chat: Any, session: Session, server: Script) -> None:
    server.plays(calls("read_file", path="calc.py"))
    server.plays(thinking(answer="Read."))
    async with open_chat(session=session) as chat:
        await chat.say("read it")
        await chat.quiet()
        assert session.conversation
        session.memory.knowledge.delete_conversation(session.conversation.seq)
        await focus(chat, "read calc.py")
        await chat.press("enter")
        await chat.until(lambda: "There is no" in chat.text)


# Focus mode


async def test_a_letter_that_is_no_action_goes_to_the_prompt(open_chat: Any, session: Session, server: Script) -> None:
    server.plays(thinking(answer="So."))
    async with open_chat(session=session) as chat:
        await chat.say("why?")
        await chat.quiet()
        await chat.press("ctrl+up")
        assert "c copy" in foot(chat)
        assert "Esc prompt" in foot(chat)
        await chat.press("h", "i")
        assert chat.screen.prompt.text == "hi"
        assert chat.screen.prompt.has_focus
        assert "c copy" not in foot(chat)
        assert not any("▌" in line for line in chat.seen)


async def test_down_past_the_last_block_goes_back_to_the_prompt(
    open_chat: Any, session: Session, server: Script
) -> None:
    server.plays(thinking(answer="So."))
    async with open_chat(session=session) as chat:
        await chat.say("why?")
        await chat.quiet()
        await chat.press("alt+up", "alt+up")
        assert "r edit and resend" in foot(chat)
        await chat.press("alt+down", "down")
        assert chat.screen.prompt.has_focus


async def test_a_message_is_edited_and_sent_again_on_a_branch(open_chat: Any, session: Session, server: Script) -> None:
    for answer in ("One.", "Two.", "Three."):
        server.plays(thinking(answer=answer))
    async with open_chat(session=session) as chat:
        for text in ("first", "second"):
            await chat.say(text)
            await chat.quiet()
        await chat.press("ctrl+up", "up")
        assert "r edit and resend" in foot(chat)
        await chat.press("r")
        await chat.until(lambda: chat.screen.prompt.text == "second")
        await chat.quiet()
        await chat.say(" try")
        await chat.quiet()
        assert "Three." in chat.text
        assert "Two." not in chat.text


async def test_the_conversation_goes_on_after_an_earlier_answer(
    open_chat: Any, session: Session, server: Script
) -> None:
    for answer in ("One.", "Two.", "Three."):
        server.plays(thinking(answer=answer))
    async with open_chat(session=session) as chat:
        for text in ("first", "second"):
            await chat.say(text)
            await chat.quiet()
        await chat.press("ctrl+up", "up", "up", "b")
        await chat.until(lambda: "The conversation goes on after “first”" in chat.text)
        await chat.quiet()
        assert "Two." not in chat.text
        await chat.say("third")
        await chat.quiet()
        sent = [message["content"] for message in asked(server.server)[-1].json["messages"]]
        assert not any("second" in str(content) for content in sent)


async def test_a_turn_is_deleted_and_taken_back(open_chat: Any, session: Session, server: Script) -> None:
    for answer in ("One.", "Two."):
        server.plays(thinking(answer=answer))
    async with open_chat(session=session) as chat:
        for text in ("first", "second"):
            await chat.say(text)
            await chat.quiet()
        await chat.press("ctrl+up", "d", "d")
        await chat.until(lambda: "“second” is out of the conversation" in chat.text)
        await chat.quiet()
        assert "Ctrl+↑ u takes it back, too." in " ".join(chat.text.split()), "the prompt has the keys again"
        assert "Two." not in chat.text
        await chat.press("ctrl+up")
        assert "u undo delete" in foot(chat)
        await chat.press("u")
        await chat.until(lambda: "“second” is back" in chat.text)
        await chat.quiet()
        assert "Two." in chat.text
        await chat.press("ctrl+up")
        assert "u undo delete" not in foot(chat)


async def test_a_turn_that_a_command_dropped_is_taken_back_with_the_same_key(
    open_chat: Any, session: Session, server: Script
) -> None:
    for answer in ("One.", "Two."):
        server.plays(thinking(answer=answer))
    async with open_chat(session=session) as chat:
        for text in ("first", "second"):
            await chat.say(text)
            await chat.quiet()
        second = [item for item in chat.screen.transcript.line_cache.items if isinstance(item, UserItem)][-1]
        await chat.say(f"/tree drop {second.entry}")
        await chat.quiet()
        await chat.press("ctrl+up", "u")
        await chat.until(lambda: "“second” is back" in chat.text)
        await chat.quiet()
        await chat.press("ctrl+up")
        assert "u undo delete" not in foot(chat)


async def test_no_key_is_named_where_there_is_no_block_left_to_press_it_at(
    open_chat: Any, session: Session, server: Script
) -> None:
    server.plays(thinking(answer="One."))
    async with open_chat(session=session) as chat:
        await chat.say("first")
        await chat.quiet()
        await chat.press("ctrl+up", "d", "d")
        await chat.until(lambda: "takes it back" in chat.text)
        await chat.quiet()
        assert "takes it back, too" not in " ".join(chat.text.split())


async def test_r_on_an_answer_edits_the_message_that_it_answers(
    open_chat: Any, session: Session, server: Script
) -> None:
    server.plays(thinking(answer="One. 一"), thinking(answer="Two."))
    async with open_chat(session=session) as chat:
        await chat.say("first 🏺")
        await chat.quiet()
        await chat.press("ctrl+up")
        assert "r edit and resend" in foot(chat)
        await chat.press("r")
        await chat.until(lambda: chat.screen.prompt.text == "first 🏺")


async def test_deleting_says_what_goes_before_it_goes(open_chat: Any, session: Session, server: Script) -> None:
    for answer in ("One. 一 🏺", "Two.", "Three."):
        server.plays(thinking(answer=answer))
    async with open_chat(session=session) as chat:
        for text in ("first", "second", "third"):
            await chat.say(text)
            await chat.quiet()
        await chat.press("ctrl+up", "d")
        assert "d again deletes your message and its answer" in foot(chat)
        await chat.press("up", "d")
        assert "d again deletes your message and its answer" in foot(chat)
        await chat.press("up", "up", "up", "d")
        assert "d again deletes your message, its answer and 2 turns after it" in foot(chat)
        await chat.press("up")
        assert "d again deletes" not in foot(chat)
        assert "c copy" in foot(chat)
        await chat.press("down", "d")  # the first d was forgotten
        assert "d again deletes" in foot(chat)
        await chat.press("escape")
        await chat.press("ctrl+up", "d")
        assert "d again deletes" in foot(chat)
        await chat.press("escape")
        await chat.quiet()
        assert all(answer in chat.text for answer in ("One. 一 🏺", "Two.", "Three."))


async def test_what_a_command_gave_belongs_to_no_turn(open_chat: Any, session: Session, server: Script) -> None:
    server.plays(thinking(answer="One. 一 🏺"))
    async with open_chat(session=session, notifications=True) as chat:
        await chat.say("first")
        await chat.quiet()
        for line in ("/help", "!echo printed"):
            await chat.say(line)
            await chat.quiet()
        await chat.press("ctrl+up")
        for kind in ("shell", "command"):
            assert "c copy" in foot(chat), kind
            assert not any(action in foot(chat) for action in ("b branch", "m bookmark", "d delete")), kind
            for key in ("b", "d", "d", "m"):
                await chat.press(key)
            assert any("belongs to no turn" in line for line in chat.seen)
            await chat.press("up")
        assert "d delete" in foot(chat), "the answer"
        await chat.press("d")
        assert "d again deletes your message and its answer" in foot(chat)
        await chat.press("escape")
        await chat.quiet()
        assert "One. 一 🏺" in chat.text


async def test_the_question_quotes_the_message_where_it_may_be_another_one(
    open_chat: Any, session: Session, server: Script
) -> None:
    server.plays(thinking(answer="One."))
    async with open_chat(session=session) as chat:
        await chat.say("first 一")
        await chat.quiet()
        await chat.say("/model nothing:of-the-kind")  # the error of a command
        await chat.quiet()
        await chat.press("ctrl+up", "d")
        assert "d again deletes your message “first 一” and its answer" in foot(chat)


async def test_the_undo_of_a_deletion_stays_in_its_conversation(
    open_chat: Any, session: Session, server: Script
) -> None:
    for answer in ("One.", "Two."):
        server.plays(thinking(answer=answer))
    async with open_chat(session=session, notifications=True) as chat:
        await chat.say("first")
        await chat.quiet()
        await chat.press("ctrl+up", "d", "d")
        await chat.until(lambda: "takes it back" in chat.text)
        assert sum("takes it back" in line for line in chat.seen) == 1, "the receipt says it, and no notification"
        await chat.quiet()
        await chat.say("/new")
        await chat.quiet()
        await chat.say("elsewhere")
        await chat.quiet()
        await chat.press("ctrl+up")
        assert "u undo delete" not in foot(chat)


async def test_the_blocks_of_commands_stay_where_they_are_when_a_turn_is_deleted_and_comes_back(
    open_chat: Any, session: Session, server: Script
) -> None:
    for answer in ("One.", "Two. 二"):
        server.plays(thinking(answer=answer))
    async with open_chat(session=session) as chat:
        for text in ("first", "!echo below-$((40 + 2))-one", "second", "!echo below-two"):
            await chat.say(text)
            await chat.quiet()

        def shown() -> list[str]:
            marks = ("❯ first", "❯ second", "below-42-one", "! echo below-two")
            return [mark for line in chat.lines for mark in marks if mark in line and "tree restore" not in line]

        before = shown()
        assert before == ["❯ first", "below-42-one", "❯ second", "! echo below-two"]
        assert "%" in chat.seen[-1]
        await chat.press("ctrl+up", "up", "d", "d")
        await chat.until(lambda: "takes it back" in chat.text)
        await chat.quiet()
        assert shown() == ["❯ first", "below-42-one", "! echo below-two"]
        assert "%" in chat.seen[-1], "the context figure stays"
        await chat.press("ctrl+up", "u")
        await chat.until(lambda: "is back, with what follows" in chat.text)
        await chat.quiet()
        assert shown() == before
        await chat.screen.controller.return_to_newest()
        assert shown() == before


async def test_a_notification_stands_above_the_prompt(open_chat: Any, session: Session) -> None:
    async with open_chat(session=session, notifications=True) as chat:
        await chat.insert("one\ntwo 茶\nthree")
        chat.screen.notify("Look here.")
        await chat.until(lambda: any("Look here." in line for line in chat.seen))
        seen = chat.seen
        row = next(number for number, line in enumerate(seen) if "Look here." in line)
        assert row < next(number for number, line in enumerate(seen) if "❯ one" in line)
        assert "three" in "".join(seen[row:])


async def test_a_bookmark_is_a_label_of_the_tree(open_chat: Any, session: Session, server: Script) -> None:
    server.plays(thinking(answer="One."))
    async with open_chat(session=session) as chat:
        await chat.say("first")
        await chat.quiet()
        assert session.conversation
        await chat.press("ctrl+up", "m")
        await chat.until(lambda: any(label.endswith("=★") for label in session.conversation.labels))
        await chat.press("m")
        await chat.until(lambda: not any(label.endswith("=★") for label in session.conversation.labels))


async def test_nothing_of_the_conversation_changes_while_an_answer_is_written(
    open_chat: Any, session: Session, server: Script
) -> None:
    server.plays(thinking(answer="One."))
    server.plays(stream(data(delta(content="Slow ")), Pause(2.0), data(delta(content="end.")), data(delta("stop"))))
    async with open_chat(session=session, notifications=True) as chat:
        await chat.say("first")
        await chat.quiet()
        await chat.say("second")
        await chat.until(lambda: "Slow" in chat.text)
        await chat.press("ctrl+up", "d", "d")
        await chat.until(lambda: any("An answer is under way" in line for line in chat.seen))
        await chat.press("escape")
        await chat.quiet()
        assert "Slow end." in chat.text


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (json_reply({"error": {"message": "no such key 钥"}}, status=401), "401"),
        (json_reply({"error": {"message": "bad template"}}, status=400), "bad template"),
        (stream(b"data: {oops\n\n", b"data: [DONE]\n\n"), ""),
    ],
    ids=["401", "400", "bad JSON"],
)
async def test_a_resumed_conversation_says_why_an_answer_failed(
    open_chat: Any, session: Session, server: Script, reply: Any, reason: str
) -> None:
    server.plays(reply)
    async with open_chat(session=session, size=(200, 50)) as chat:
        await chat.say("hello")
        await chat.until(lambda: any(isinstance(item, ErrorItem) for item in chat.screen.transcript.line_cache.items))
        await chat.quiet()
        shown = [item for item in chat.screen.transcript.line_cache.items if isinstance(item, ErrorItem)]
        await resumed(chat)
        again = [item for item in chat.screen.transcript.line_cache.items if isinstance(item, ErrorItem)]
        assert [(item.title, item.message) for item in again] == [(item.title, item.message) for item in shown]
        assert reason in f"{again[0].title} {again[0].message}"
        assert "broke off" not in chat.text
