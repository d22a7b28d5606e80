"""No command in the sandbox leaves git something that it runs outside, however the repository is laid out."""

import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from agent.tools.commands.commands import Commands
from agent.tools.commands.sandbox import Sandbox, SandboxFolders, SandboxKind
from agent.tools.files.project import ProjectFolders
from agent.tools.port import ToolSettings
from tests.agent.tools.commands.conftest import run
from tests.agent.tools.commands.git_layouts import PLACES, SHAPES, VARIANTS, Layout, attack, look, make

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these sandboxes are Linux's"),
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
    pytest.mark.timeout(120),
]
LAYOUTS = [(shape, variant) for shape in SHAPES for variant in VARIANTS]
SAMPLE = random.Random(37).sample(LAYOUTS, 6)


@pytest.fixture
def marks() -> Iterator[Path]:
    """A folder that only a program outside the sandbox can write; its path has no blanks."""
    folder = Path(tempfile.mkdtemp(prefix="marks-", dir="/var/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def commands_in(layout: Layout, *, sandbox: bool = True) -> Commands:
    bounds = SandboxFolders(writable=[layout.project], home=layout.home)
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(layout.home)}
    return Commands(ProjectFolders((layout.project,)), Sandbox(bounds, enabled=sandbox), ToolSettings(), environment)


def ran(layout: Layout, places: dict[str, str], marks: Path, *, sandbox: bool = True) -> set[str]:
    """The places from which git ran a program when the person looked."""
    commands = commands_in(layout, sandbox=sandbox)
    for number, line in enumerate(places.values()):
        run(commands, attack(layout, number, line, marks), seconds=20)
        for made in marks.glob("*"):
            made.unlink()
    look(layout)
    commands.close()
    names = list(places)
    return {names[int(path.name)] for path in marks.iterdir()}


@pytest.mark.parametrize(("shape", "variant"), SAMPLE, ids="-".join)
def test_git_runs_nothing_that_a_command_left(
    kind: SandboxKind, tmp_path: Path, marks: Path, shape: str, variant: str
) -> None:
    layout = make(shape, variant, tmp_path / "at")
    assert ran(layout, PLACES, marks) == set()


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("shape", "variant"), LAYOUTS, ids="-".join)
def test_git_runs_nothing_from_any_place_alone(
    kind: SandboxKind, tmp_path: Path, marks: Path, shape: str, variant: str
) -> None:
    found = set[str]()
    for number, (name, line) in enumerate(PLACES.items()):
        layout = make(shape, variant, tmp_path / str(number))
        found |= ran(layout, {name: line}, marks)
        shutil.rmtree(tmp_path / str(number))
    assert found == set()


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_the_control_runs_programs_from_every_place(tmp_path: Path, marks: Path) -> None:
    unseen = dict(PLACES)
    for number, (variant, shape) in enumerate(product(VARIANTS, ("plain", "worktree", "submodule"))):
        for name, line in list(unseen.items()):
            layout = make(shape, variant, tmp_path / f"{number}")
            if ran(layout, {name: line}, marks, sandbox=False):
                del unseen[name]
            for mark in marks.iterdir():
                mark.unlink()
            shutil.rmtree(tmp_path / f"{number}")
    assert unseen == {}
