"""Where and when: the end of the opening, a short form outside a project, and the date of another day in the tail."""

import subprocess
from pathlib import Path

import pytest

from agent.config.config import Config
from agent.config.workspaces import prepare_workspace
from agent.session import Session
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import asked, environment_of, turn
from tests.fakes import FakeClock
from tests.loopback import Loopback, chat

pytestmark = pytest.mark.timeout(60)


def opened(
    workspace: Workspace, tmp_path: Path, server: Loopback, clock: FakeClock, folder: Path, *, name: str = "m"
) -> Session:
    variables = environment_of(tmp_path)
    prepare_workspace(workspace, variables)
    config = Config(
        environment=variables,
        model=f"openai:{name}@{server.address}/v1",
        models=ModelSettings(window=32_000, retries=0),
    )
    return Session.open(workspace, config, clock=clock, project=[folder])


def users(server: Loopback) -> list[str]:
    return [message["content"] for message in asked(server)[-1].json["messages"] if message["role"] == "user"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    (folder / "a.py").write_text("x = 1\n")
    for command in (["init", "-q", "-b", "kiln"], ["add", "."], ["commit", "-qm", "a"]):
        subprocess.run([*git, *command], cwd=folder, check=True)
    return folder


async def test_a_project_has_its_folder_branch_and_state(
    workspace: Workspace, tmp_path: Path, server: Loopback, clock: FakeClock, repository: Path
) -> None:
    session = opened(workspace, tmp_path, server, clock, repository)
    server.plays(chat("Fine."))
    await turn(session, "Hello.")
    [first] = users(server)
    line = next(line for line in first.splitlines() if line.startswith("Today is"))
    assert line.startswith("Today is Saturday, 2026-03-14. Time zone: ")
    assert line.endswith(f"Working folder: {repository} (project shop), git branch kiln, clean.")
    assert first.rindex("<palimpsest-") < first.index("Hello."), "nothing stable follows it"
    (repository / "a.py").write_text("x = 2\n")
    session.new()
    server.plays(chat("Fine."))
    await turn(session, "Again.")
    assert "Today is" in users(server)[0]
    await session.close()


async def test_another_day_is_told_once_in_the_tail(
    workspace: Workspace, tmp_path: Path, server: Loopback, clock: FakeClock, repository: Path
) -> None:
    session = opened(workspace, tmp_path, server, clock, repository)
    server.plays(chat("One."), chat("Two."), chat("Three."))
    await turn(session, "First.")
    before = asked(server)[-1].json["messages"]
    clock.advance(24 * 3600)
    await turn(session, "Second.")
    assert asked(server)[-1].json["messages"][: len(before)] == before
    assert "Today is Sunday, 2026-03-15." in users(server)[-1]
    await turn(session, "Third.")
    assert "Today is" not in users(server)[-1]
    await session.close()


async def test_outside_a_project_only_the_date_and_the_zone(
    workspace: Workspace, tmp_path: Path, server: Loopback, clock: FakeClock
) -> None:
    session = opened(workspace, tmp_path, server, clock, workspace.root)
    server.plays(chat("Fine."))
    await turn(session, "Hello.")
    [first] = users(server)
    line = next(line for line in first.splitlines() if line.startswith("Today is"))
    assert "Time zone" in line
    assert "folder" not in line and "shell" not in line
    await session.close()


async def test_a_small_model_has_no_line_outside_a_project(
    workspace: Workspace, tmp_path: Path, server: Loopback, clock: FakeClock, repository: Path
) -> None:
    for folder, is_told in ((workspace.root, False), (repository, True)):
        session = opened(workspace, tmp_path, server, clock, folder, name="tiny-1b")
        server.plays(chat("Fine."))
        await turn(session, "Hello.")
        assert ("Today is" in users(server)[0]) is is_told
        await session.close()
