"""Observations are listed, corrected and deleted: in the chat and on the command line."""

import json
from pathlib import Path

from agent.commands import registry
from agent.commands.results import CommandFailed, TextResult
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.conftest import Run
from tests.agent.sessions import asked, open_session, turn
from tests.loopback import Loopback, chat

DECISION = "We decided to keep SQLite for the queue of jobs."
MODELS = ModelSettings(tools=True, window=32_000, retries=0)


async def test_in_the_chat_a_correction_and_a_deletion_hold_with_the_next_message(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    session = open_session(workspace, tmp_path, server, models=MODELS)

    async def says(line: str) -> str:
        outcome = await registry.run(session, line)
        assert isinstance(outcome, TextResult), outcome
        return outcome.markdown

    def head() -> str:
        return json.dumps(asked(server)[-1].json["messages"][:2], ensure_ascii=False)

    assert "No observations yet" in await says("/observations")
    server.plays(*[chat("Good.")] * 4)
    await turn(session, DECISION)
    await session.background.idle()
    (stored,) = session.memory.observations.newest(9)
    assert f"| {stored.id} | " in await says("/observations")
    session.new()
    await turn(session, "Hello!")
    assert DECISION in head()
    assert "Keep Postgres" in await says(f"/observations edit {stored.id} Keep Postgres")
    await turn(session, "Hello!")
    assert DECISION not in head()
    assert "Keep Postgres" in head()
    await says(f"/observations delete {stored.id}")
    await turn(session, "Hello!")
    assert "Notes of earlier work" not in head()
    assert isinstance(await registry.run(session, "/observations shred"), CommandFailed)
    assert isinstance(await registry.run(session, f"/observations delete {stored.id}"), CommandFailed)
    await session.close()


async def test_on_the_command_line(workspace: Workspace, server: Loopback, tmp_path: Path, run: Run) -> None:
    session = open_session(workspace, tmp_path, server, models=MODELS)
    server.plays(chat("Good."))
    await turn(session, DECISION)
    await session.close()
    at = ("--workspace", str(workspace.root))
    (listed,) = run(*at, "observations", "list", "--json").json["observations"]
    assert (listed["title"], listed["importance"], listed["type"]) == (DECISION, "decision", "decision")
    assert DECISION in run(*at, "observations", "list").out
    edited = run(*at, "observations", "edit", listed["id"], "Keep Postgres\n- port 5432", "--json").json
    assert (edited["title"], edited["facts"], edited["corrected"]) == ("Keep Postgres", ["port 5432"], True)
    assert run(*at, "observations", "delete", listed["id"]).status == 130  # nobody confirms it
    assert len(run(*at, "observations", "list", "--json").json["observations"]) == 1
    assert run(*at, "observations", "delete", listed["id"], "--yes", "--json").json["deleted"] == listed["id"]
    assert run(*at, "observations", "list", "--json").json["observations"] == []
    assert run(*at, "observations", "edit", listed["id"], "x").status == 1
