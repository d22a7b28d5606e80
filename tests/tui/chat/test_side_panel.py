"""The panel beside the conversation: what it shows, when it takes room, its keys and the mouse."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from msgspec import structs
from textual.geometry import Offset

from agent.checkpoints.change import CheckpointKind, FileChange
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.history import CheckpointHistory
from agent.checkpoints.restore import restore
from agent.commands.results import SessionSwitched, TextResult
from agent.config.settings import ScreenSettings
from agent.events import CheckpointMade, ContextReady, PlanUpdated, SessionEvent, TextDelta, UsageKnown
from agent.services.panel_figures import touched_files
from context.checklist import Checklist, PlanStep, StepState
from foundation.clock import SystemClock
from memory.records import SpendingSum
from tests.tui.fakes import RECALLED, REPORT, FakeSession, answer
from tui.chat.panel_content import PanelContent, after_event, panel_rows
from tui.overview.bars import TICK
from tui.passages.screen import PassageScreen
from tui.passages.text_screen import TextScreen
from tui.widgets.side_panel import KEYS, SidePanel, clip_start

WIDE = (200, 50)
PLAN = Checklist(
    (
        PlanStep("Read the boiler's log 锅炉日志", StepState.DONE),
        PlanStep("Write the dates down 🗓", StepState("doing")),
        PlanStep("Call Hansen", StepState.PENDING),
    )
)
Open = Callable[..., AbstractAsyncContextManager[Any]]


@pytest.fixture
def checkpoints(tmp_path: Path) -> Iterator[Checkpoints]:
    """Two edits of one file and a new one, in the conversation of the fake session."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "日志.md").write_text("one\ntwo\n")
    kept = Checkpoints(tmp_path / "checkpoints", SystemClock(), (folder,))
    kept.begin_turn("c_1", "e_1")
    kept.apply([change(folder, "日志.md", b"one\ntwo\n", b"one\n2\n")], "e_5")
    kept.apply([change(folder, "日志.md", b"one\n2\n", b"one\n2\n3\n")], "e_6")
    kept.apply([change(folder, "new.py", None, b"print()\n")], "e_7")
    yield kept
    kept.close()


def change(folder: Path, path: str, expected: bytes | None, new: bytes) -> FileChange:
    return FileChange(folder=folder, path=path, expected=expected, new=new)


def turn() -> list[SessionEvent]:
    told = answer("Hansen comes in May.", recalled=RECALLED)
    return [*told[:2], PlanUpdated(PLAN), *told[2:]]


def wide_session(
    checkpoints: Checkpoints | None = None, *, panel: str = "auto", events: Sequence[Any] | None = None
) -> FakeSession:
    session = FakeSession(lambda _: events or turn())
    session.config.screen = ScreenSettings(panel=panel)  # type: ignore[arg-type]  # one of the three
    session.checkpoints = checkpoints or session.checkpoints
    return session


def panel_of(chat: Any) -> SidePanel:
    return chat.screen.query_one(SidePanel)


def shown(chat: Any) -> str:
    """The text of the panel; "" where it takes no room."""
    panels = chat.screen.query(SidePanel)
    if not panels or not panels.first().display:
        return ""
    left = panels.first().region.x
    return "\n".join(line[left:].rstrip() for line in chat.seen)


def rows_of(chat: Any) -> list[str]:
    """The rows of the panel without its frame."""
    return [line.strip(" │") for line in shown(chat).split("\n")]


def test_the_bars_of_the_layers_have_the_scale_of_the_request() -> None:
    report = structs.replace(REPORT, compacts_at=5_120)
    bars = [row.text.rpartition(" ")[2].count("█") for row in panel_rows(PanelContent(report=report), frozenset())]
    assert max(bars[:5]) <= 2, "1,650 of 10,240 tokens are a sixth"


def test_the_panel_has_a_tick_where_older_turns_leave() -> None:
    report = structs.replace(REPORT, compacts_at=5_120)
    (row,) = (row for row in panel_rows(PanelContent(report=report), frozenset()) if "compacts" in row.text)
    assert row.figure == "50.0 %"
    assert row.text.rstrip() == "compacts at  █████ │" and row.action == "context"


async def ask(chat: Any) -> None:
    chat.screen.queue.add("When is the boiler serviced?")
    await chat.until(lambda: "Hansen comes" in chat.text and chat.screen.is_idle)
    await chat.until(lambda: not any(worker.group == "panel" and worker.is_running for worker in chat.app.workers))


async def test_bars_begin_in_one_column_and_the_tick_is_at_its_share(open_chat: Open) -> None:
    report = structs.replace(REPORT, compacts_at=7_680)  # three quarters of 10,240
    told = answer("Hansen comes.")
    events = [structs.replace(event, report=report) if isinstance(event, ContextReady) else event for event in told]
    session = wide_session(events=events)
    session.context_report = AsyncMock(return_value=report)
    async with open_chat(session=session, size=WIDE) as chat:
        await ask(chat)
        await chat.until(lambda: "compacts at" in shown(chat))
        lines = shown(chat).split("\n")
        layers = [
            line for line in lines if line.strip(" │").startswith(("system", "project", "conversation", "message"))
        ]
        starts = [min(line.index(cell) for cell in "▏▎▍▌▋▊▉█" if cell in line) for line in layers]
        assert len(layers) == 4, lines
        assert len(set(starts)) == 1, layers
        (tick,) = (line.rindex(TICK) for line in lines if "compacts at" in line)
        assert tick - starts[0] == 9, "three quarters of twelve cells"


# The content


def test_an_event_that_says_nothing_about_it_leaves_the_very_content() -> None:
    content = PanelContent(report=REPORT)
    assert after_event(content, TextDelta("word")) is content


def test_a_new_message_forgets_what_the_last_one_recalled_and_cost() -> None:
    content = PanelContent()
    for event in answer("Yes.", recalled=RECALLED):
        content = after_event(content, event)
    assert (len(content.recalled), content.turn_tokens) == (2, 4_301)
    content = after_event(content, answer("No.")[0])
    assert (content.recalled, content.turn_tokens, content.report) == ((), 0, REPORT)


def test_the_context_is_by_layer_with_the_share_of_the_room_for_requests() -> None:
    rows = {row.text[:12].strip(): row.figure for row in panel_rows(PanelContent(report=REPORT), frozenset())}
    assert rows["project"] == "1.6k  16.0 %"
    assert rows["request"] == "4.3k of 10.2k · 42.0 %"
    assert rows["prefix reuse"] == "100.0 %"


def test_files_are_counted_from_their_first_version_to_the_last(checkpoints: Checkpoints) -> None:
    files = touched_files(checkpoints, "c_1")
    assert [(file.path, file.added, file.removed) for file in files] == [("new.py", 1, 0), ("日志.md", 2, 1)]
    assert touched_files(checkpoints, "c_other") == ()


def test_a_version_that_is_known_is_not_read_again(checkpoints: Checkpoints) -> None:
    known = tuple(structs.replace(file, added=77) for file in touched_files(checkpoints, "c_1"))
    assert [file.added for file in touched_files(checkpoints, "c_1", known)] == [77, 77]


def test_a_file_that_was_put_back_is_not_listed(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "a").write_bytes(b"1")
    kept = Checkpoints(tmp_path / "c", SystemClock(), (folder,))
    kept.begin_turn("c_1", "e_1")
    kept.apply([change(folder, "a", b"1", b"2")], "e_2")
    kept.apply([change(folder, "a", b"2", b"1")], "e_3")
    assert touched_files(kept, "c_1") == ()
    kept.close()


def test_a_path_is_cut_at_its_start_by_cells() -> None:
    assert clip_start("docs/很长的名字.md", 10) == "…的名字.md"


# Where it stands


async def test_it_is_shown_on_a_wide_screen_once_there_is_something(open_chat: Open, checkpoints: Checkpoints) -> None:
    async with open_chat(session=wide_session(checkpoints), size=WIDE) as chat:
        assert shown(chat) == ""
        await ask(chat)
        text = shown(chat)
        for part in ("▾ Plan", "1 of 3", "▾ Files touched", "日志.md", "+2 −1", "▾ Context", "▾ Recalled", "exact"):
            assert part in text
        assert not any("F4 hides it" in line for line in chat.seen), "the plan is in one place"


@pytest.mark.parametrize(
    ("columns", "panel", "is_shown"),
    [(139, "auto", False), (140, "auto", True), (139, "on", True), (99, "on", False), (200, "off", False)],
)
async def test_it_takes_room_by_the_width_and_the_setting(
    open_chat: Open, columns: int, panel: str, is_shown: bool
) -> None:
    async with open_chat(session=wide_session(panel=panel), size=(columns, 30)) as chat:
        await ask(chat)
        assert bool(shown(chat)) is is_shown
        assert chat.screen.transcript.size.width == columns - (44 if is_shown else 0)
        assert any("F4 hides it" in line for line in chat.seen) is not is_shown, "the plan is above the prompt"


async def test_it_leaves_when_the_terminal_becomes_narrow_and_comes_back(open_chat: Open) -> None:
    async with open_chat(session=wide_session(), size=WIDE) as chat:
        await ask(chat)
        await chat.pilot.resize_terminal(80, 24)
        await chat.pilot.pause()
        assert shown(chat) == ""
        assert any("F4 hides it" in line for line in chat.seen)
        await chat.pilot.resize_terminal(200, 50)
        await chat.pilot.pause()
        assert "▾ Recalled" in shown(chat)


async def test_a_key_closes_and_opens_it_and_the_settings_remember(
    open_chat: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[str] = []

    def change_setting(*given: Any, user: bool) -> Any:
        kept.append(given[-1])
        return SimpleNamespace(written=given[-1], origin="")

    monkeypatch.setattr("tui.chat.side_panel.change_setting", change_setting)
    session = wide_session()
    session.config.environment = {}
    async with open_chat(session=session, size=WIDE) as chat:
        await ask(chat)
        await chat.press("f7")
        await chat.until(lambda: shown(chat) == "" and kept == ["off"])
        await chat.press("f7")
        await chat.until(lambda: "▾ Plan" in shown(chat) and kept == ["off", "auto"])


# Keys and the mouse


async def test_keys_go_into_it_fold_a_part_and_go_back(open_chat: Open) -> None:
    async with open_chat(session=wide_session(), size=WIDE) as chat:
        await ask(chat)
        await chat.press("f6")
        assert panel_of(chat).has_focus
        await chat.press("enter")
        assert "▸ Plan" in shown(chat)
        assert "Call Hansen" not in shown(chat)
        await chat.press("escape")
        assert chat.screen.prompt.has_focus
        await chat.press("f4")
        assert "Call Hansen" in shown(chat), "F4 is the plan's key here too"


async def test_enter_opens_the_diff_of_a_file(open_chat: Open, checkpoints: Checkpoints) -> None:
    async with open_chat(session=wide_session(checkpoints), size=WIDE) as chat:
        await ask(chat)
        await chat.press("f6", "down", "down", "down", "enter")
        await chat.until(lambda: isinstance(chat.app.screen, TextScreen) and any("+3" in line for line in chat.seen))
        assert any("-two" in line for line in chat.seen)


async def test_a_click_opens_the_passage_at_the_hit(open_chat: Open) -> None:
    async with open_chat(session=wide_session(), size=WIDE) as chat:
        await ask(chat)
        panel = panel_of(chat)
        row = next(y for y, line in enumerate(shown(chat).split("\n")) if "House" in line)
        await chat.pilot.click(SidePanel, offset=Offset(5, row - panel.region.y))
        await chat.until(lambda: isinstance(chat.app.screen, PassageScreen))


async def test_what_a_tool_changes_is_listed_while_the_turn_goes_on(open_chat: Open, checkpoints: Checkpoints) -> None:
    gate = asyncio.Event()
    made = CheckpointMade(checkpoints.history("c_1").records[0])
    told = answer("Done.")
    session = wide_session(checkpoints, events=[*told[:3], made, gate, *told[3:]])
    async with open_chat(session=session, size=WIDE) as chat:
        chat.screen.queue.add("write")
        await chat.until(lambda: "日志.md" in shown(chat))
        gate.set()
        await chat.until(lambda: chat.screen.is_idle)


async def test_a_command_that_takes_changes_back_updates_the_files(
    open_chat: Open, checkpoints: Checkpoints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def undo(*_: Any) -> TextResult:
        records = checkpoints.history("c_1").last_turn()
        restore(checkpoints, records, CheckpointKind.UNDO, (tmp_path / "project",))
        return TextResult("Editing cancelled.")

    async with open_chat(session=wide_session(checkpoints), size=WIDE) as chat:
        await ask(chat)
        assert "日志.md" in shown(chat)
        monkeypatch.setattr("tui.chat.command_view.registry.run", undo)
        chat.screen.queue.add("/undo")
        await chat.until(lambda: "Editing cancelled" in chat.text and "Files touched" not in shown(chat))


async def test_a_turn_that_left_the_conversation_leaves_the_panel(
    open_chat: Open, checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def drop(*_: Any) -> SessionSwitched:
        return SessionSwitched("The turn is out.", branch=True)

    async with open_chat(session=wide_session(checkpoints), size=WIDE) as chat:
        await ask(chat)
        assert "4.3k" in shown(chat)
        monkeypatch.setattr("tui.chat.command_view.registry.run", drop)
        report = structs.replace(REPORT, total_tokens=2_050)
        monkeypatch.setattr(chat.session, "context_report", AsyncMock(return_value=report))
        chat.screen.queue.add("/tree drop e_1")
        await chat.until(lambda: "The turn is out" in chat.text and chat.screen.is_idle)
        await chat.until(lambda: "2.0k of 10.2k · 20.0 %" in shown(chat))
        text = shown(chat)
        assert "▾ Files touched" in text, "removed from the conversation"
        for part in ("Plan", "Recalled", "this turn"):
            assert part not in text


async def test_below_a_turn_that_changed_files_is_a_line_that_sums_them_up(
    open_chat: Open, checkpoints: Checkpoints
) -> None:
    records = CheckpointHistory.read(checkpoints.journal.content(), "c_1").edits()
    told = answer("Done. 好")
    events = [*told[:3], *map(CheckpointMade, records), *told[3:]]
    session = FakeSession(lambda text: events if text == "Change it." else told)
    session.checkpoints = checkpoints
    async with open_chat(session=session, size=WIDE) as chat:
        await chat.say("Change it.")
        await chat.quiet()
        assert chat.lines[-1].strip() == "2 files changed +3 −1 · /undo"
        await chat.say("Thanks.")
        await chat.quiet()
        assert chat.text.count("files changed") == 1, "the second turn changed none"


async def test_the_last_line_shows_the_keys_while_the_panel_has_them(open_chat: Open) -> None:
    async with open_chat(session=wide_session(), size=WIDE) as chat:
        await ask(chat)
        assert KEYS not in shown(chat)
        await chat.press("f6")
        await chat.until(lambda: rows_of(chat)[-1] == KEYS)
        await chat.press("escape")
        await chat.until(lambda: KEYS not in shown(chat))


async def test_what_today_cost_includes_the_turn_that_runs(open_chat: Open) -> None:
    gate = asyncio.Event()
    told = answer("Done.")
    after_usage = next(number for number, event in enumerate(told) if isinstance(event, UsageKnown)) + 1
    session = wide_session(events=[*told[:after_usage], gate, *told[after_usage:]])
    row = SpendingSum(model="openai:qwen3", prompt_tokens=4_000, completion_tokens=301, cached_tokens=0)

    def spent_since(_since: object) -> list[SpendingSum]:
        return [row]

    session.memory.spent_since = spent_since
    async with open_chat(session=session, size=WIDE) as chat:
        chat.screen.queue.add("write")
        await chat.until(lambda: any(line.startswith("today") and "4.3k" in line for line in rows_of(chat)))
        assert not chat.screen.is_idle
        gate.set()
        await chat.until(lambda: chat.screen.is_idle)


async def test_the_words_of_an_answer_do_not_draw_the_panel(open_chat: Open) -> None:
    drawn: list[int] = []
    async with open_chat(session=wide_session(), size=WIDE) as chat:
        await ask(chat)
        panel = panel_of(chat)
        panel.refresh = lambda *args, **given: drawn.append(1) or panel  # type: ignore[method-assign]  # it counts
        for _ in range(50):
            chat.screen.side_panel.take(TextDelta("word "))
        assert drawn == []


async def test_what_no_panel_shows_is_not_read_until_there_is_room(open_chat: Open, checkpoints: Checkpoints) -> None:
    session = wide_session(checkpoints)
    reads: list[object] = []

    def spent_since(since: object) -> list[SpendingSum]:
        reads.append(since)
        return []

    session.memory.spent_since = spent_since
    async with open_chat(session=session, size=(80, 24)) as chat:
        await ask(chat)
        assert reads == []
        await chat.pilot.resize_terminal(200, 50)
        await chat.until(lambda: "日志.md" in shown(chat))
        assert len(reads) == 1
