"""The speed of an answer."""

import pytest

from agent.turn.recorder import speed_of


@pytest.mark.parametrize(
    ("tokens", "seconds", "speed"),
    [(3, 0.0005, 0.0), (19, 2.0, 0.0), (400, 0.4, 0.0), (20, 0.5, 40.0), (0, 0.0, 0.0)],
)
def test_a_tiny_answer_has_no_speed(tokens: int, seconds: float, speed: float) -> None:
    assert speed_of(tokens, seconds) == speed
