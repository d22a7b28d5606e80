"""/init: a first AGENTS.md from the project's files, shown first, never over one that is there."""

import json
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import CommandFailed, TextResult
from agent.project.draft import first_instructions
from agent.session import Session
from foundation.paths import Workspace
from tests.agent.sessions import open_session

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.ts").write_text("x")
    (folder / "package.json").write_text(json.dumps({"scripts": {"test": "vitest", "lint": "eslint"}}))
    (folder / "pnpm-lock.yaml").write_text("")
    return folder


async def result(session: Session, line: str) -> str:
    outcome = await registry.run(session, line)
    assert isinstance(outcome, TextResult), outcome
    return outcome.markdown


async def test_it_is_shown_then_written_and_in_force(workspace: Workspace, tmp_path: Path, project: Path) -> None:
    session = open_session(workspace, tmp_path, project=[project])
    shown = await result(session, "/init")
    assert "pnpm run test" in shown and "TypeScript: 1 file" in shown and "`src/`: 1 file" in shown
    assert not (project / "AGENTS.md").exists()
    await result(session, "/init --yes")
    assert (project / "AGENTS.md").read_text() in shown
    assert [text.path for text in session.instructions.trusted] == [str(project / "AGENTS.md")]
    for line in ("/init", "/init --yes"):
        assert isinstance(await registry.run(session, line), CommandFailed)
    await session.close()


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", ".cursorrules"])
async def test_what_is_there_stays(workspace: Workspace, tmp_path: Path, project: Path, name: str) -> None:
    (project / name).write_text("mine")
    session = open_session(workspace, tmp_path, project=[project])
    assert isinstance(await registry.run(session, "/init --yes"), CommandFailed)
    assert ((project / name).read_text(), (project / "AGENTS.md").exists()) == ("mine", name == "AGENTS.md")
    await session.close()


@pytest.mark.parametrize(
    ("files", "commands"),
    [
        ({"Cargo.toml": ""}, ["cargo build", "cargo test"]),
        ({"go.mod": ""}, ["go build ./...", "go test ./..."]),
        ({"pyproject.toml": ""}, ["python -m pytest"]),
        ({"pyproject.toml": "", "Makefile": "test: a\n\tx\nX := 1\n"}, ["make test"]),
        ({"package.json": "[" * 5_000}, []),
        ({"package.json": '{"scripts": {"build": 1}}'}, ["npm run build"]),
        ({"Makefile": b"\xff"}, []),
    ],
)
def test_commands_come_from_the_build_files(tmp_path: Path, files: dict[str, str | bytes], commands: list[str]) -> None:
    for name, text in files.items():
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    lines = first_instructions(tmp_path).splitlines()
    assert [line.split("`")[1] for line in lines if ": `" in line] == commands
