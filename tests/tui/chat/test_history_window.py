"""A conversation of any length: its window follows the scrolling, both ends are exact, and few entries are loaded."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from agent.cli.launch import LaunchOptions
from agent.config.config import Config
from agent.config.workspaces import prepare_workspace
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import Cleared
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.own_instructions import decline_own_instructions
from tests.tui.displayed import displayed_lines
from tui.app import PalimpsestApp
from tui.chat import history_window
from tui.chat.history_window import MAX_SHOWN, HistoryWindow
from tui.launch import create_app
from tui.widgets.transcript.items import AnswerBlock, TranscriptItem, UserItem
from tui.widgets.transcript.view import Transcript

ENTRIES = 360

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def stored(tmp_path: Path) -> Workspace:
    """A workspace with a conversation of ENTRIES entries."""
    workspace = Workspace(tmp_path / "notes")
    environment = {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "config"), "PALIMPSEST_DETECT": "off"}
    prepare_workspace(workspace, environment)
    memory = Memory.open(workspace, SystemClock(), read_only=False)
    conversation = memory.conversations.new(Cleared("The long one"))
    memory.conversations.append_many(
        EntryDraft(
            conversation=conversation.seq,
            parent=None,
            parent_id=f"i{number - 1}" if number else "",
            id=f"i{number}",
            kind=EntryKind.MESSAGE,
            role=Role.ASSISTANT if number % 2 else Role.USER,
            text=Cleared(f"entry number {number}."),
        )
        for number in range(ENTRIES)
    )
    memory.close()
    return workspace


class OpenChat:
    """The real chat on that workspace."""

    def __init__(self, app: PalimpsestApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot
        self.transcript: Transcript = app.chat.transcript

    @property
    def seen(self) -> str:
        return "\n".join(displayed_lines(self.app))

    @property
    def window(self) -> HistoryWindow:
        assert self.app.chat.controller is not None
        return self.app.chat.controller.history

    @property
    def numbers(self) -> list[int]:
        """The entries in the transcript, from top to bottom."""
        texts = [_text(item) for item in self.transcript.line_cache.items]
        return [int(text.partition("entry number ")[2].split(".")[0]) for text in texts if "entry number " in text]

    async def until(self, holds: Callable[[], Any]) -> None:
        for _ in range(1500):
            if holds():
                return
            await self.pilot.pause(0.01)
        raise AssertionError(f"it never came to that:\n{self.seen}")


def _text(item: TranscriptItem) -> str:
    match item:
        case UserItem(text=text):
            return text
        case AnswerBlock(block=block):
            return block.source
        case _:
            return ""


@asynccontextmanager
async def opened(workspace: Workspace, tmp_path: Path) -> AsyncIterator[OpenChat]:
    environment = {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "config"), "PALIMPSEST_DETECT": "off"}
    decline_own_instructions(tmp_path / "config")
    app = create_app(LaunchOptions(workspace=workspace, config=Config(environment=environment), latest=True))
    async with app.run_test(size=(80, 24)) as pilot:
        chat = OpenChat(app, pilot)
        await chat.until(lambda: app.chat.is_idle and f"entry number {ENTRIES - 1}." in chat.seen)
        yield chat


async def test_a_conversation_opens_at_its_newest_entries_and_earlier_ones_load_above_what_is_read(
    stored: Workspace, tmp_path: Path
) -> None:
    async with opened(stored, tmp_path) as chat:
        await chat.until(lambda: chat.numbers == list(range(ENTRIES - 20, ENTRIES)))
        assert chat.transcript.is_following
        chat.transcript.scroll_to(y=0, animate=False)
        await chat.until(lambda: chat.numbers[0] == ENTRIES - 40)
        assert chat.numbers == list(range(ENTRIES - 40, ENTRIES))
        assert f"entry number {ENTRIES - 20}." in "".join(chat.transcript.render_line(row).text for row in (0, 1))
        assert not chat.transcript.is_following


async def test_scrolling_up_to_the_first_entry_keeps_few_loaded_and_loses_none(
    stored: Workspace, tmp_path: Path
) -> None:
    async with opened(stored, tmp_path) as chat:
        most = 0
        while "entry number 0." not in chat.seen:
            before = chat.numbers
            assert before == list(range(before[0], before[-1] + 1))  # none is missing, none there twice
            most = max(most, len(before))
            await chat.pilot.press("pageup")
            await chat.pilot.pause(0.02)
        assert most <= MAX_SHOWN + 20
        assert chat.window.has_more_below
        while chat.window.has_more_below:
            await chat.pilot.press("pagedown")
            await chat.pilot.pause(0.02)
        numbers = chat.numbers
        assert numbers == list(range(numbers[0], ENTRIES))
        assert len(numbers) <= MAX_SHOWN + 20


async def test_home_is_the_first_entry_and_end_the_last_one(stored: Workspace, tmp_path: Path) -> None:
    async with opened(stored, tmp_path) as chat:
        await chat.pilot.press("ctrl+home")
        await chat.until(lambda: "entry number 0." in chat.seen)
        assert chat.transcript.scroll_y == 0
        assert chat.numbers == list(range(40))
        await chat.pilot.press("ctrl+end")
        await chat.until(lambda: f"entry number {ENTRIES - 1}." in chat.seen)
        await chat.until(lambda: chat.transcript.scroll_y == chat.transcript.max_scroll_y)
        assert not chat.window.has_more_below


async def test_a_message_from_far_above_is_answered_below_the_newest_entry(stored: Workspace, tmp_path: Path) -> None:
    async with opened(stored, tmp_path) as chat:
        await chat.pilot.press("ctrl+home")
        await chat.until(lambda: "entry number 0." in chat.seen)
        await chat.pilot.press(*"hello", "enter")
        await chat.until(lambda: "❯ hello" in chat.seen and chat.app.chat.is_idle)
        numbers = [number for number in chat.numbers if number >= ENTRIES - 20]
        assert numbers[:20] == list(range(ENTRIES - 20, ENTRIES))


async def test_while_a_turn_runs_its_end_stays_loaded(stored: Workspace, tmp_path: Path) -> None:
    async with opened(stored, tmp_path) as chat:
        chat.window.is_busy = lambda: True  # a turn that does not end
        for _ in range(MAX_SHOWN // 20 + 2):
            chat.transcript.scroll_to(y=1, animate=False)
            await chat.pilot.pause(0.05)
            await chat.pilot.press("pageup")
            await chat.pilot.pause(0.1)
        assert len(chat.numbers) > MAX_SHOWN
        assert chat.numbers[-1] == ENTRIES - 1
        assert not chat.window.has_more_below


async def test_a_long_session_drops_what_is_far_above_and_loads_it_again(
    stored: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_window, "MAX_ITEMS", 30)
    async with opened(stored, tmp_path) as chat:
        while len(chat.numbers) < 60:
            await chat.pilot.press("pageup")
            await chat.pilot.pause(0.02)
        most = len(chat.numbers)
        await chat.window.trim()
        assert len(chat.numbers) == most  # not under the eyes of someone who reads
        await chat.pilot.press("ctrl+end")
        await chat.window.trim()
        assert len(chat.numbers) <= 15
        assert f"entry number {ENTRIES - 1}." in chat.seen
        while len(chat.numbers) < 60:
            await chat.pilot.press("pageup")
            await chat.pilot.pause(0.02)
        assert chat.numbers == list(range(chat.numbers[0], ENTRIES))
