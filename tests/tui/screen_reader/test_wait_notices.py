"""What is waited for is announced, and not too often."""

from itertools import pairwise

from tui.screen_reader.wait_notices import Waiting


def announced(seconds: int, last_line: float = 0.0) -> list[tuple[int, str]]:
    now = 0.0
    said: list[tuple[int, str]] = []
    waiting = Waiting(lambda line: said.append((int(now), line)), lambda: last_line, lambda: now)
    waiting.show("reading, 2.3k of 5.0k tokens")
    for second in range(seconds):
        now = float(second)
        waiting.tick()
    return said


def test_it_is_announced_after_three_seconds_then_at_growing_intervals() -> None:
    assert [second for second, _ in announced(200)] == [3, 18, 48, 108]
    assert announced(5) == [(3, "Still reading, 2.3k of 5.0k tokens, since 3 s.")]


def test_the_time_that_is_left_is_announced() -> None:
    said: list[str] = []
    times = iter([0.0, 0.0, 0.0, 5.0])
    waiting = Waiting(said.append, lambda: 0.0, lambda: next(times))
    waiting.show("reading, 0.5k of 1.9k tokens", lambda: "about 40 s left")
    waiting.tick()
    assert said == ["Still reading, 0.5k of 1.9k tokens, about 40 s left, since 5 s."]


def test_nothing_is_announced_while_lines_are_written() -> None:
    assert announced(100, last_line=98.0) == []


def test_nothing_is_announced_where_nothing_is_waited_for() -> None:
    said: list[str] = []
    waiting = Waiting(said.append, lambda: 0.0, lambda: 1_000.0)
    waiting.tick()
    assert said == []


def test_two_turns_do_not_announce_within_fifteen_seconds() -> None:
    now = 0.0
    said: list[int] = []
    waiting = Waiting(lambda _: said.append(int(now)), lambda: 0.0, lambda: now)
    for second in range(40):
        now = float(second)
        waiting.show(f"state {second // 4}" if second % 4 else "")
        waiting.tick()
    assert all(later - earlier >= 15 for earlier, later in pairwise(said))
