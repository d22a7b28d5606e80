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
from agent.tools.commands.sandbox import Sandbox, SandboxFolders
from agent.tools.files.project import ProjectFolders
from agent.tools.port import ToolSettings
from tests.agent.tools.commands.conftest import Confined, run
from tests.agent.tools.commands.git_layouts import PLACES, SHAPES, VARIANTS, Layout, attack, look, make

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these sandboxes are Linux's"),
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
    pytest.mark.timeout(120),
]
LAYOUTS = [(shape, variant) for shape in SHAPES for variant in VARIANTS]
SAMPLE = [(*layout, number) for number, layout in enumerate(random.Random(37).sample(LAYOUTS, 4))]


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


@pytest.mark.parametrize(("shape", "variant", "number"), SAMPLE, ids=str)
def test_git_runs_nothing_that_a_command_left(
    confined: Confined, tmp_path: Path, marks: Path, shape: str, variant: str, number: int
) -> None:
    layout = make(shape, variant, tmp_path / "at")
    places = dict(random.Random(number).sample(sorted(PLACES.items()), 12))
    assert ran(layout, places, marks) == set()


KNOWN = [
    ("plain", "settings of worktrees", "settings of the main worktree"),
    ("separate, relative", "as made", "settings"),
    ("plain", "the user's hooks", "the user's folder of hooks, for commits"),
    ("plain", "missing included files", "an included file that was missing"),
    ("plain", "programs in the tree", "a program"),
    ("plain", "as made", "steps of a rebase"),
    ("plain", "as made", "a new bare repository"),
    ("plain", "as made", "a new repository among builds"),
    ("plain", "settings of worktrees", "a new worktree"),
    ("submodule", "as made", "a submodule's settings"),
    ("linked", "as made", "a link to another"),
]


@pytest.mark.parametrize("at", KNOWN, ids=", ".join)
def test_git_runs_nothing_from_a_place_that_once_was_open(
    confined: Confined, tmp_path: Path, marks: Path, at: tuple[str, str, str]
) -> None:
    shape, variant, place = at
    assert ran(make(shape, variant, tmp_path / "at"), {place: PLACES[place]}, marks) == set()
    control = make(shape, variant, tmp_path / "control")
    assert ran(control, {place: PLACES[place]}, marks, sandbox=False) == {place}


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("shape", "variant"), LAYOUTS, ids="-".join)
def test_git_runs_nothing_from_any_place_alone(
    confined: Confined, tmp_path: Path, marks: Path, shape: str, variant: str
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
