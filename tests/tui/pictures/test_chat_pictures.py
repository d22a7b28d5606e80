"""The conversation: messages, answers, blocks, and what stands around the prompt."""

import asyncio
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from msgspec import structs
from textual.pilot import Pilot
from textual.widgets import Static

from agent.events import TurnFailed
from agent.services.drafts import Drafts
from agent.services.panel_figures import PanelFigures, SpentToday, TouchedFile
from foundation.paths import Workspace
from tests.tui.chat.test_side_panel import wide_session
from tests.tui.fakes import RECALLED, REPORT, FakeSession, answer
from tests.tui.pictures.acts import at_end, idle, saying
from tests.tui.pictures.conftest import Picture
from tui.app import PalimpsestApp
from tui.widgets.prompt.chips import PastedImage
from tui.widgets.query_input import QueryInput
from tui.widgets.transcript.view import Transcript

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
PAGE = Path(__file__).parents[1] / "data" / "page.png"
QUESTION = "When is the boiler serviced? 锅炉什么时候保养？ 🙂"


def session_of(*events: Any) -> FakeSession:
    return FakeSession(lambda _: events)


def markdown_session() -> FakeSession:
    return session_of(*answer(MARKDOWN, recalled=RECALLED))


async def test_a_first_run_is_a_welcome_and_no_wall(picture: Picture) -> None:
    await picture(new_workspace=True, project=(Path("/code/陶器 🏺"),))


async def test_a_welcome_to_a_known_workspace(picture: Picture) -> None:
    await picture()


async def test_an_answer_with_its_citations(picture: Picture) -> None:
    await picture(saying(QUESTION), session=markdown_session())


async def test_an_answer_that_is_empty(picture: Picture) -> None:
    await picture(saying("Hello?"), session=session_of(*answer("")))


async def test_an_error_is_one_panel(picture: Picture) -> None:
    failed = TurnFailed(
        "refused", "No answer", "127.0.0.1:8080 refused the connection.", "Start the server, or /model offline."
    )
    await picture(saying("hello"), session=session_of(failed))


async def test_an_attached_picture_stands_under_its_message(picture: Picture, tmp_path: Path) -> None:
    (tmp_path / "page.png").write_bytes(PAGE.read_bytes())
    session = session_of(*answer("It is about a boiler."))
    await picture(saying("What does @page.png say? 上面写着什么？"), session=session)


async def test_more_below_is_hinted_at(picture: Picture) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        for text in ("first", "second", "third", "fourth", "fifth"):
            app.chat.queue.add(text)
            await idle(app)
        await at_end(app, pilot)
        await pilot.press("pageup", "pageup")
        async with asyncio.timeout(20):
            while app.chat.transcript.is_following:
                await pilot.pause(0.02)
        await pilot.pause()  # its own word on what is below comes first
        app.chat.transcript.post_message(Transcript.NewBelowChanged(has_new=True))

    await picture(act, session=markdown_session())


async def test_the_find_bar_with_its_matches(picture: Picture) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await saying(QUESTION)(app, pilot)
        await at_end(app, pilot)
        await pilot.press("ctrl+f")
        app.screen.query_one("#find-query", QueryInput).value = "锅炉"
        async with asyncio.timeout(20):
            while " of " not in str(app.screen.query_one("#find-count", Static).content):
                await pilot.pause(0.02)
        await pilot.press("down")

    await picture(act, session=markdown_session())


async def test_older_turns_leave_first(picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    report = structs.replace(REPORT, before_compaction=REPORT.total_tokens + 5_400)
    monkeypatch.setattr(FakeSession, "context_report", AsyncMock(return_value=report))
    await picture(saying(QUESTION), session=session_of(*answer("五月 🙂")))


# The prompt


async def test_commands_are_offered_above_the_prompt(picture: Picture) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await pilot.press("slash", "r", "e")
        async with asyncio.timeout(20):
            while not app.chat.suggestions.display:
                await asyncio.sleep(0.01)

    await picture(act)


async def test_vim_keys_show_their_mode_and_chips_their_key(picture: Picture) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        prompt = app.chat.prompt
        prompt.use_vim_keys(True)
        prompt.insert_text("compare 锅炉 🙂")
        prompt.insert_images([PastedImage("/home/ann/照片.png", 1200, 800)])
        prompt.insert_folded("a line\n" * 40)
        await pilot.press("escape", "2", "d")

    await picture(act)


async def test_messages_that_wait_and_one_that_steers_stand_above_the_prompt(picture: Picture) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        for text in ("one", "two [red]", "three 三 👩‍💻"):
            app.chat.queue.add(text, steers="三" in text)
            await pilot.pause(0.1)

    await picture(act, session=session_of(*answer("Some words")[:5], asyncio.Event()))


async def test_a_draft_that_was_restored(picture: Picture, tmp_path: Path) -> None:
    Drafts(Workspace(tmp_path).drafts).save("new", "half a thought 半 👩‍💻")
    await picture()


# The panel beside the conversation, where it has room


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> None:
    touched = (
        TouchedFile("src/heating/boiler_schedule.py", "a", "b", 41, 7),
        TouchedFile("docs/家/锅炉保养记录和保修单 🔧/很长的名字-2027.md", "", "b", 1_204, 0),
    )
    figures = PanelFigures(touched, SpentToday(182_300, "1.20 USD"))
    monkeypatch.setattr("tui.chat.side_panel.panel_figures", lambda *_: figures)


@pytest.mark.usefixtures("figures")
async def test_the_panel_after_a_turn(picture: Picture) -> None:
    await picture(saying(QUESTION), session=wide_session())


@pytest.mark.usefixtures("figures")
async def test_the_panel_with_the_keys_and_a_folded_part(picture: Picture) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await pilot.resize_terminal(200, 50)
        await saying(QUESTION, "f6", "down", "down", "down", "down", "enter", "up")(app, pilot)

    await picture(act, session=wide_session())
