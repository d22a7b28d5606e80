"""Lines break where a reader expects it, and never beyond the edge."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.widgets.transcript.wrap import code_breaks, line_breaks

WORDS = st.text(alphabet=st.sampled_from("ab 、。（字漢한🙂é👩‍👧-/"), max_size=200)


def cut(text: str, offsets: list[int]) -> list[str]:
    return [text[start:end] for start, end in zip([0, *offsets], [*offsets, len(text)], strict=True)]


@given(WORDS, st.integers(2, 40))
@example("\u200d\u200d、a", 2)  # joiners that join nothing
def test_no_line_is_wider_than_the_view(text: str, width: int) -> None:
    for line in cut(text, line_breaks(text, width)):
        assert cell_len(line.rstrip(" ")) <= width
    for line in cut(text, code_breaks(text, width)):
        assert cell_len(line) <= width


@given(WORDS, st.integers(2, 40))
def test_nothing_is_lost_between_lines(text: str, width: int) -> None:
    assert "".join(cut(text, line_breaks(text, width))) == text


def test_code_breaks_after_a_space_and_else_at_the_edge() -> None:
    code = "    return argument_one + argument_two  # sum"
    assert cut(code, code_breaks(code, 22)) == ["    return ", "argument_one + ", "argument_two  # sum"]
    assert cut("    " + "x" * 12, code_breaks("    " + "x" * 12, 8)) == ["    xxxx", "xxxxxxxx"]


@given(WORDS, st.integers(2, 40))
def test_nothing_of_code_is_lost_between_lines(text: str, width: int) -> None:
    assert "".join(cut(text, code_breaks(text, width))) == text


def test_english_breaks_at_spaces() -> None:
    assert cut("one two three four", line_breaks("one two three four", 9)) == ["one two ", "three ", "four"]


def test_chinese_beside_english_does_not_leave_half_a_line_empty() -> None:
    text = "使用Python编写一个很长很长的句子"
    assert cut(text, line_breaks(text, 12)) == ["使用Python编", "写一个很长很", "长的句子"]


def test_chinese_punctuation_does_not_begin_a_line() -> None:
    text = "锅炉每年五月，保养"
    assert all(not line.startswith("，") for line in cut(text, line_breaks(text, 12)))


def test_a_percent_sign_stays_with_its_number() -> None:
    text = "[Haus 家 · Ann · e_4kx7] exact · 47 % · superseded"
    for width in range(8, len(text) + 2):
        offsets = [0, *line_breaks(text, width), len(text)]
        lines = [text[start:end].strip() for start, end in pairwise(offsets)]
        assert not any(line.startswith("%") for line in lines), (width, lines)


def test_a_path_wider_than_a_line_breaks_after_a_slash() -> None:
    text = "It is in /home/ann/ws/.palimpsest/checkpoints/conflicts/k_4f/plans/茶.md now"
    lines = [line.rstrip() for line in cut(text, line_breaks(text, 24))]
    assert lines == ["It is in", "/home/ann/ws/", ".palimpsest/checkpoints/", "conflicts/k_4f/plans/", "茶.md now"]
    assert line_breaks("x" * 50, 20) == [20, 40]
