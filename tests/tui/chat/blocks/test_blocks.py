"""Blocks that open: the same while a turn runs and after the conversation is resumed. Real sessions."""

from typing import Any

import pytest

from agent.session import Session
from tests.agent.sessions import calls
from tests.loopback import json_reply, stream
from tests.tui.chat.blocks.scripts import LINES, Script, block_lines, focus, resumed, thinking
from tui.passages.text_screen import TextScreen
from tui.widgets.transcript.block import MAX_LINES
from tui.widgets.transcript.items import ErrorItem

SIZES = [(80, 24), (200, 50)]


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


async def test_an_edit_shows_its_short_diff_and_folds_it(open_chat: Any, session: Session, server: Script) -> None:
    server.plays(calls("read_file", path="calc.py"))
    server.plays(calls("edit_file", path="calc.py", old="two = 2", new="two = 3"))
    server.plays(thinking(answer="Changed."))
    async with open_chat(session=session) as chat:
        await chat.say("change it")
        await chat.quiet()
        for _ in ("live", "resumed"):
            await chat.until(lambda: "-two = 2" in chat.text and "+two = 3" in chat.text)
            await focus(chat, "edit calc.py")
            await chat.press("enter")
            await chat.until(lambda: "-two = 2" not in chat.text)
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
