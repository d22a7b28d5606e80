"""What a conversation reads of its past: the switches, in real sessions against a server that keeps what it is sent."""

from pathlib import Path
from typing import Any

from agent.commands import registry
from agent.commands.results import CommandFailed, TextResult
from agent.events import Notice
from agent.session import Session
from context.settings import ContextSettings
from foundation.paths import Workspace
from memory.records import EntryKind
from tests.agent.sessions import asked, open_session, turn
from tests.loopback import Loopback, chat

KEY = "The brass key of the observatory lies under the third step, behind the loose brick."
WELL = "The well in the courtyard is 41 metres deep and was sealed in 1912 by the mason Orlov."


async def opened(workspace: Workspace, tmp_path: Path, server: Loopback, **context: Any) -> Session:
    return open_session(workspace, tmp_path, server, context=ContextSettings(**context))


async def say(session: Session, server: Loopback, text: str, answer: str = "Noted.") -> list[Any]:
    server.plays(chat(answer))
    return await turn(session, text)


def sent(server: Loopback) -> str:
    """All that the last request tells."""
    return "\n".join(str(message["content"]) for message in asked(server)[-1].json["messages"])


def told(seen: list[Any]) -> str:
    return "\n".join(event.text for event in seen if isinstance(event, Notice))


async def switch(session: Session, words: str) -> str:
    outcome = await registry.run(session, f"/switches {words}")
    assert isinstance(outcome, TextResult), outcome
    return outcome.markdown


def summaries(session: Session) -> list[Any]:
    assert session.conversation is not None
    entries = session.memory.conversations.all_entries(session.conversation.seq)
    return [entry for entry in entries if entry.kind is EntryKind.SUMMARY]


async def test_the_simple_mode_reads_the_whole_history_and_compresses_nothing(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    session = await opened(workspace, tmp_path, server)
    try:
        await say(session, server, KEY)
        await say(session, server, WELL)
        await say(session, server, "Go on.")
        assert KEY in sent(server)
        assert WELL in sent(server)
        assert summaries(session) == []
    finally:
        await session.close()


async def test_the_efficient_mode_reads_summaries_and_compresses_each_turn(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    session = await opened(workspace, tmp_path, server, read_compressed=True, use_compression=True)
    try:
        question = f"Hello there, my friend, how are you today? {KEY} Well, so be it."
        first = await say(session, server, question, "Noted, I keep it in mind. " * 20)
        assert "no summary" not in told(first)  # there is nothing earlier
        await say(session, server, WELL)
        await say(session, server, "Go on.")
        text = sent(server)
        assert "third step" in text
        assert "Orlov" in text
        assert "Hello there, my friend" not in text
        assert "Noted, I keep it in mind. Noted" not in text
        assert len(summaries(session)) == 3
        assert all(summary.parent is None for summary in summaries(session))
        assert session.conversation is not None
        kept = session.memory.conversations.all_entries(session.conversation.seq)
        assert WELL in [entry.text for entry in kept]  # the originals stay
    finally:
        await session.close()


async def test_the_mixed_mode_reads_originals_and_compresses_for_the_future(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    session = await opened(workspace, tmp_path, server, use_compression=True)
    try:
        long = f"{KEY} " + "We walked on along the shore and talked of nothing in particular for an hour. " * 12
        await say(session, server, long)
        before = asked(server)[-1].json["messages"]
        await say(session, server, WELL)
        assert long.strip() in sent(server)
        after = asked(server)[-1].json["messages"]
        assert after[: len(before)] == before  # compressing changes no byte of the request
        assert len(summaries(session)) == 2
        await switch(session, "read_compressed on")  # the future
        await say(session, server, "Go on.")
        assert "third step" in sent(server)
        assert long.strip() not in sent(server)
    finally:
        await session.close()


async def test_compressed_memory_where_there_is_none_is_none_and_is_said(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    session = await opened(workspace, tmp_path, server)
    try:
        await say(session, server, KEY)
        await switch(session, "read_compressed on")
        seen = await say(session, server, "Where is the brass key of the observatory?")
        assert "brick" not in sent(server)
        assert "This conversation has no summary yet" in told(seen)
    finally:
        await session.close()


async def test_without_memory_nothing_earlier_is_sent_or_recalled(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    workspace.memory_md.write_text("- The lighthouse keeper is called Ilse.\n")
    session = await opened(workspace, tmp_path, server)
    try:
        await say(session, server, KEY)
        assert "Ilse" in sent(server)
        await switch(session, "use_memory off")
        await say(session, server, "Where is the brass key of the observatory?")
        assert "brick" not in sent(server)
        assert "Ilse" not in sent(server)
        assert "recall" not in {tool["function"]["name"] for tool in asked(server)[-1].json.get("tools", [])}
        session.new()
        await say(session, server, "Where is the brass key of the observatory?")  # a switch is the conversation's own
        assert "brick" in sent(server)
    finally:
        await session.close()


async def test_recent_count_reads_the_last_messages(workspace: Workspace, tmp_path: Path, server: Loopback) -> None:
    session = await opened(workspace, tmp_path, server, recent_count=2, recall=False)
    try:
        for number in range(4):
            await say(session, server, f"message-{number}", f"answer-{number}")
        text = sent(server)
        assert "message-2" in text
        assert "answer-2" in text
        assert "answer-1" not in text
        assert "message-1" not in text
    finally:
        await session.close()


async def test_a_conversation_keeps_its_switches_when_it_is_resumed(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    session = await opened(workspace, tmp_path, server)
    try:
        await switch(session, "read_compressed on")  # before the first message
        await switch(session, "recent_count 5")
        await say(session, server, KEY)
        assert session.conversation is not None
        conversation = session.conversation.id
        assert session.conversation.title.startswith("The brass key")
    finally:
        await session.close()
    session = await opened(workspace, tmp_path, server)
    try:
        await session.resume(conversation)
        said = await switch(session, "")
        assert "`read_compressed` is on (of this conversation)" in said
        assert "`recent_count` is 5 (of this conversation)" in said
        assert "`use_memory` is on (by the settings)" in said
        assert "`read_compressed` is off (by the settings)" in await switch(session, "read_compressed default")
        status = await registry.run(session, "/status")
        assert isinstance(status, TextResult)
        assert "read_compressed off" in status.markdown
        assert "recent_count 5" in status.markdown
        refused = await registry.run(session, "/switches recent_count many")
        assert isinstance(refused, CommandFailed)
        assert "recent_count is a number" in refused.error.message
        assert isinstance(await registry.run(session, "/switches colour on"), CommandFailed)
    finally:
        await session.close()
