"""Every widget, screen and piece of the chat shows foreign text through the sanitiser; a new one needs a case here."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.segment import Segment
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets._toast import Toast

import tui
from context.checklist import Checklist, PlanStep, StepState
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.hostile.filled_pieces import LOOK, PIECES, answered
from tests.hostile.filled_screens import SCREENS, action
from tests.hostile.payloads import FORBIDDEN, escapes, sample
from tests.tui.conftest import Open, open_chat  # noqa: F401 - a fixture
from tests.tui.fakes import FakeSession, answer
from tui.dialogs.permission import PermissionScreen
from tui.search.screen import SearchScreen
from tui.widgets.plan_panel import PlanPanel
from tui.widgets.prompt.suggestions import Suggestion, Suggestions
from tui.widgets.query_input import QueryInput
from tui.widgets.side_panel import PanelRow, SidePanel
from tui.widgets.title_line import TitleLine
from tui.widgets.transcript.items import MutedLine, UserItem

pytestmark = pytest.mark.timeout(60)
FEW = 3
MANY = 24  # in the soak
CONTROL_OF_PICTURES = "a picture's cells and a terminal's own picture protocols: bytes of ours, from pixels"


def shown(segments: list[Segment]) -> str:
    """The words, and the addresses that a terminal would open."""
    return "".join(f"{each.text}{(each.style and each.style.link) or ''}" for each in segments)


def breaks_out(text: str) -> list[str]:
    return FORBIDDEN.findall(text)


def test_no_piece_of_the_transcript_shows_what_a_terminal_obeys() -> None:
    assert _pieces_shown(sample(60)) > 60 * len(PIECES)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_no_piece_shows_any_payload() -> None:
    assert _pieces_shown(list(escapes())) > 500 * len(PIECES)


def _pieces_shown(payloads: list[str]) -> int:
    lines = 0
    for text in payloads:
        for kind, made in PIECES.items():
            for width in (20, 80):
                for line in (line for piece in made(text) for line in piece.lines(width, LOOK)):
                    assert breaks_out(shown(line)) == [], (kind, text)
                    assert "\n" not in shown(line)
                    lines += 1
    return lines


# ── widgets and screens ──


def remembered(memory: Memory, texts: list[str]) -> None:
    """Conversations and notes of these texts, as an import or another program's file may bring them."""
    for text in texts:
        storable = text.encode("utf-8", "replace").decode()
        conversation = memory.cold.new_conversation(clear(f"zebra {storable}"))
        memory.cold.append(
            EntryDraft(
                conversation=conversation.seq,
                parent=None,
                kind=EntryKind.MESSAGE,
                role=Role.USER,
                speaker=clear(storable),
                text=clear(f"zebra {storable}"),
            )
        )
        memory.hot.remember(clear(f"zebra note {storable}"), heading=None, conversation=None)


IN_CHAT = {
    *("ChatScreen", "Prompt", "Suggestions", "StatusBar", "NewBelowHint", "Transcript", "QueryInput", "PlanPanel"),
    *("FocusBar", "FindBar", "ChatFind", "TitleLine", "ChatFoot", "SidePanel", "UnitTextArea", "TranscriptScreen"),
}
"""What stands on the chat's screen, all of it in `test_the_chat_shows_nothing_that_a_terminal_obeys`."""
WITHOUT_TEXT = {"BlockPicture": CONTROL_OF_PICTURES}


def classes() -> Iterator[type]:
    """Every class of tui that shows something: widgets, screens, pieces."""
    for found in pkgutil.walk_packages(tui.__path__, "tui."):
        module = importlib.import_module(found.name)
        for each in vars(module).values():
            ours = inspect.isclass(each) and each.__module__ == found.name
            if ours and (issubclass(each, Widget) or callable(getattr(each, "lines", None))):
                yield each


def test_every_class_that_shows_something_has_a_case() -> None:
    known = (
        {each.__name__ for each in (*PIECES, *SCREENS)}
        | IN_CHAT
        | WITHOUT_TEXT.keys()
        | {
            "TranscriptItem",
            "AnswerRows",
            "LongLineArea",
            "ChipTextArea",
            "NoteArea",
            "ScrollingDialog",
            "Sheet",
            "ThemedScreen",
            "QuestionDialog",
            "_ProjectScreen",
            "SheetDialog",
            "TextRows",
            "AnswersDialog",
            "LinesView",
            "ListScreen",
            "PickerBrowser",
            "PreviewPane",
            "RowList",
        }
    )
    assert {each.__name__ for each in classes()} - known == set()


@pytest.fixture
def memory(workspace: Workspace) -> Iterator[Memory]:
    opened = Memory.open(workspace, SystemClock())
    remembered(opened, sample(FEW))
    yield opened
    opened.close()


def on_screen(chat: Any) -> str:
    """All that the screen holds, toasts and scrolled-away lines of its widgets included."""
    strips = chat.app.screen._compositor.render_strips(Size(chat.app.size.width, chat.app.size.height))
    return "\n".join(shown(list(strip)) for strip in strips)


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=[pytest.mark.soak, pytest.mark.timeout(600)])])
@pytest.mark.parametrize("screen", SCREENS, ids=lambda kind: kind.__name__)
async def test_no_screen_shows_what_a_terminal_obeys(
    open_chat: Open,  # noqa: F811
    memory: Memory,
    screen: Any,
    count: int,
) -> None:
    session = FakeSession(lambda text: answer(text))
    session.memory = memory
    async with open_chat(session=session, size=(120, 40)) as chat:
        for text in sample(count, seed=4):
            chat.app.push_screen(SCREENS[screen](memory, text))
            await chat.until(lambda: isinstance(chat.app.screen, screen))
            for _ in range(5):
                await chat.pilot.pause(0.02)
                assert breaks_out(on_screen(chat)) == [], text
            if screen is SearchScreen:
                await chat.press("ctrl+s", "down", "down")
                assert breaks_out(on_screen(chat)) == [], text
            chat.app.pop_screen()
            await chat.pilot.pause()


async def toasted(chat: Any, text: str) -> None:
    """A toast of the text, on a screen that has toasts."""
    chat.app.push_screen(PermissionScreen(action("x"), "y"))
    await chat.until(lambda: isinstance(chat.app.screen, PermissionScreen))
    chat.app.notify(text, title=text, markup=True)
    await chat.until(lambda: chat.app.screen.query(Toast))
    await chat.pilot.pause(0.1)


async def test_no_toast_shows_what_a_terminal_obeys(open_chat: Open) -> None:  # noqa: F811
    texts = sample(5, seed=7)
    async with open_chat(size=(100, 40), notifications=True) as chat:
        for text in texts:
            await toasted(chat, f"zebra [red]{text}")
            assert breaks_out(on_screen(chat)) == [], text
            assert "zebra [red]" in on_screen(chat)
            chat.app.pop_screen()
            chat.app.clear_notifications()


async def test_the_chat_shows_nothing_that_a_terminal_obeys(open_chat: Open, tmp_path: Path) -> None:  # noqa: F811
    async with open_chat(size=(100, 30), session=FakeSession(lambda text: answer(f"I say {text} &#x202E; x"))) as chat:
        for text in sample(FEW, seed=5):
            chat.screen.status.update_info(model=text, doing=text, working=text, hint="")
            chat.screen.query_one(TitleLine).show(text)
            chat.screen.prompt.set_text(text)
            chat.screen.prompt.insert_text(text)
            chat.screen.query_one(Suggestions).offer([Suggestion(text, text, text, text)])
            chat.screen.query_one(PlanPanel).show(Checklist((PlanStep(text, StepState.DOING),)))
            chat.screen.transcript.add(*answered(text), MutedLine(text), UserItem(text, note=text))
            await chat.pilot.pause(0.02)
            assert breaks_out(on_screen(chat)) == [], text
            chat.screen.query_one(Suggestions).offer(())
            field = QueryInput(text)
            await chat.screen.mount(field)
            assert breaks_out(field.value + on_screen(chat)) == [], text
            await field.remove()
            panel = SidePanel(lambda _: None, lambda: None)
            await chat.screen.mount(panel)
            panel.show_rows((PanelRow(text, text), PanelRow(text, text, cut="start"), PanelRow(text, wraps=True)))
            await chat.pilot.pause(0.02)
            assert breaks_out(on_screen(chat)) == [], text
            await panel.remove()
        assert breaks_out(chat.text) == []


@pytest.mark.parametrize(
    ("module", "shows"),
    [
        ("tui.widgets.prompt.suggestions", "offer"),
        ("tui.widgets.transcript.wrap", "pieces"),
        ("tui.app", "notify"),
        ("agent.services.permission_question", "screen"),
    ],
)
async def test_the_walk_sees_one_that_is_switched_off(
    open_chat: Open,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    shows: str,
) -> None:
    monkeypatch.setattr(f"{module}.visible", lambda text: text)
    text = "a\x9b2J\u202ez"
    async with open_chat(size=(100, 30), notifications=True) as chat:
        match shows:
            case "offer":
                chat.screen.query_one(Suggestions).offer([Suggestion(text, text, text, text)])
            case "pieces":
                chat.screen.transcript.add(UserItem("x", note=text))
            case "notify":
                await toasted(chat, text)
            case _:
                chat.app.push_screen(PermissionScreen(action(text), text))
        await chat.until(lambda: breaks_out(on_screen(chat)) != [], within=20)
