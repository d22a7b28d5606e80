"""The keys of the block with the focus. Real sessions."""

from typing import Any

from agent.session import Session
from tests.agent.sessions import asked
from tests.loopback import Pause, data, delta, stream
from tests.tui.chat.blocks.scripts import Script, foot, thinking


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
        await chat.until(lambda: "The conversation continues after “first”" in chat.text)
        await chat.quiet()
        assert "Two." not in chat.text
        await chat.say("third")
        await chat.quiet()
        sent = [message["content"] for message in asked(server.server)[-1].json["messages"]]
        assert not any("second" in str(content) for content in sent)


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
        await chat.until(lambda: any("An answer is in progress" in line for line in chat.seen))
        await chat.press("escape")
        await chat.quiet()
        assert "Slow end." in chat.text
