"""Any text at each entrance of the screen is shown, answered or refused with a sentence, and crashes nothing.

Each run tries some texts at each entrance, the same each time; the soak tries 10,000 others.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual import events
from textual.widgets import Input

from agent.commands import registry
from agent.config.edit import parse_value
from agent.config.settings import all_settings
from agent.services.live_search import find_rows
from foundation.clock import SystemClock
from foundation.errors import PalimpsestError
from foundation.paths import Workspace
from memory.memory import Memory
from tests.hostile.filled import all_events
from tests.hostile.filled_pieces import LOOK, PIECES
from tests.hostile.filled_screens import SCREENS
from tests.hostile.payloads import FORBIDDEN, escapes, sample
from tests.hostile.test_widgets import breaks_out, on_screen, remembered, shown
from tests.tui.conftest import Open, open_chat  # noqa: F401 - a fixture
from tests.tui.fakes import FakeSession, answer
from tui.chat.completion import PromptCompletion
from tui.chat.turn_view import TurnView
from tui.widgets.prompt.history import HistoryCursor, PromptHistory
from tui.widgets.prompt.prefixes import prefixed
from tui.widgets.transcript.items import AnswerStream

pytestmark = pytest.mark.timeout(120)
ODD = (
    *("", " ", "\n", "\t", "[", "[/", "[red]x[/]", "[@click=app.quit]x[/]", "\\[", "/", "//", "/x", "@", '@"', "@mem:"),
    *("!", "#", "```", "|", "|-|", "| a |\n|---|", "1.", "> ", "<private>", "<palimpsest-x>", "*" * 40, "(" * 40),
    *(
        "锅炉在五月保养。",
        "日本語テキスト",
        "한국어",
        "👩\u200d👩\u200d👧",
        "❤️",
        "1️⃣",
        "🇩🇪",
        "e\u0301" * 20,
        "a\u0300" * 60,
    ),
    *("\u202eabc", "\ufeff", "\x00", "\x1b", "\x1b[200~", "\ud800", "\uffff", "x" * 5_000, "字" * 3_000, "\r\n" * 99),
    *(
        "since:2026-99-99",
        'who:"',
        "kind:",
        "-",
        '"',
        "^",
        "{",
        "{a: [}",
        "&a [*a]",
        "!!python/x y",
        "~",
        "null",
        "1e999",
    ),
)
TEXT = st.one_of(
    st.text(),
    st.text(st.characters(), max_size=40),  # lone surrogates too
    st.sampled_from(ODD),
    st.sampled_from(list(escapes())),
    st.lists(st.one_of(st.sampled_from(ODD), st.text(max_size=8)), max_size=6).map(" ".join),
    st.lists(st.sampled_from(ODD), max_size=12).map("\n".join),
)
COUNTS = [
    pytest.param(60, id="some"),
    pytest.param(10_000, id="10,000", marks=[pytest.mark.soak, pytest.mark.timeout(3600)]),
]
counts = pytest.mark.parametrize("count", COUNTS)
screen_counts = pytest.mark.parametrize(
    "count", [pytest.param(2, id="some"), pytest.param(400, id="400", marks=COUNTS[1].marks)]
)


def each_text(count: int, check: Callable[[str], None]) -> None:
    """Checks so many texts; a failure names the shortest text that fails."""
    given(TEXT)(_settings(count)(lambda text: check(text)))()


def texts(count: int) -> list[str]:
    """So many texts, for checks that wait for the screen."""
    found: list[str] = []
    given(TEXT)(_settings(count)(lambda text: found.append(text)))()
    return found


def _settings(count: int) -> Any:
    return settings(
        max_examples=count,
        derandomize=count < 1_000,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@counts
def test_pieces_of_the_transcript(count: int) -> None:
    def check(text: str) -> None:
        for made in PIECES.values():
            for piece in made(text):
                for width in (1, 11, 80):
                    for line in piece.lines(width, LOOK):
                        assert FORBIDDEN.findall(shown(line)) == []

    each_text(count // 10 if count > 1_000 else count // 3, check)  # times ten kinds of pieces


@counts
def test_answers_in_pieces(count: int) -> None:
    def check(text: str) -> None:
        stream = AnswerStream()
        for at in range(0, len(text), 7):
            stream.feed(text[at : at + 7])
            if at < 700:
                stream.advance()
        for item in stream.close():
            for line in item.lines(40, LOOK):
                assert FORBIDDEN.findall(shown(line)) == []

    each_text(count, check)


async def test_events_of_a_turn(open_chat: Open) -> None:  # noqa: F811
    await _events(open_chat, 10)


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_events_of_a_turn_with_many_texts(open_chat: Open) -> None:  # noqa: F811
    await _events(open_chat, 400)  # times 31 events


async def _events(open_chat: Open, count: int) -> None:  # noqa: F811
    async with open_chat(size=(60, 20), session=FakeSession(lambda text: answer(text))) as chat:
        for text in texts(count):
            for event in all_events(text):
                TurnView(chat.screen.transcript, chat.screen.status).write(event)
            await chat.pilot.pause()
            assert breaks_out(on_screen(chat)) == [], text
            chat.screen.transcript.clear()
        assert chat.app.is_running


@counts
async def test_the_prompt(open_chat: Open, count: int) -> None:  # noqa: F811
    async with open_chat(size=(60, 20)) as chat:
        prompt = chat.screen.prompt
        for number, text in enumerate(texts(count)):
            prompt.set_text("") if number % 3 else prompt.set_text(text)
            prompt.post_message(events.Paste(text))
            await chat.pilot.pause()
            prompt.insert_text(text)
            keys = ["up", "down", "left", *(("ctrl+r", "a", "escape", "tab") if number % 20 == 0 else ())]
            for key in keys:
                chat.app.post_message(events.Key(key, key if len(key) == 1 else None))
            await chat.pilot.pause()
            assert breaks_out(on_screen(chat)) == [], text
        assert chat.app.is_running


@counts
def test_history_and_prefixes(count: int, tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "history")

    def check(text: str) -> None:
        if len(history.entries) < 200:
            history.add(text)
        cursor = HistoryCursor(history.entries[-20:], text)
        while (older := cursor.back(text)) is not None:
            assert isinstance(older, str)
        prefixed(text)
        registry.complete(text)

    each_text(count, check)
    again = PromptHistory(tmp_path / "history")
    again.load()
    assert len(again.entries) == len(history.entries)  # what is private is left out of the file


@counts
async def test_completion(count: int, tmp_path: Path, memory: Memory) -> None:
    (tmp_path / "名 [x].txt").write_text("x", encoding="utf-8")
    completion = PromptCompletion(tmp_path, ("nord",))
    session: Any = FakeSession(lambda _: ())
    session.memory = memory
    completion.session = session
    names = [command.name for command in registry.all()]
    for number, text in enumerate(texts(count // 10 if count > 1_000 else count)):
        before = ("@", "@mem:", "/", f"/{names[number % len(names)]} ", '@"', "")[number % 6]
        for found in await completion.suggest(before + text, (before + text).rpartition("\n")[2]):
            assert breaks_out(found.label) == [], text
    completion.close()


@pytest.fixture
def memory(workspace: Workspace) -> Iterator[Memory]:
    opened = Memory.open(workspace, SystemClock())
    remembered(opened, sample(3))
    yield opened
    opened.close()


@counts
def test_search_queries(count: int, memory: Memory) -> None:
    def check(text: str) -> None:
        try:
            found = find_rows(memory, text)
        except PalimpsestError as error:
            assert error.message
        else:
            assert found.rows is not None

    each_text(count // 4 if count > 1_000 else count, check)


@counts
def test_fields_of_the_settings(count: int) -> None:
    every = list(all_settings().values())

    def check(text: str) -> None:
        for setting in every:
            try:
                parse_value(setting, text)
            except PalimpsestError as error:
                assert error.message

    each_text(count // 10, check)  # times more than 100 settings


@screen_counts
@pytest.mark.parametrize("screen", SCREENS, ids=lambda kind: kind.__name__)
async def test_screens_and_their_fields(open_chat: Open, memory: Memory, screen: Any, count: int) -> None:  # noqa: F811
    session = FakeSession(lambda text: answer(text))
    session.memory = memory
    async with open_chat(session=session, size=(64, 20)) as chat:
        for text in texts(count):
            chat.app.push_screen(SCREENS[screen](memory, text or "x"))
            await chat.until(lambda: isinstance(chat.app.screen, screen))
            await chat.pilot.pause(0.02)
            for field in chat.app.screen.query(Input):
                field.value = text[:2_000]
            await chat.pilot.pause(0.05)
            assert chat.app.is_running, text
            assert breaks_out(on_screen(chat)) == [], text
            while chat.app.screen is not chat.screen:
                chat.app.pop_screen()
            await chat.pilot.pause()
