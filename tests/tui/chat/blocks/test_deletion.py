"""A turn is deleted from its blocks then undone. Real sessions."""

from typing import Any

from agent.session import Session
from tests.tui.chat.blocks.scripts import Script, foot, thinking
from tui.widgets.transcript.items import UserItem


async def test_a_turn_is_deleted_and_taken_back(open_chat: Any, session: Session, server: Script) -> None:
    for answer in ("One.", "Two."):
        server.plays(thinking(answer=answer))
    async with open_chat(session=session) as chat:
        for text in ("first", "second"):
            await chat.say(text)
            await chat.quiet()
        await chat.press("ctrl+up", "d", "d")
        await chat.until(lambda: "“second” is removed from the conversation" in chat.text)
        await chat.quiet()
        assert "Ctrl+↑ u undoes it, too." in " ".join(chat.text.split()), "the prompt has the keys again"
        assert "Two." not in chat.text
        await chat.press("ctrl+up")
        assert "u undo delete" in foot(chat)
        await chat.press("u")
        await chat.until(lambda: "Restored “second”" in chat.text)
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
        await chat.until(lambda: "Restored “second”" in chat.text)
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
        await chat.until(lambda: "undoes this" in chat.text)
        await chat.quiet()
        assert "u undoes it, too" not in " ".join(chat.text.split())


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
            assert any("is not part of a turn" in line for line in chat.seen)
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
        await chat.until(lambda: "undoes this" in chat.text)
        assert sum("undoes this" in line for line in chat.seen) == 1, "the receipt says it, and no notification"
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
        await chat.until(lambda: "undoes this" in chat.text)
        await chat.quiet()
        assert shown() == ["❯ first", "below-42-one", "! echo below-two"]
        assert "%" in chat.seen[-1], "the context figure stays"
        await chat.press("ctrl+up", "u")
        await chat.until(lambda: "” and what follows it" in chat.text)
        await chat.quiet()
        assert shown() == before
        await chat.screen.controller.return_to_newest()
        assert shown() == before
