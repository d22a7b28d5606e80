"""The status bar says most where there is room, and what matters most where there is little."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from rich.cells import cell_len

from foundation.figures import short_count
from tui.widgets.status import StatusInfo, context_meter, fit_line, short_model

FULL = StatusInfo(
    model="openai:qwen3-coder-30b@http://127.0.0.1:8080/v1",
    tokens=4_200,
    budget=10_000,
    speed=38.2,
    doing="answering",
    waiting=2,
)


def test_the_meter_reads_as_people_write_it() -> None:
    assert context_meter(4_200, 10_000) == "context 42.0 % (4.2k/10.0k)"
    assert context_meter(0, 0) == ""
    assert [short_count(n) for n in (950, 1_000, 128_000, 999_949, 999_950)] == [
        "950",
        "1.0k",
        "128.0k",
        "999.9k",
        "1.0M",
    ]


def test_a_model_is_called_by_its_own_name() -> None:
    specs = ("offline", "ollama:llama3:8b", "mlx:org/Qwen3-4B", "openai:a@http://h/v1")
    assert [short_model(spec) for spec in specs] == ["offline", "llama3:8b", "Qwen3-4B", "a"]


def test_with_room_everything_stands_there() -> None:
    left, right = fit_line(FULL, 120)
    assert left == "qwen3-coder-30b · context 42.0 % (4.2k/10.0k) · 38 tok/s · 2 waiting"
    assert right == "answering"


def test_with_little_room_the_context_stays() -> None:
    assert fit_line(FULL, 40) == ("context 42.0 % · 2 waiting", "answering")
    assert fit_line(FULL, 26) == ("context 42.0 %", "answering")


def test_where_older_turns_leave_is_shown_within_a_tenth_of_it() -> None:
    near = structs.replace(FULL, tokens=3_600, compacts_at=4_000)
    assert "context 36.0 % (3.6k/10.0k) · compacts at 40.0 %" in fit_line(near, 120)[0]
    assert fit_line(near, 60)[0] == "context 36.0 % · compacts at 40.0 % · 2 waiting"
    assert "compacts" not in fit_line(structs.replace(near, tokens=3_599), 120)[0]
    assert "compacts" not in fit_line(FULL, 120)[0], "where it is not known"


@given(st.integers(0, 200), st.text(max_size=30), st.text(max_size=30), st.integers(0, 10**9))
def test_it_never_overflows(width: int, model: str, doing: str, tokens: int) -> None:
    left, right = fit_line(StatusInfo(model=model, tokens=tokens, budget=10_000, doing=doing), width)
    assert cell_len(left) + cell_len(right) <= width
