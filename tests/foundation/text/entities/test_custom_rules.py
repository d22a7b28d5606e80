"""`entities.yaml`: a workspace's own kinds of entity."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.paths import Workspace
from foundation.text.analysis import Analyser
from foundation.text.entities.custom import BrokenRules, parse_rules, read_rules
from foundation.text.term_codec import unpack_terms
from foundation.yaml import BadYaml
from memory.memory import Memory
from tests.fakes import FakeClock
from tests.memory.search.conversation import Talk

RULES = """
ticket:
  pattern: "[A-Z]{2,5}-[0-9]{1,6}"
project:
  words: [Palimpsest, 长卷, Blue Door]
person:
  words: [Zelda]
"""


def test_patterns_and_words_mark() -> None:
    rules = parse_rules(RULES)
    assert rules.tags("PAL-12 of palimpsest: the blue door, 长卷里 Zelda") == {
        "=ticket",
        "=ticket:pal-12",
        "=project",
        "=project:palimpsest",
        "=project:blue_door",
        "=project:长卷",
        "=person",
        "=person:zelda",
    }
    assert not rules.tags("palimpsests, bluedoor, xZelda")


def test_a_workspace_finds_by_its_own_kinds(workspace: Workspace, clock: FakeClock) -> None:
    workspace.root.mkdir(exist_ok=True)
    workspace.entities_yaml.write_text(RULES, encoding="utf-8")
    memory = Memory.open(workspace, clock)
    talk = Talk(memory)
    talk.say("PAL-12 is done.")
    talk.say("Something else is done.")
    assert talk.found(entities=("ticket",)) == ["PAL-12 is done."]
    assert talk.found(entities=("pal-12",)) == ["PAL-12 is done."]
    assert talk.found(entities=("ticket:PAL-12",)) == ["PAL-12 is done."]
    assert talk.found("done", entities=("project",)) == []
    memory.close()


def test_other_rules_are_another_version_and_found_anew(workspace: Workspace, clock: FakeClock) -> None:
    plain = Memory.open(workspace, clock)
    Talk(plain).say("PAL-12 is done.")
    assert plain.renewing.left() == 0
    plain.close()
    workspace.entities_yaml.write_text(RULES, encoding="utf-8")
    memory = Memory.open(workspace, clock)
    assert memory.renewing.left() == 1
    memory.renewing.run()
    assert memory.renewing.left() == 0
    assert Talk(memory).found(entities=("ticket",)) == ["PAL-12 is done."]
    memory.close()


def test_without_a_file_nothing_changes(tmp_path: Path) -> None:
    analyser = Analyser(tmp_path / "entities.yaml")
    assert "+" not in analyser.version
    assert "=ticket" not in unpack_terms(analyser("PAL-12").packed)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- a list", "must list kinds"),
        ("Ticket: {pattern: x}", "is not a valid kind"),
        ("type: {words: [x]}", "is not a valid kind"),
        ("ticket: x", "needs `pattern:` or `words:`"),
        ("ticket: {}", "neither a pattern nor words"),
        ("ticket: {patern: x}", "“patern”"),
        ("ticket: {pattern: '('}", "not a valid pattern"),
        ("ticket: {pattern: '" + "a" * 501 + "'}", "the maximum is 500"),
        ("ticket: {pattern: 'a*'}", "matches the empty text"),
        ("ticket: {words: [[x]]}", "is not text"),
        ("ticket: {words: ['" + "x" * 65 + "']}", "1 to 64 characters"),
        ("ticket: {words: [" + ", ".join(f"w{n}" for n in range(600)) + "]}", "are the most"),
    ],
)
def test_what_is_wrong_is_said(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(BrokenRules, match=words):
        parse_rules(text)
    path = tmp_path / "entities.yaml"
    path.write_text(text, encoding="utf-8")
    found = read_rules(path)
    assert words in found.problem
    assert not found.kinds


def test_a_file_that_is_no_yaml_tells_its_line(tmp_path: Path) -> None:
    path = tmp_path / "entities.yaml"
    path.write_text("a: 1\nb: [", encoding="utf-8")
    with pytest.raises(BadYaml):
        parse_rules("b: [")
    assert "line 2" in read_rules(path).problem


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_of_that_name_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "entities.yaml")
    assert "pipe" in read_rules(tmp_path / "entities.yaml").problem


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no endless device")
def test_a_device_of_that_name_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "entities.yaml").symlink_to("/dev/zero")
    assert "a place outside the workspace" in read_rules(tmp_path / "entities.yaml").problem


def test_a_slow_pattern_is_given_up_on() -> None:
    rules = parse_rules("slow: {pattern: 'a{1,9}a{1,9}a{1,9}b'}")
    rules.tags("a" * 100_000)  # the test's own limit of time is what a runaway meets


@given(st.text(max_size=80))
def test_no_file_breaks_it(text: str) -> None:
    with suppress(BadYaml, BrokenRules):
        parse_rules(text)
