"""`/compact --undo` in a session, also in one that resumed the conversation."""

from pathlib import Path

import pytest

from agent.chunk_export import write_chunks
from agent.commands.archive import COMMANDS
from agent.commands.results import Proposal, TextResult
from agent.services.conversation_tree import read_tree
from agent.session import Session
from foundation.errors import Misuse, TemporaryFailure
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import asked, open_session, turn
from tests.loopback import Loopback, chat, varied

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long
(COMPACT,) = [command for command in COMMANDS if command.name == "compact"]
SETTINGS = ModelSettings(window=20_000, tools=False, retries=0)


async def compact(session: Session) -> str:
    proposal = await COMPACT.run(session, "--yes")
    assert isinstance(proposal, Proposal)
    done = await proposal.run(lambda _: None)
    assert isinstance(done, TextResult)
    return done.markdown


async def test_the_next_request_begins_with_the_last_one_again(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    server.answers_all(lambda _: chat("Fine. " + varied("More. ", 200)))
    session = open_session(workspace, tmp_path, server, models=SETTINGS)
    for number in range(6):
        await turn(session, f"Question {number}")
    before = asked(server)[-1].json["messages"]
    assert "Checked that" in await compact(session)
    conversation = session.conversation
    await session.close()
    assert conversation is not None
    session = open_session(workspace, tmp_path, server, models=SETTINGS)
    await session.resume(conversation.id)
    undone = await COMPACT.run(session, "--undo")
    assert isinstance(undone, TextResult) and undone.markdown.startswith("Compaction undone: ")
    await turn(session, "And now?")
    assert asked(server)[-1].json["messages"][: len(before)] == before
    with pytest.raises(Misuse, match="No turns of this branch were archived"):
        await COMPACT.run(session, "--undo")
    await session.close()


async def test_the_mark_of_an_undo_is_nobodys_summary(workspace: Workspace, server: Loopback, tmp_path: Path) -> None:
    server.answers_all(lambda _: chat("Fine. " + varied("More. ", 200)))
    session = open_session(workspace, tmp_path, server, models=SETTINGS)
    for number in range(6):
        await turn(session, f"Question {number}")
    await compact(session)
    await COMPACT.run(session, "--undo")
    conversation, memory = session.conversation, session.memory
    assert conversation is not None
    summaries = [one.summary for one in read_tree(memory, conversation, lambda _: {}).turns.values()]
    assert not any("undone" in summary for summary in summaries)
    assert memory.statistics().compressed_chunks == 1
    write_chunks(memory, conversation, tmp_path / "chunks")
    assert len(list((tmp_path / "chunks" / "summaries").iterdir())) == 1
    await session.close()


async def test_nothing_is_undone_while_the_model_answers(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    server.answers_all(lambda _: chat("Fine. " + varied("More. ", 200)))
    session = open_session(workspace, tmp_path, server, models=SETTINGS)
    for number in range(6):
        await turn(session, f"Question {number}")
    await compact(session)
    events = session.send("And now?")
    await anext(events)
    assert session.busy
    with pytest.raises(TemporaryFailure, match="between turns"):
        await session.compaction.undo()
    async for _ in events:
        pass
    assert (await session.compaction.undo()).turns
    await session.close()
