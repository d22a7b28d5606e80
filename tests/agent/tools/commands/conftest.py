"""Commands of a project in a folder of their own, and the processes of this machine by what they run."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import pytest

from agent.tools.commands.commands import Commands
from agent.tools.commands.sandbox import Sandbox, SandboxFolders, SandboxKind
from agent.tools.files.project import ProjectFolders
from agent.tools.port import ToolSettings

MakeCommands = Callable[..., Commands]
Confined = Callable[..., Commands]
KINDS = [SandboxKind.NAMESPACES, SandboxKind.BUBBLEWRAP, SandboxKind.LANDLOCK]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def make_commands(project: Path, home: Path) -> Iterator[MakeCommands]:
    """`make_commands(sandbox=True, network=False, environment={}, settings=ToolSettings())`; closed at the end."""
    made: list[Commands] = []

    def make(
        *,
        sandbox: bool = False,
        network: bool = False,
        environment: dict[str, str] | None = None,
        settings: ToolSettings | None = None,
        hidden: tuple[Path, ...] = (),
        programs: tuple[Path, ...] = (),
        home: Path = home,
    ) -> Commands:
        folders = ProjectFolders((project,))
        bounds = SandboxFolders(writable=folders.folders, hidden=hidden, programs=programs, home=home)
        confined = Sandbox(bounds, enabled=sandbox, network=network)
        base = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home)}
        made.append(Commands(folders, confined, settings or ToolSettings(), base | (environment or {})))
        return made[-1]

    yield make
    for commands in made:
        commands.close()


@pytest.fixture
def commands(make_commands: MakeCommands) -> Commands:
    """Without a sandbox."""
    return make_commands()


@pytest.fixture(params=KINDS, ids=str)
def kind(request: pytest.FixtureRequest) -> SandboxKind:
    """Each kind that starts a command here."""
    wanted: SandboxKind = request.param
    if wanted is SandboxKind.BUBBLEWRAP and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    if not _is_available(wanted):
        pytest.skip(f"{wanted} is not available here")
    return wanted


@cache
def _is_available(kind: SandboxKind) -> bool:
    """Whether a command starts in it, tried once in a process."""
    with TemporaryDirectory() as folder:
        probe = Sandbox(SandboxFolders(writable=[Path(folder)], home=Path(folder, "nobody")))
        state = probe.try_kind(kind)
        probe.close()
    return state is not None


@pytest.fixture
def confined(kind: SandboxKind, make_commands: MakeCommands, monkeypatch: pytest.MonkeyPatch) -> Confined:
    """Commands in a sandbox of that kind."""
    tried = Sandbox.try_kind
    monkeypatch.setattr(Sandbox, "try_kind", lambda own, which: tried(own, which) if which is kind else None)

    def make(**options: object) -> Commands:
        commands = make_commands(sandbox=True, **options)
        assert commands.sandbox.state.kind is kind
        return commands

    return make


def run(commands: Commands, command: str, *, seconds: float = 8, stop_when: Callable[[str], bool] | None = None) -> str:
    """Runs the command; `stop_when` gets the reported output so far, and stops the turn where it is true."""
    stopped, seen = Event(), [""]

    def report(text: str) -> None:
        seen[0] += text
        if stop_when and stop_when(seen[0]):
            stopped.set()

    return commands.run(command, seconds, stopped, report)


def running(word: str) -> list[str]:
    """The processes of this machine whose command line has the word, less zombies."""
    listed = subprocess.run(["ps", "-axo", "pid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    rows = [row.split(None, 2) for row in listed.splitlines()]
    return [row[2] for row in rows if len(row) == 3 and word in row[2] and not row[1].startswith("Z")]


def soon_none(word: str) -> list[str]:
    """The processes that still run after two seconds."""
    until = time.monotonic() + 2
    while (left := running(word)) and time.monotonic() < until:
        time.sleep(0.05)
    return left


PYTHON = sys.executable
