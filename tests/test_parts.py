"""Seven runs take all tests, each the cheap ones and a seventh of the expensive."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.measure_costs import LEAST, expensive
from tests.parts import COSTS, PARTS, expensive_functions, function, in_part, of_this_run
from tests.paths import ROOT

NAMES = st.lists(
    st.from_regex(r"tests/[ab]/test_[a-d]\.py::test_[a-h](\[[a-z0-9]{1,3}\])?", fullmatch=True), unique=True
)


@given(NAMES, st.sets(st.from_regex(r"tests/[ab]/test_[a-d]\.py::test_[a-h]", fullmatch=True)))
def test_the_parts_are_all_tests_and_share_the_cheap_ones(names: list[str], costly: set[str]) -> None:
    parts = [in_part(names, str, number, costly) for number in range(PARTS)]
    times = Counter(name for part in parts for name in part)
    assert times == {name: 1 if function(name) in costly else PARTS for name in names}
    for part in parts:
        assert part == [name for name in names if name in part], "the order stays"


def test_a_part_is_about_a_seventh() -> None:
    names = [f"tests/test_a.py::test_b[{number}]" for number in range(7000)]
    for number in range(PARTS):
        assert 900 < len(in_part(names, str, number, {"tests/test_a.py::test_b"})) < 1100


def test_without_the_variable_all_run(monkeypatch: pytest.MonkeyPatch) -> None:
    name = COSTS.read_text("utf-8").split()[1]
    taken: list[int] = []
    for part in map(str, range(PARTS)):
        monkeypatch.setenv("PALIMPSEST_PART", part)
        taken.append(len(of_this_run([name], str)))
    assert sorted(taken) == [0] * (PARTS - 1) + [1]
    for part in ("", "all"):
        monkeypatch.setenv("PALIMPSEST_PART", part)
        assert of_this_run([name], str) == [name]


def test_a_week_of_checks_takes_each_part() -> None:
    assert f"toordinal() % {PARTS}" in (ROOT / "checks.py").read_text("utf-8")


def test_what_is_called_expensive_is_there_and_costs_what_it_says() -> None:
    files = {name.partition("::")[0] for name in expensive_functions()}
    assert {file for file in files if not (ROOT / file).is_file()} == set(), "make costs measures anew"
    seconds = [float(line.split()[0]) for line in COSTS.read_text("utf-8").splitlines()]
    assert seconds == sorted(seconds, reverse=True)
    assert min(seconds) >= LEAST


def test_a_function_costs_the_mean_of_its_cases() -> None:
    records = [
        ("a::b[1]", 1.0),
        ("a::b[2]", 0.5),
        ("a::c", LEAST),
        ("a::d", LEAST - 0.01),
        ("a::e[1]", 0.12),
        ("a::e[2]", 0.05),
    ]
    assert expensive(records) == {"a::b": 0.75, "a::c": LEAST}
