"""The scope of memory: search, recall and the tools stay within the conversations of one work."""

from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import CommandFailed, TextResult
from context.settings import ContextSettings
from foundation.paths import Workspace
from memory.search import Query
from tests.agent.conftest import Run
from tests.agent.importers.test_chunks import written
from tests.agent.sessions import asked, calls, open_session, told, turn
from tests.loopback import Loopback, chat

LAMP = "The lighthouse lamp of Morwenna burns with whale oil and is trimmed at nine."
MINE = "The lighthouse lamp in my flat is broken, and I want to mend it on Sunday."
QUESTION = "What do we know of the lighthouse lamp of Morwenna?"


@pytest.fixture
def novel(run: Run, tmp_path: Path) -> Path:
    folder = written(tmp_path / "novels", chunks__tide_chunk_001=[{"role": "user", "content": LAMP}])
    assert run("import", str(folder), "--scope", "id").status == 0
    return folder


def test_a_search_of_the_workspace_leaves_a_scope_out_unless_asked_across(run: Run, novel: Path) -> None:
    run("-p", MINE)
    found = [hit["snippet"] for hit in run("search", "lighthouse lamp", "--json").json["hits"]]
    assert any("my flat" in snippet for snippet in found)
    assert not any("whale oil" in snippet for snippet in found)
    across = [hit["snippet"] for hit in run("search", "lighthouse lamp", "--scope", "all", "--json").json["hits"]]
    assert any("whale oil" in snippet for snippet in across)
    only = [hit["snippet"] for hit in run("search", "lighthouse lamp", "--scope", "tide", "--json").json["hits"]]
    assert only
    assert all("whale oil" in snippet for snippet in only)
    assert run("search", "lighthouse", "--conversation", "tide", "--json").json["hits"]  # naming it asks across
    assert "is every" not in run("import", str(novel), "--scope", "all").out
    assert run("import", str(novel), "--scope", "all").status == 2


async def test_recall_and_tools_stay_within_the_scope_of_the_conversation(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    settings = ContextSettings(scope="tide")
    session = open_session(workspace, tmp_path, server, context=settings)
    try:
        server.plays(chat("Noted."))
        await turn(session, LAMP)
        assert session.conversation is not None
        assert session.conversation.labels == ("scope:tide",)
        session.new()
        server.plays(chat("It burns whale oil."))
        await turn(session, QUESTION)
        assert "whale oil" in str(asked(server)[-1].json["messages"])
        session.new()
        await registry.run(session, "/scope none")
        server.plays(calls("memory_search", query="lighthouse lamp Morwenna"), chat("I do not know."))
        await turn(session, QUESTION)
        assert "whale oil" not in str(asked(server)[-2].json["messages"])
        assert "whale oil" not in str(told(server)["content"])
        assert not session.memory.search.query(Query(text="whale oil")).found
        assert session.memory.search.query(Query(text="whale oil", scope="all")).found
    finally:
        await session.close()


async def test_a_conversation_keeps_its_scope(workspace: Workspace, tmp_path: Path) -> None:
    session = open_session(workspace, tmp_path)
    try:
        shown = await registry.run(session, "/scope")
        assert isinstance(shown, TextResult)
        assert "workspace's default" in shown.markdown
        await registry.run(session, "/scope The Tide")
        assert session.conversation is not None
        conversation = session.conversation.id
        assert isinstance(await registry.run(session, "/scope all"), CommandFailed)
        session.new()
        await session.resume(conversation)
        shown = await registry.run(session, "/scope")
        assert isinstance(shown, TextResult)
        assert "“The Tide”" in shown.markdown
    finally:
        await session.close()
