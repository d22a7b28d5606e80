"""`await picture(act)`: what the screen looks like after `act`, at three sizes and in three themes, as one SVG file.

The file is `sheets/GROUP/NAME.svg`, of `test_GROUP_pictures.py` and `test_NAME`. `pytest --snapshot-update` takes it
anew; look at it before (`make pictures` puts those of a group on one page).
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Protocol

import pytest
from textual.pilot import Pilot

from foundation.clock import Clock, SystemClock
from foundation.paths import Workspace
from memory.memory import Memory
from tests.fakes import FakeClock
from tests.tui.fakes import NOW, RECALLED, FakeSession, answer
from tests.tui.pictures.acts import Act, idle
from tests.tui.pictures.memories import write_conversations, write_notes, write_versions
from tests.tui.pictures.svg import panel, panels_of, sheet
from tui.app import PalimpsestApp
from tui.chat.start import ChatStart
from tui.themes.own import CONTRAST_DARK, DARK, LIGHT

SHEETS: Final = Path(__file__).parent / "sheets"
PANELS: Final = (
    ((80, 24), DARK),
    ((200, 50), DARK),
    ((120, 36), DARK),
    ((120, 36), LIGHT),
    ((120, 36), CONTRAST_DARK),
)
STILL_S: Final = 1.0  # a picture that has not changed for so long is what it is
LOADING_S: Final = 8.0  # the same before a first difference is believed: a busy machine loads late


class Picture(Protocol):
    async def __call__(
        self, act: Act | None = None, *, session: FakeSession | None = None, memory: Memory | None = None, **start: Any
    ) -> None: ...


@pytest.fixture
def picture(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Picture:
    """Compares the screen after `act` with the file of the test; `start` goes into the ChatStart."""
    monkeypatch.setattr("tui.chat.start.short_path", lambda path: "~/notes" if path == tmp_path else f"~{path}")
    monkeypatch.setattr("textual.constants.COLOR_SYSTEM", "truecolor")  # whatever terminal the tests run in
    monkeypatch.setattr("tui.chat.controller.TICK_S", 3600)  # a slow machine shows no seconds
    group = request.path.stem.removeprefix("test_").removesuffix("_pictures")
    file = SHEETS / group / f"{request.node.name.removeprefix('test_')}.svg"
    is_update = request.config.getoption("update_snapshots")

    async def compared(
        act: Act | None = None, *, session: FakeSession | None = None, memory: Memory | None = None, **start: Any
    ) -> None:
        fake = session or FakeSession(lambda _: answer("In May.", recalled=RECALLED))
        fake.memory = memory or fake.memory

        async def opened() -> Any:
            return fake

        begin: dict[str, Any] = {"working_directory": tmp_path, "model": "offline", "new_workspace": False, **start}
        app = PalimpsestApp(ChatStart(workspace=Workspace(tmp_path), **begin), opened, theme=DARK)
        known = panels_of(file.read_text(encoding="utf-8")) if file.exists() and not is_update else []
        async with app.run_test(size=PANELS[0][0]) as pilot:
            await idle(app)
            if act:
                await act(app, pilot)
            panels = await taken(app, pilot, act, known)
        if is_update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(sheet(panels), encoding="utf-8")
        elif panels != known:
            new = tmp_path / file.name
            new.write_text(sheet(panels), encoding="utf-8")
            pytest.fail(f"{difference(known, panels)}\nWhole: {new}. `--snapshot-update` takes it.", pytrace=False)

    return compared


async def taken(app: PalimpsestApp, pilot: Pilot[None], act: Act | None, known: list[str]) -> list[str]:
    """The panels, each as soon as it is the known one, or else is still. A screen is opened anew in each theme."""
    panels: list[str] = []
    for number, (size, theme) in enumerate(PANELS):
        if app.size != size:
            await pilot.resize_terminal(*size)
        if app.theme != theme:
            is_screen = app.screen is not app.chat
            while app.screen is not app.chat:
                app.screen.dismiss(None)
                await pilot.pause()
            app.theme = theme
            if is_screen and act:
                await act(app, pilot)
        name = f"{size[0]}×{size[1]} {theme}"
        is_as_known = bool(known) and panels == known[:number]
        wanted = known[number] if number < len(known) else ""
        panels.append(await still(app, pilot, name, wanted, LOADING_S if is_as_known else STILL_S))
    return panels


async def still(app: PalimpsestApp, pilot: Pilot[None], name: str, known: str, patience: float) -> str:
    clock = asyncio.get_running_loop().time
    last, since = "", clock()
    while True:
        await pilot.pause()
        if (now := panel(app, name)) == known:
            return now
        if now != last:
            last, since = now, clock()
        elif clock() - since > patience:
            return now
        await asyncio.sleep(0.05)


def difference(known: list[str], panels: list[str]) -> str:
    """The first line of each panel that differs, as it was and as it is."""
    if not known:
        return "There is no picture of this yet."
    lines: list[str] = []
    for (size, theme), before, now in zip(PANELS, known, panels, strict=True):
        pairs = zip([*before.splitlines(), ""], [*now.splitlines(), ""], strict=False)
        if differing := next(((one, other) for one, other in pairs if one != other), None):
            lines += [f"{size[0]}×{size[1]} in {theme}:", f"- {differing[0]}", f"+ {differing[1]}"]
    return os.linesep.join(lines)


@pytest.fixture
def remembered(tmp_path: Path) -> Iterator[Memory]:
    """Notes about a boiler, with ids and times of their own."""
    yield from opened_memory(tmp_path / "memory", write_notes)


@pytest.fixture
def picked(tmp_path: Path) -> Iterator[Memory]:
    """Conversations of three days, in two languages; one of them with two branches and a label."""
    yield from opened_memory(tmp_path / "picked", write_conversations)


@pytest.fixture
def versioned(tmp_path: Path) -> Iterator[Memory]:
    """MEMORY.md and AGENTS.md with versions of two days, by hand and by a model."""
    yield from opened_memory(tmp_path / "versioned", write_versions, FakeClock(NOW))


def opened_memory(folder: Path, write: Callable[[Memory], None], clock: Clock | None = None) -> Iterator[Memory]:
    folder.mkdir()
    memory = Memory.open(Workspace(folder), clock or SystemClock())
    write(memory)
    yield memory
    memory.close()
