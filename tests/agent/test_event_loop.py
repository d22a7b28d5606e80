"""No slash command and no method of a session holds up the event loop: the store may be locked, the screen is not."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import CommandFailed, OpenNamedScreen, OpenSearch, Proposal
from agent.config.config import Config
from agent.config.workspaces import prepare_workspace
from agent.session import Session
from foundation.paths import Workspace
from foundation.privacy import as_given
from tests.agent.event_loop import LOCKED, OtherProcess, StallWatch, sqlite_calls_here

LONGEST_STALL = 0.1  # seconds

LINES = (
    "/diff",
    "/init",
    "/commands",
    "/add-dir {folder}/other",
    "/help",
    "/help archive",
    "/rename Trip",
    "/branch",
    "/retry",
    "/export {folder}/talk.md",
    "/copy",
    "/archive --yes Spring",
    "/compact --yes the boiler",
    "/archive --list",
    "/archive {folder}/note.txt",
    "/branch {message}",
    "/new Other things",
    "/resume",
    "/resume Trip",
    "/remember The cat is called Ada.",
    "/recall boiler",
    "/search boiler",
    "/search --recent",
    "/knowledge",
    "/knowledge add {folder}/letter.txt",
    "/knowledge list",
    "/knowledge importance letter.txt 9",
    "/model",
    "/model offline",
    "/context How is the boiler?",
    "/skill",
    "/status",
    "/trust",
    "/permissions",
    "/permissions test git push",
    "/mode edit",
    "/jobs",
    "/mcp",
    "/stats",
    "/clean",
    "/clean --later",
    "/theme nord",
    "/settings",
    "/import",
    "/keys",
    "/tree",
    "/observations",
    "/memory",
    "/memory log",
    "/memory undo",
    "/forget Trip",
    "/switches",
    "/switches recent_count 5",
    "/scope",
    "/scope House",
    "/undo",
    "/redo",
    "/rewind",
    "/exit",
)


@pytest.fixture
def calls() -> Iterator[list[str]]:
    """SQLite's statements on the loop's thread."""
    with sqlite_calls_here() as made:
        yield made


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path, calls: list[str]) -> AsyncIterator[Session]:
    environment = {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "user-config"), "PALIMPSEST_DETECT": "off"}
    prepare_workspace(workspace, environment)
    for name in ("shed", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Makefile").write_text("test: ; true\n")
    for name in ("note.txt", "letter.txt"):
        (tmp_path / name).write_text(f"The boiler was serviced in May, says {name}.\n")
    opened = await asyncio.to_thread(
        Session.open, workspace, Config(environment=environment), project=[tmp_path / "shed"]
    )
    for number in range(2):
        async for _ in opened.send(f"The boiler's pressure is {number} bar. " * 20):
            pass
    await opened.branch.rename(as_given("House"))
    yield opened
    await opened.close()


async def held_up(
    session: Session, calls: list[str], work: Mapping[str, Callable[[], Awaitable[object]]]
) -> dict[str, object]:
    """What held up the loop, by the name of the work: each is begun while another process holds the write lock."""
    found: dict[str, object] = {}
    with OtherProcess(session.workspace.database) as other:
        for name, start in work.items():
            calls.clear()
            async with other.lock(), StallWatch() as watch:
                running = asyncio.ensure_future(start())
                await asyncio.wait({running}, timeout=LOCKED)
            outcome = await running
            if calls or watch.longest >= LONGEST_STALL or isinstance(outcome, CommandFailed):
                found[name] = [f"{watch.longest:.3f} s", outcome, *calls]
    return found


async def carried_out(session: Session, line: str) -> object:
    outcome = await registry.run(session, line)
    if isinstance(outcome, Proposal):
        outcome = await registry.carry_out(outcome, lambda _page: None)
    return await outcome.printed() if isinstance(outcome, OpenSearch | OpenNamedScreen) else outcome


def test_every_command_is_among_the_lines() -> None:
    assert {line.split()[0].removeprefix("/") for line in LINES} == {command.name for command in registry.all()}


@pytest.mark.timeout(60)
async def test_no_command_holds_up_the_loop(session: Session, calls: list[str], tmp_path: Path) -> None:
    (message, _), *_ = await session.branch.own_messages(1)
    lines = [line.format(folder=tmp_path, message=message.id) for line in LINES]
    assert await held_up(session, calls, {line: partial(carried_out, session, line) for line in lines}) == {}


@pytest.mark.timeout(60)
async def test_no_method_of_a_session_holds_up_the_loop(session: Session, calls: list[str]) -> None:
    (message, _), *_ = await session.branch.own_messages(1)

    async def send() -> None:
        async for _ in session.send("And now?"):
            pass

    work: dict[str, Callable[[], Awaitable[object]]] = {
        "send": send,
        "rename": lambda: session.branch.rename(as_given("Home")),
        "history": session.branch.history,
        "own_messages": lambda: session.branch.own_messages(9),
        "answers": lambda: session.branch.answers(9),
        "restore_model": session.restore_model,
        "outlook": session.compaction.preview,
        "compact": session.compaction.run,
        "branch_from": lambda: session.branch.branch_from(message.id),
        "resume": lambda: session.resume("Home"),
        "resume_latest": session.resume_latest,
        "conversations": lambda: session.branch.recent(9),
        "use_model": lambda: session.use_model("offline"),
        "context_report": lambda: session.context_report("What next?"),
        "skills": session.skills,
        "close": session.close,
    }
    assert await held_up(session, calls, work) == {}
