"""Frames are drawn less often while an answer comes faster than anyone reads."""

from tui.widgets.transcript.frame_pace import FAST, INTERVAL_S, FramePace


def frames(chars_per_second: float, seconds: float = 10, *, is_typing: bool = False) -> float:
    """Frames a second."""
    now = [0.0]
    pace = FramePace(lambda: now[0])
    drawn = 0
    while now[0] < seconds:
        now[0] += INTERVAL_S
        pace.add(round(chars_per_second * INTERVAL_S))
        drawn += pace.is_due(is_typing=is_typing)
    return drawn / seconds


def test_what_one_can_read_is_drawn_at_each_tick() -> None:
    assert frames(FAST / 2) > 14


def test_what_comes_faster_than_anyone_reads_is_drawn_half_as_often() -> None:
    assert 7 <= frames(FAST * 6) <= 8


def test_while_keys_are_typed_fewer_frames_are_drawn_of_what_nobody_reads() -> None:
    assert 3.5 <= frames(FAST * 6, is_typing=True) <= 4
    assert frames(FAST / 2, is_typing=True) > 14
