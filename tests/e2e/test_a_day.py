"""The real program in a real terminal for a day: nothing is lost, nothing is twice, the screen is right all along."""

import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.screen,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's"),
    pytest.mark.timeout(300),
]

if sys.platform != "win32":
    from tests.e2e.day import ACTIONS, SIZES, Day

SEED = int(os.environ.get("PALIMPSEST_DAY_SEED", "0")) or time.time_ns() % 100_000  # printed by the long day
STEPS = int(os.environ.get("PALIMPSEST_DAY_STEPS", "120"))


@pytest.fixture
def day(tmp_path: Path) -> Iterator["Day"]:
    lived = Day(tmp_path, SEED)
    yield lived
    lived.close()


def test_a_day_in_short_loses_nothing_and_draws_right(day: "Day") -> None:
    assert "a chat and coding agent that remembers" in day.terminal.text
    day.chat()
    sizes = (*SIZES, (40, 10), (97, 17))
    for number, action in enumerate(ACTIONS):
        action(day)
        day.looks_fresh()
        day.resize(*sizes[number % len(sizes)])
        day.looks_fresh()
    day.end()
    day.messages.append("never sent")
    with pytest.raises(AssertionError, match="never sent"):  # the comparison can fail
        day.compare()


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_day_in_any_order_loses_nothing_and_draws_right(day: "Day") -> None:
    print(f"seed {SEED}", flush=True)
    order = random.Random(SEED)
    day.chat()
    for step in range(STEPS):
        action = order.choice(ACTIONS)
        print(f"{step}: {action.__name__} at {day.size}", flush=True)
        action(day)
        if order.random() < 0.5:
            day.resize()
        day.looks_fresh()
    day.end()
