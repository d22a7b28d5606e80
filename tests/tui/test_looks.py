"""What the screens look like, as pictures. `pytest --snapshot-update` takes them anew; look at them before."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from foundation.paths import Workspace
from tests.tui.fakes import RECALLED, FakeSession, answer
from tui.app import PalimpsestApp
from tui.screens.start import Start
from tui.themes import LIGHT

MARKDOWN = """# The boiler, 锅炉

It is serviced in **May** 🙂, the `warranty` ends in 2027. 锅炉每年五月保养。

1. Call two weeks before
   - early

```python
def due(month: str) -> bool:
    return month == "May"  # 中文
```

| part | price |
|------|------:|
| 阀门 | 12.50 |

> Nothing leaves this machine.
"""

Look = Callable[..., Any]


@pytest.fixture
def look(snap_compare: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Look:
    monkeypatch.setattr("tui.screens.chat.short_path", lambda _path: "~/notes")

    def looked(
        act: Callable[[PalimpsestApp, Pilot[None]], Awaitable[None]] | None = None,
        *,
        events: list[Any] | None = None,
        size: tuple[int, int] = (80, 24),
        theme: str = "palimpsest",
        new: bool = True,
    ) -> bool:
        session = FakeSession(lambda _: events or answer(MARKDOWN, recalled=RECALLED))

        async def opened() -> Any:
            return session

        start = Start(workspace=Workspace(tmp_path), model="offline", here=tmp_path, new_workspace=new)
        app = PalimpsestApp(start, opened, theme=theme)

        async def before(pilot: Pilot[None]) -> None:
            await resting(app)
            if act:
                await act(app, pilot)
            await pilot.pause(0.1)

        return snap_compare(app, run_before=before, terminal_size=size)

    return looked


async def resting(app: PalimpsestApp) -> None:
    async with asyncio.timeout(5):
        while not app.chat.at_rest:
            await asyncio.sleep(0.01)


def saying(text: str) -> Callable[[PalimpsestApp, Pilot[None]], Awaitable[None]]:
    async def act(app: PalimpsestApp, _pilot: Pilot[None]) -> None:
        app.chat._talk.say(text)  # type: ignore[union-attr]
        await resting(app)

    return act


def test_a_first_run_is_a_welcome_and_no_wall(look: Look) -> None:
    assert look()


def test_an_answer_with_its_citations_on_a_small_screen(look: Look) -> None:
    assert look(saying("When is the boiler serviced? 锅炉什么时候保养？"), new=False)


def test_an_answer_on_a_large_screen_keeps_a_readable_width(look: Look) -> None:
    assert look(saying("When is the boiler serviced? 锅炉什么时候保养？"), size=(200, 50))


def test_the_light_theme(look: Look) -> None:
    assert look(saying("When?"), size=(100, 36), theme=LIGHT)


def test_commands_are_offered_above_the_prompt(look: Look) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await pilot.press("slash", "r", "e")
        async with asyncio.timeout(5):
            while not app.chat._suggestions.display:
                await asyncio.sleep(0.01)

    assert look(act)


def test_the_context_by_layer(look: Look) -> None:
    assert look(saying("/context"), size=(80, 30), new=False)


def test_an_error_is_one_panel(look: Look) -> None:
    from agent.events import TurnFailed

    failed = TurnFailed(
        "refused", "No answer", "127.0.0.1:8080 refused the connection.", "Start the server, or /model offline."
    )
    assert look(saying("hello"), events=[failed], new=False)


def test_messages_that_wait_stand_above_the_prompt(look: Look) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        for text in ("one", "two [red]", "three 三"):
            app.chat._talk.say(text)  # type: ignore[union-attr]
            await pilot.pause(0.1)

    assert look(act, events=[*answer("Some words")[:5], asyncio.Event()], new=False)


def test_more_below_is_hinted_at(look: Look) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await saying("first")(app, pilot)
        await pilot.press("pageup")
        await saying("second")(app, pilot)
        await pilot.press("pageup", "pageup")
        app.chat.transcript._tell_unseen(there=True)

    assert look(act)
