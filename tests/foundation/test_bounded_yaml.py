"""YAML from a stranger: the usual is read, and the unbounded refused at its line, at once."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.yaml import BadYaml, load_yaml


def bomb(levels: int, width: int = 9) -> str:
    rows = [f"x0: &a0 [{', '.join(['lol'] * width)}]"]
    rows += [f"x{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(rows)


def test_the_usual_is_read_aliases_and_merges_among_it() -> None:
    assert load_yaml("") is None
    assert load_yaml("a: &x [1, 2.5, yes, null, 2026-03-14]\nb: *x")["b"][:4] == [1, 2.5, True, None]
    assert load_yaml("a: &x {k: 1}\nb: {<<: *x, m: 2}") == {"a": {"k": 1}, "b": {"k": 1, "m": 2}}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: " + "[" * 50_000, 2),
        ("a: 1\nb: " + "{a: " * 50_000, 2),
        ("\n".join(" " * n + "a:" for n in range(100)), 40),
        (bomb(11), 5),
        ("a: &s " + "y" * 100_000 + "\nb: [" + "*s, " * 9 + "]", 2),
        ("a: &a\n  - *a", 2),
        ("a: &a {<<: *a}", 1),
        ("a: [\nb", 1),
        ("a: 1\n\tb: 2", 2),
        ("a: " + "9" * 5_000, 1),
        ("a: 0x" + "f" * 5_000, 1),
        ("a: " + "1:" * 5_000 + "1", 1),
        ("a: 2026-99-99", 1),
        ("a: !!bool perhaps", 1),
        ("a: !!timestamp then", 1),
        ("a: !!int ''", 1),
        ("a: !!float x", 1),
        ("a: !!python/object:os.system x", 1),
        ("? [a, {b: c}]\n: 1", 1),
        ('a: "\\U7fffffff"', 1),
        ("a: \x00", 1),
        ("x" * 300_000, 1),
    ],
)
def test_what_has_no_end_or_no_meaning_is_refused_at_its_line(text: str, line: int) -> None:
    began = time.process_time()
    with pytest.raises(BadYaml) as raised:
        load_yaml(text)
    assert raised.value.line == line
    assert raised.value.problem
    assert time.process_time() - began < 3  # seconds; without a limit these take for ever, or fell over


@given(st.text(alphabet="ab:-[]{}&*!?|>'\"#%,<~ \n\t019.x\\", max_size=60))
def test_any_text_is_a_value_or_bad_yaml(text: str) -> None:
    try:
        load_yaml(text)
    except BadYaml as error:
        assert error.line >= 1


@pytest.mark.parametrize("part", ["{{z", "[", "{", "a: [{b: "])
def test_brackets_that_nothing_closes_are_refused_at_once(part: str) -> None:
    began = time.process_time()
    with pytest.raises(BadYaml):
        load_yaml(part * (200_000 // len(part)))
    assert time.process_time() - began < 5  # seconds; the square of the depth took minutes
