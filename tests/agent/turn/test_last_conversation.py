"""A new conversation begins clean, or with the summary of the last one if `context.carry_summary` is on."""

from pathlib import Path
from typing import Any

from agent.events import Notice
from agent.session import Session
from context.settings import ContextSettings
from foundation.paths import Workspace
from memory.cold.epoch_copies import end_epochs_showing
from tests.agent.sessions import asked, open_session, turn
from tests.loopback import Loopback, chat

KEY = "We decided to keep the brass key of the observatory under the third step."
CARRIED = "Starts with a summary of the last conversation"


async def say(session: Session, server: Loopback, text: str) -> str:
    """The notices of the turn."""
    server.plays(chat("Noted."))
    seen: list[Any] = await turn(session, text)
    return "\n".join(event.text for event in seen if isinstance(event, Notice))


def head(server: Loopback) -> str:
    """The system message, and the first user message, which the head opens."""
    return "\n".join(message["content"] for message in asked(server)[-1].json["messages"][:2])


async def test_the_last_summary_goes_along_and_is_said_and_counted(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    settings = ContextSettings(carry_summary=True, use_compression=True, recall=False, observations=0)
    session = open_session(workspace, tmp_path, server, context=settings)
    try:
        assert CARRIED not in await say(session, server, KEY)  # there is none before
        last = session.conversation
        session.new()
        assert CARRIED in await say(session, server, "Good morning.")
        assert "third step" in head(server)
        assert session.report is not None
        sources = [source.name for layer in session.report.layers for source in layer.sources]
        assert "last conversation" in sources
        first = head(server)
        assert CARRIED not in await say(session, server, "And now?")  # once, and the head stays
        assert head(server) == first
        assert last is not None
        session.memory.cold.write(lambda db: end_epochs_showing(db, last.seq))  # as a deletion does
        assert session.conversation is not None
        assert session.memory.context_store.epoch(session.conversation.seq) is None
    finally:
        await session.close()


async def test_nothing_is_carried_by_default_without_memory_summaries_or_from_another_scope(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    for settings in (
        ContextSettings(use_compression=True, recall=False, observations=0),  # as it comes
        ContextSettings(carry_summary=True, observations=0),
        ContextSettings(carry_summary=True, use_compression=True, use_memory=False, observations=0),
    ):
        session = open_session(workspace, tmp_path, server, context=settings)
        try:
            await say(session, server, KEY)
            session.new()
            assert CARRIED not in await say(session, server, "Good morning.")
            assert "third step" not in head(server)
        finally:
            await session.close()
    other = ContextSettings(carry_summary=True, use_compression=True, scope="tide", observations=0)
    session = open_session(workspace, tmp_path, server, context=other)
    try:
        assert CARRIED not in await say(session, server, "Good morning.")
    finally:
        await session.close()
