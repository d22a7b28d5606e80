"""Over a slow line the screen is little behind: frames that the terminal could not draw in time are left out."""

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyte
import pytest

from tests.loopback import Loopback, Pause, data, delta, stream
from tui.output.line_pace import GIVEN_UP_S, LEAST_ON_ITS_WAY, QUESTION, LinePace

if TYPE_CHECKING or sys.platform != "win32":
    from tests.tui.emulator import Emulator, cells
    from tests.tui.pty_screen import Terminal

QUESTION_BYTES, ANSWER = QUESTION.encode(), "\x1b[?2026;2$y"
END = (data(delta("stop")), data("[DONE]"))
RATE = 3_000  # bytes a second
FRAME_BYTES = 10_000  # the whole screen anew, at 200×50, and some more


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_terminal_that_answers_as_quickly_as_ever_is_not_behind() -> None:
    clock = Clock()
    pace = LinePace(clock)
    for _ in range(3):
        assert pace.ask() == QUESTION
        clock.now += 0.3
        assert not pace.is_behind
        pace.answered()


def test_a_terminal_that_takes_much_longer_than_it_once_did_is_behind_until_it_answers() -> None:
    clock = Clock()
    pace = LinePace(clock)
    pace.ask()
    clock.now += 0.1
    pace.answered()
    pace.ask()
    clock.now += 0.5
    assert pace.is_behind
    assert pace.ask() == "", "one question is out at a time"
    pace.answered()
    assert not pace.is_behind


def test_a_terminal_that_never_answers_is_never_behind() -> None:
    clock = Clock()
    pace = LinePace(clock)
    pace.ask()
    clock.now += 3
    assert not pace.is_behind


def test_a_lost_answer_stops_nothing_for_ever() -> None:
    clock = Clock()
    pace = LinePace(clock)
    pace.ask()
    clock.now += 0.1
    pace.answered()
    pace.ask()
    clock.now += GIVEN_UP_S + 1
    assert not pace.is_behind
    assert pace.ask() == QUESTION


def test_bytes_before_a_lost_answer_are_not_waited_for() -> None:
    clock = Clock()
    pace = LinePace(clock)
    pace.wrote(50_000)
    pace.ask()
    clock.now += GIVEN_UP_S + 1
    pace.wrote(1_000)
    pace.ask()
    assert not pace.is_behind


def test_no_more_is_on_its_way_than_a_slow_line_carries_in_a_moment() -> None:
    clock = Clock()
    pace = LinePace(clock)
    pace.wrote(14_000)  # the first frame, which nothing answered yet
    pace.ask()
    pace.wrote(1_000)
    assert pace.is_behind, "nothing is known of the line, and a frame is on its way"
    clock.now += 14_000 / RATE
    pace.answered()
    assert not pace.is_behind
    pace.wrote(2_000)
    pace.ask()
    assert not pace.is_behind
    pace.wrote(LEAST_ON_ITS_WAY)
    assert pace.is_behind, "in the same moment"


def test_a_line_that_carried_much_may_have_much_on_its_way() -> None:
    clock = Clock()
    pace = LinePace(clock)
    pace.wrote(14_000)
    pace.ask()
    clock.now += 0.2  # far away, and fast
    pace.answered()
    pace.ask()
    pace.wrote(30_000)
    assert not pace.is_behind
    pace.wrote(10_000)
    assert pace.is_behind


class SlowLine:
    """A line with all the buffers in the world, between the program and what a person sees. `rate`: bytes a second.

    A terminal without synchronized output answers no question: `answers` is False, and nothing is paced.
    """

    def __init__(self, terminal: "Terminal", rate: int, *, answers: bool = True) -> None:
        self.terminal, self.rate, self.answers = terminal, rate, answers
        self.shown = Emulator(terminal.screen.columns, terminal.screen.lines)
        self._stream = pyte.ByteStream(self.shown)
        self._drawn = 0  # bytes
        self.behind = 0.0  # seconds at the most
        self._since = time.monotonic()

    @property
    def text(self) -> str:
        return "\n".join(self.shown.display)

    def carry(self, seconds: float) -> None:
        """Passes on what the line carries in that time."""
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            self.terminal.settle(0.02)
            room, self._since = int((now - self._since) * self.rate), now
            piece = self.terminal.bytes[self._drawn : self._drawn + room]
            asked = self.terminal.bytes[: self._drawn + len(piece)].count(QUESTION_BYTES)
            before = self.terminal.bytes[: self._drawn].count(QUESTION_BYTES)
            self._drawn += len(piece)
            self._stream.feed(piece)
            if self.answers:
                self.terminal.type(ANSWER * (asked - before))
            self.behind = max(self.behind, (len(self.terminal.bytes) - self._drawn) / self.rate)


def wide_table() -> list[str]:
    """Rows of Chinese and numbers, none like the one above it."""
    chance = random.Random(1)
    rows = (f"| {' | '.join(f'{han(chance, 4)}{chance.randrange(10**6)}' for _ in range(5))} |\n" for _ in range(400))
    return ["| a | b | c | d | e |\n|---|---|---|---|---|\n", *rows]


def long_code() -> list[str]:
    """Lines in many colours."""
    chance = random.Random(1)
    lines = (f"def f{n}(a: str = '{han(chance, 8)}') -> int:\n    return {chance.random()}\n" for n in range(300))
    return ["```python\n", *lines]


def han(chance: random.Random, count: int) -> str:
    return "".join(chr(0x4E00 + chance.randrange(5_000)) for _ in range(count))


LAST = "\n\nThat is all of it."


@contextmanager
def answering(root: Path, scene: Callable[[], list[str]], rate: int, *, answers: bool = True) -> Iterator[SlowLine]:
    """A chat of 200×50 cells over a slow line, which has shown its first screen and been asked for the scene."""
    texts = [*scene(), LAST]
    with Loopback() as server:
        pieces = [step for text in texts for step in (data(delta(content=text)), Pause(0.01))]
        server.answers_all(lambda _: stream(data(delta(role="assistant", content="")), *pieces, *END))
        terminal = Terminal(
            *("--workspace", str(root / "ws")),
            columns=200,
            rows=50,
            screen=Emulator(200, 50),
            PALIMPSEST_MODEL=f"openai:m@{server.address}/v1",
            PALIMPSEST_MODELS_WINDOW="32000",
        )
        try:
            terminal.until(lambda text: "mode ask" in text)
            line = SlowLine(terminal, rate, answers=answers)
            for _ in range(30):
                if "mode ask" in line.text:
                    break
                line.carry(1)
            line.carry(1)
            terminal.type("go on\r")
            line.behind = 0.0
            yield line
        finally:
            terminal.close()


SCENES = [
    pytest.param(wide_table, 2_400, id="table-19200"),
    pytest.param(wide_table, 1_200, id="table-9600", marks=pytest.mark.soak),
    pytest.param(long_code, 2_400, id="code-19200", marks=pytest.mark.soak),
    pytest.param(long_code, 1_200, id="code-9600", marks=pytest.mark.soak),
]


@pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's")
@pytest.mark.slow
@pytest.mark.screen
@pytest.mark.timeout(240)
@pytest.mark.parametrize(("scene", "rate"), SCENES)
def test_a_long_answer_over_a_slow_line_is_shown_as_it_is_after_a_moment(
    tmp_path: Path, scene: Callable[[], list[str]], rate: int
) -> None:
    with answering(tmp_path, scene, rate) as line:
        for _ in range(90):  # a busy machine takes longer to stream it
            if LAST.strip() in line.terminal.text:
                break
            line.carry(1)
        line.terminal.quiet(0.5)
        line.carry(2 * FRAME_BYTES / rate)
        assert LAST.strip() in line.text
        assert cells(line.shown) == cells(line.terminal.screen)
        assert line.behind * rate < 2 * FRAME_BYTES, "a frame or two, and what a busy machine is late"


@pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's")
@pytest.mark.slow
@pytest.mark.screen
@pytest.mark.timeout(240)
@pytest.mark.parametrize(("scene", "rate"), SCENES)
def test_a_line_that_is_not_paced_is_far_behind(tmp_path: Path, scene: Callable[[], list[str]], rate: int) -> None:
    with answering(tmp_path, scene, rate, answers=False) as line:
        for _ in range(90):
            if line.behind * rate > 4 * FRAME_BYTES:
                break
            line.carry(1)
        assert line.behind * rate > 4 * FRAME_BYTES
