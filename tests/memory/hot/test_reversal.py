"""A change is taken back out of a text that others changed since."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.hot.reversal import without_change

BEFORE = "# Tea\n- at four\n- with milk\n"
AFTER = "# Tea\n- at five\n- with milk\n\n# Boats\n- by model\n"
OTHER_LINES = st.lists(st.integers(0, 8), max_size=6)


@pytest.mark.parametrize(
    ("now", "left"),
    [
        (AFTER, BEFORE),
        (AFTER.replace("\n", "\r\n"), "# Tea\r\n- at four\n- with milk\r\n"),
        (AFTER + "\n# Mine\n- right below\n", BEFORE + "\n# Mine\n- right below\n"),
        (AFTER.replace("milk", "oat milk"), BEFORE.replace("milk", "oat milk")),
        (AFTER.replace("# Tea\n", "# Tea, twice\n"), BEFORE.replace("# Tea\n", "# Tea, twice\n")),
        (AFTER.replace("# Boats\n", "# Boats\n- within\n"), BEFORE + "- within\n"),
        (AFTER.replace("- by model\n", ""), BEFORE),  # a line of it was taken out by hand
        ("# Tea\n- at five\n- with milk\n", BEFORE),  # the second part was taken out by hand
        ("# Tea\n- at five\n- with milk\n\n\n", BEFORE + "\n\n"),  # but for its empty line, and one more
    ],
)
def test_what_others_changed_stays(now: str, left: str) -> None:
    assert without_change(BEFORE, AFTER, now) == left


@pytest.mark.parametrize(
    "now",
    [
        AFTER.replace("- at five", "- at six"),
        AFTER.replace("- by model", "- by model, and me"),
        "- by model\n\n# Tea\n- at five\n- with milk\n\n# Boats\n",
        "",
    ],
    ids=["replaced", "added", "moved", "emptied"],
)
def test_where_others_changed_the_same_lines_it_stays_as_it_is(now: str) -> None:
    assert without_change(BEFORE, AFTER, now) is None


def test_a_line_that_was_rewritten_is_anothers() -> None:
    assert without_change("- one\n", "- one\n- two\n", "- one\n- two, as I say\n") is None
    assert without_change("- one\n", "- two\n", "- two, as I say\n") is None


@pytest.mark.parametrize(
    ("before", "after", "now"),
    [
        ("- one\n", "- one\n- two\n", "- one\n"),
        ("- one\n", "- one\n\n<!-- 2026 -->\n- two\n", "- one\n\n<!-- 2026 -->\n"),
        ("- one\n- two\n", "- one\n", "- one\n- two\n- three\n"),
        ("- one\n", "- two\n", "- one\n- three\n"),
        ("# Tea\n", "# Tea\n- two\n", "# Tea\n"),
        ("", "- two\n", ""),
    ],
)
def test_what_is_out_already_leaves_the_text_alone(before: str, after: str, now: str) -> None:
    assert without_change(before, after, now) == now


def test_a_text_without_a_last_line_end_keeps_its_lines_apart() -> None:
    assert without_change("- one", "- one\n- two\n", "- one\n- two\n- mine") == "- one\n- mine"


@given(st.lists(st.tuples(st.sampled_from(["keep", "drop", "add", "change"]), OTHER_LINES), max_size=12), st.booleans())
def test_lines_that_others_put_in_anywhere_stay_and_the_rest_is_as_before(
    steps: list[tuple[str, list[int]]], beside: bool
) -> None:
    before, after, now = list[str](), list[str](), list[str]()
    mine = list[str]()
    for number, (step, others) in enumerate(steps):
        if step != "add":
            before.append(f"- line {number}\n")
        if step in {"keep", "add", "change"}:
            made = f"- line {number}\n" if step == "keep" else f"- model's {number}\n"
            after.append(made)
            now.append(made)
        here = [f"- mine {number}.{at}\n" for at, _ in enumerate(others)] if beside or step == "keep" else []
        now += here
        mine += here
    left = without_change("".join(before), "".join(after), "".join(now))
    assert left is not None
    lines = left.splitlines(keepends=True)
    assert [line for line in lines if line not in set(mine)] == before
    assert [line for line in lines if line in set(mine)] == mine
