"""Three runs take all tests, each the cheap ones and a third of the expensive."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.measure_costs import LEAST, expensive
from tests.paths import ROOT
from tests.thirds import COSTS, expensive_functions, function, in_third, of_this_run

NAMES = st.lists(
    st.from_regex(r"tests/[ab]/test_[a-d]\.py::test_[a-h](\[[a-z0-9]{1,3}\])?", fullmatch=True), unique=True
)


@given(NAMES, st.sets(st.from_regex(r"tests/[ab]/test_[a-d]\.py::test_[a-h]", fullmatch=True)))
def test_three_thirds_are_all_tests_and_share_the_cheap_ones(names: list[str], costly: set[str]) -> None:
    thirds = [in_third(names, str, number, costly) for number in range(3)]
    times = Counter(name for third in thirds for name in third)
    assert times == {name: 1 if function(name) in costly else 3 for name in names}
    for third in thirds:
        assert third == [name for name in names if name in third], "the order stays"


def test_a_third_is_about_a_third() -> None:
    names = [f"tests/test_a.py::test_b[{number}]" for number in range(3000)]
    for number in range(3):
        assert 900 < len(in_third(names, str, number, {"tests/test_a.py::test_b"})) < 1100


def test_without_the_variable_all_run(monkeypatch: pytest.MonkeyPatch) -> None:
    name = COSTS.read_text("utf-8").split()[1]
    taken: list[int] = []
    for third in ("0", "1", "2"):
        monkeypatch.setenv("PALIMPSEST_THIRD", third)
        taken.append(len(of_this_run([name], str)))
    assert sorted(taken) == [0, 0, 1]
    for third in ("", "all"):
        monkeypatch.setenv("PALIMPSEST_THIRD", third)
        assert of_this_run([name], str) == [name]


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
        ("a::e[1]", 0.3),
        ("a::e[2]", 0.05),
    ]
    assert expensive(records) == {"a::b": 0.75, "a::c": LEAST}
