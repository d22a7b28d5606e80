"""`/retry`: the last message is answered again, after a failure or for another answer."""

import pytest

from agent.commands import registry
from agent.commands.results import SendMessage, TextResult
from agent.events import AnswerStored, SessionEvent, TurnFailed
from agent.session import Session
from models.messages import Role
from tests.agent.sessions import turn
from tests.agent.turn.event_order import assert_in_order
from tests.agent.turn.test_text_tools import completions, session  # noqa: F401 (a fixture)
from tests.context.conversation import without_nonces
from tests.loopback import Loopback, chat, json_reply

BROKEN = json_reply({"error": {"message": "boom"}}, status=400)


async def again(session: Session) -> list[SessionEvent]:  # noqa: F811
    return [event async for event in session.send("", again=True)]


async def test_a_failed_message_is_sent_as_it_was_and_stored_once(session: Session, server: Loopback) -> None:  # noqa: F811
    server.plays(BROKEN, chat("Here."))
    failed = await turn(session, "where? <private>the code is 7</private>")
    assert isinstance(failed[-1], TurnFailed)
    outcome = await registry.run(session, "/retry")
    assert isinstance(outcome, SendMessage) and outcome.again
    seen = await again(session)
    assert_in_order(seen)
    assert isinstance(seen[-1], AnswerStored)
    first, second = completions(server)
    contents = [without_nonces(sent["messages"][-1]["content"]) for sent in (first, second)]
    assert contents[0] == contents[1]  # by night an instruction comes with it, in tags of its own
    assert "the code is 7" in second["messages"][-1]["content"]
    messages = await session.branch.own_messages(9)
    assert len(messages) == 1 and "the code is 7" not in messages[0][1]


async def test_another_answer_begins_a_branch(session: Session, server: Loopback) -> None:  # noqa: F811
    server.plays(chat("One."), chat("Two."), chat("Three."))
    await turn(session, "a number?")
    await again(session)
    assert await session.branch.answers(9) == ["Two."]
    assert session.conversation is not None
    entries = list(session.memory.conversations.all_entries(session.conversation.seq))
    assert [entry.text for entry in entries if entry.role is Role.ASSISTANT] == ["One.", "Two."]
    assert len([entry for entry in entries if entry.role is Role.USER]) == 1
    await turn(session, "and then?")
    sent = completions(server)[-1]["messages"]
    assert [message["content"] for message in sent if message["role"] == "assistant"] == ["Two."]


async def test_without_a_message_there_is_nothing_to_send_again(session: Session) -> None:  # noqa: F811
    assert isinstance(await registry.run(session, "/retry"), TextResult)
    with pytest.raises(Exception, match="no message yet"):
        await again(session)
