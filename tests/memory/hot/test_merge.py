"""Two edits of one text become one."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from memory.hot.merge import merge
from memory.hot.parse import lines_of
from memory.hot.swap import ExposedStates, closest_origin

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "\n"]), max_size=8).map("".join)


@given(TEXTS, TEXTS)
def test_where_one_side_changed_nothing_the_other_is_the_result(base: str, other: str) -> None:
    assert merge(base, other, base).text == other
    assert merge(base, base, other).text == other
    assert merge(base, other, other).text == other


@given(TEXTS, st.data())
def test_what_either_side_added_is_there(base: str, data: st.DataObject) -> None:
    sides: list[str] = []
    for mark in ("theirs", "ours"):
        lines = lines_of(base)
        for number in range(data.draw(st.integers(0, 4))):
            lines.insert(data.draw(st.integers(0, len(lines))), f"{mark}{number}\n")
        sides.append("".join(lines))
    merged = merge(base, *sides)
    found = Counter(lines_of(merged.text)) + Counter(lines_of(merged.leftover))
    for side in sides:
        assert not Counter(lines_of(side)) - found


@given(TEXTS, TEXTS, TEXTS)
def test_no_line_that_either_side_wrote_is_lost(base: str, theirs: str, ours: str) -> None:
    merged = merge(base, theirs, ours)
    kept = set(lines_of(merged.text)) | set(lines_of(merged.leftover))
    written = (set(lines_of(theirs)) | set(lines_of(ours))) - set(lines_of(base))
    assert written <= kept
    assert "<<<<" not in merged.text


def test_where_both_changed_a_line_theirs_stays_and_ours_is_left_over() -> None:
    merged = merge("a\nb\nc\n", "a\nTHEIRS\nc\n", "a\nOURS\nc\n")
    assert (merged.text, merged.leftover) == ("a\nTHEIRS\nc\n", "OURS\n")


def test_changes_far_apart_do_not_touch() -> None:
    base = "".join(f"{n}\n" for n in range(9))
    merged = merge(base, "top\n" + base, base.replace("5\n", "") + "end\n")
    assert merged.text == "top\n" + base.replace("5\n", "") + "end\n"


def test_a_last_line_without_an_end_gets_one_before_another_follows() -> None:
    assert merge("a\n", "a\nx", "a\ny\n").text == "a\nx\ny\n"


def test_a_text_is_traced_to_what_it_was_made_from() -> None:
    old, new = "a\nb\n", "a\nb\nc\n"
    assert closest_origin("a\nb\nx\n", [new, old]) == old
    assert closest_origin("a\nb\nc\nx\n", [new, old]) == new
    assert closest_origin("x\na\nb\n", [new, old]) == old


def test_words_hidden_for_an_instant_are_put_back_and_a_deletion_is_not_undone() -> None:
    exposed = ExposedStates()
    exposed.leave("a\nby hand\nours\n", ["a\nours\n"])
    assert exposed.mend("a\nours\nnew\n") == "a\nby hand\nours\nnew\n"
    assert exposed.mend("a\nours\nby hand\nmore\n") == "a\nours\nby hand\nmore\n"
    exposed.leave("a\nby hand\n", [])
    assert ExposedStates().mend("a\n") == "a\n"
