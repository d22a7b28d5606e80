"""Words that were asked for, marked in a text that may hold anything."""

from hypothesis import given
from hypothesis import strategies as st

from tui.search.highlight import highlight, highlight_line, match_spans, split_at_spans

SPANS = st.lists(st.tuples(st.integers(-2, 60), st.integers(-2, 60)))


def styled(text: str, asked: str) -> list[str]:
    shown = highlight(text, match_spans(text, asked), "bold")
    return [shown.plain[span.start : span.end] for span in shown.spans]


def test_words_are_marked_by_their_stems_and_weak_ones_are_not() -> None:
    assert styled("The boilers were serviced; a boiler is warm.", "when is the boiler serviced") == [
        "boilers",
        "serviced",
        "boiler",
    ]


def test_chinese_words_are_marked_without_gaps() -> None:
    assert styled("每年五月锅炉保养。", "锅炉保养") == ["锅炉保养"]


def test_words_that_say_little_are_marked_where_they_are_all_there_is() -> None:
    assert styled("to be or not", "to be") == ["to", "be"]


def test_the_line_begins_a_little_before_the_first_mark() -> None:
    text = "nothing " * 30 + "then the boiler " + "went on " * 30
    line = highlight_line(text, match_spans(text, "boiler"), "bold").plain
    assert line.startswith("… ")
    assert line.index("boiler") < 40


@given(st.text(max_size=60), SPANS)
def test_no_span_loses_or_moves_a_word(text: str, spans: list[tuple[int, int]]) -> None:
    assert "".join(part for part, _ in split_at_spans(text, spans)) == text


@given(st.text(max_size=60), SPANS)
def test_what_is_marked_is_safe_for_a_terminal(text: str, spans: list[tuple[int, int]]) -> None:
    assert not {"\x1b", "\x9b", "\u202e", "\x00"} & set(highlight(text, spans, "bold").plain)


@given(st.text(max_size=60), SPANS)
def test_a_line_is_one_line_with_nothing_to_obey(text: str, spans: list[tuple[int, int]]) -> None:
    line = highlight_line(text, spans, "bold").plain
    assert "\n" not in line
    assert not {"\x1b", "\x9b", "\u202e", "\x00"} & set(line)
