"""system.yaml: read with its conditions, and each mistake told with its line."""

import pytest

from context.sources.system_yaml import BrokenSystemFile, parse_system_yaml

GOOD = """\
version: 1
abilities:
  - You keep notes.
  - You answer briefly.
rules:
  - name: flights
    when: {entity: flight_number, time: 22:00-06:00}
    then:
      - Say when check-in opens.
  - when:
      keywords: [invoice, 发票]
      attachment: image
    then: Read the total aloud.
"""


def test_abilities_and_rules_are_read_in_order() -> None:
    file = parse_system_yaml(GOOD)
    assert file.abilities == ("You keep notes.", "You answer briefly.")
    assert [rule.name for rule in file.rules] == ["flights", "line 10"]
    assert file.rules[1].when.keywords == ("invoice", "发票")
    assert file.rules[1].then == ("Read the total aloud.",)


def test_an_empty_file_says_nothing() -> None:
    assert parse_system_yaml("# nothing yet\n").abilities == ()


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("abilities:\n  - a\n bad: [", 3, "expected"),
        ("abilities:\n\t- a", 2, "cannot start any token"),
        ("version: 2", 1, "version 1"),
        ("colour: red", 1, "`colour` is not a known field"),
        ("abilities:\n  - [a, b]", 2, "must be text"),
        ("- just\n- a list", 1, "must be a mapping"),
        ("rules: yes", 1, "must be a list"),
    ],
)
def test_a_mistake_of_the_file_is_told_with_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(BrokenSystemFile) as caught:
        parse_system_yaml(text)
    assert caught.value.problem.line == line
    assert says in caught.value.problem.text


GOOD_RULE = "\n  - when: {keyword: good}\n    then: kept"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("rules:\n  - name: x\n    then: [y]", 2, "needs `when`"),
        ("rules:\n  - when: {keyword: x}", 2, "needs `then`"),
        ("rules:\n  - when: {}\n    then: x", 2, "no condition"),
        ("rules:\n  - when: {messages: 2}\n    then: x", 2, "no condition"),
        ("rules:\n  - when:\n      keyword: x\n      messages: 9\n    then: x", 4, "from 1"),
        ("rules:\n  - when:\n      pattern: '[a'\n    then: x", 3, "not a valid regular expression"),
        ("rules:\n  - when:\n      pattern: (a+$\n    then: x", 3, "not a valid regular expression"),
        ("rules:\n  - when:\n      keyword: x\n      entity: unicorn\n    then: x", 4, "flight_number"),
        ("rules:\n  - when:\n      time: after tea\n    then: x", 3, "22:00-06:00"),
        ("rules:\n  - when:\n      attachment: video\n    then: x", 3, "image"),
    ],
)
def test_a_bad_rule_is_told_with_its_line_and_takes_no_other_away(text: str, line: int, says: str) -> None:
    file = parse_system_yaml(f"{text}{GOOD_RULE}\nabilities: [Be kind.]")
    assert [rule.then for rule in file.rules] == [("kept",)]
    assert file.abilities == ("Be kind.",)
    (problem,) = file.problems
    assert problem.line == line
    assert says in problem.text


def test_nesting_without_end_is_refused_not_a_crash() -> None:
    with pytest.raises(BrokenSystemFile):
        parse_system_yaml("abilities: " + "[" * 20_000)
