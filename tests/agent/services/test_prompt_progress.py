"""How far a server has read its prompt, and how long it will take."""

from agent.services.prompt_progress import PromptProgress


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_rest_is_told_by_the_pace_so_far_and_counts_down() -> None:
    clock = Time()
    progress = PromptProgress(clock)
    progress.begin(1_929, 0.0)
    assert (progress.figures, progress.left()) == ("about 1.9k tokens", "")
    progress.take(0, 1_929)
    assert (progress.figures, progress.left()) == ("1.9k tokens", "")
    clock.now += 20
    progress.take(512, 1_929)
    assert (progress.figures, progress.left()) == ("512 of 1.9k", "about 60 s left")
    clock.now += 30
    assert progress.left() == "about 30 s left"
    clock.now += 22
    assert progress.left() == "a few seconds left"
    clock.now += 100
    assert (progress.figures, progress.left(), progress.is_read) == ("512 of 1.9k", "", False)
    progress.take(1_929, 1_929)
    assert progress.is_read


def test_what_the_cache_holds_is_not_counted_as_read() -> None:
    clock = Time()
    progress = PromptProgress(clock)
    progress.take(1_500, 1_900)
    clock.now += 10
    progress.take(1_700, 1_900)
    assert progress.left() == "about 10 s left"


def test_the_time_left_comes_with_the_first_report_by_the_speed_of_the_prompt_before() -> None:
    clock = Time()
    progress = PromptProgress(clock)
    progress.begin(1_900, 20.0)
    assert (progress.figures, progress.left()) == ("about 1.9k tokens", "")  # it may load the model, or serve others
    assert not (progress.is_reported or progress.is_read)
    clock.now += 90
    progress.take(100, 1_900)
    assert (progress.figures, progress.left()) == ("100 of 1.9k", "about 90 s left")


def test_nothing_is_told_of_a_remote_server() -> None:
    progress = PromptProgress(Time())
    progress.begin(0, 0.0)
    assert (progress.figures, progress.left(), progress.is_read) == ("", "", False)
