"""A sequence that is cut anywhere between two pieces of a stream is still no sequence for the terminal."""

from collections.abc import Iterator, Sequence

import pytest
from rich.style import Style

from agent.events import AnswerStored, ReasoningDelta, TextDelta, ToolProgress, ToolStarted
from models.messages import ToolCall
from tests.hostile.filled import all_events
from tests.hostile.payloads import FORBIDDEN, escapes, sample
from tests.hostile.test_widgets import breaks_out, on_screen, shown
from tests.tui.conftest import Open, open_chat  # noqa: F401 - a fixture
from tests.tui.fakes import FakeSession, answer
from tui.chat.turn_view import TurnView
from tui.widgets.transcript.items import AnswerStream, TranscriptItem
from tui.widgets.transcript.styles import TranscriptStyles

pytestmark = pytest.mark.timeout(120)
LOOK = TranscriptStyles.of_theme({}, Style())
ALL = [pytest.mark.soak, pytest.mark.timeout(1800)]
AROUND = (
    ("", ""),
    ("words ", " words"),
    ("# ", ""),
    ("- ", ""),
    ("> ", ""),
    ("**", "**"),
    ("`", "`"),
    ("[x](http://", ")"),
    ("```", "\nx\n```"),
    ("```\n", "\n```"),
    ("| a | b |\n|---|---|\n| ", " | x |"),
)
"""What Markdown stands before and after the payload."""


def splits(text: str) -> Iterator[tuple[str, str]]:
    """The text in two pieces, cut at each place."""
    for cut in range(len(text) + 1):
        yield text[:cut], text[cut:]


def lines_of(items: Sequence[TranscriptItem]) -> list[str]:
    return [shown(line) for item in items for line in item.lines(60, LOOK)]


@pytest.mark.parametrize("payloads", [sample(12, seed=1), pytest.param(list(escapes()), marks=ALL)], ids=len)
def test_the_splitter_gives_no_half_and_no_whole_sequence(payloads: list[str]) -> None:
    for payload in payloads:
        for before, after in AROUND:
            whole: list[str] = []
            for first, second in splits(payload):
                stream = AnswerStream()
                stream.feed(before + first)
                seen = [*stream.advance()]
                stream.feed(second + after)
                finished, still_open = stream.advance()
                last = [*seen[0], *finished, *stream.close()]
                for piece in (*seen[1], *still_open):
                    assert breaks_out("".join(lines_of([piece]))) == [], (payload, before, first)
                drawn = lines_of(last)
                assert breaks_out("".join(drawn)) == [], (payload, before, first)
                assert not whole or drawn == whole, (payload, before, first)
                whole = drawn


async def drawn_by_turns(open_chat: Open, payloads: Sequence[str]) -> int:  # noqa: F811
    """Streams each payload in two pieces, cut at each place, as answer, reasoning and output of a tool."""
    turns = 0
    async with open_chat(size=(60, 20), session=FakeSession(lambda text: answer(text))) as chat:
        transcript, status = chat.screen.transcript, chat.screen.status
        for payload in payloads:
            for first, second in splits(payload):
                view = TurnView(transcript, status)
                call = ToolCall(f"c{turns}", payload, "{}")
                for event in (
                    ReasoningDelta(first, 1.0),
                    ReasoningDelta(second, 2.0),
                    ToolStarted(call, payload),
                    ToolProgress(call, first),
                    ToolProgress(call, second),
                    TextDelta(first),
                ):
                    view.write(event)
                    view.tick()
                transcript.advance()
                assert FORBIDDEN.findall(chat.text.replace("\n", "")) == [], (payload, first)
                view.write(TextDelta(second))
                transcript.advance()
                assert FORBIDDEN.findall(chat.text.replace("\n", "")) == [], (payload, first)
                view.write(AnswerStored("c_1", "e_2", payload, answer("")[-2].usage, payload))
                turns += 1
            await chat.pilot.pause()
            assert breaks_out(on_screen(chat)) == [], payload
            transcript.clear()
    return turns


async def test_a_turn_draws_no_sequence_that_was_cut(open_chat: Open) -> None:  # noqa: F811
    assert await drawn_by_turns(open_chat, sample(5, seed=2)) > 5


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_a_turn_draws_none_of_all_sequences_that_was_cut(open_chat: Open) -> None:  # noqa: F811
    assert await drawn_by_turns(open_chat, list(escapes())) > 3_000


async def drawn_events(open_chat: Open, payloads: Sequence[str]) -> int:  # noqa: F811
    """Shows every event of a turn with the payload in each of its texts, opens what opens; gives how many."""
    written = 0
    async with open_chat(size=(100, 40), session=FakeSession(lambda text: answer(text))) as chat:
        for payload in payloads:
            for event in all_events(payload):
                view = TurnView(chat.screen.transcript, chat.screen.status)
                view.write(event)
                view.tick()
                written += 1
                assert breaks_out(chat.text) == [], event
            await chat.pilot.pause()
            assert breaks_out(on_screen(chat)) == [], payload
            chat.screen.transcript.clear()
    return written


@pytest.mark.parametrize("payloads", [sample(8, seed=6), pytest.param(list(escapes()), marks=ALL)], ids=len)
async def test_no_event_of_a_turn_shows_what_a_terminal_obeys(open_chat: Open, payloads: list[str]) -> None:  # noqa: F811
    assert await drawn_events(open_chat, payloads) >= 30 * len(payloads)


def test_a_splitter_that_passes_sequences_on_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("splitter", "wrap"):
        monkeypatch.setattr(f"tui.widgets.transcript.{module}.visible", lambda text: text)
    with pytest.raises(AssertionError, match="ZXZpbA"):
        test_the_splitter_gives_no_half_and_no_whole_sequence(["\x1b]52;c;ZXZpbA==\x07"])
