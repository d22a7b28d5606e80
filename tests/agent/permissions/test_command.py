"""Which command lines a prefix rule allows, and which it denies."""

import pytest

from agent.permissions.command import allows
from agent.permissions.denied_command import Certainty, denies

PLAIN = [
    "git status",
    "git log --oneline -5",
    "git commit -m 'a; b && c'",
    'git commit -m "a | b"',
    "git diff && git status",
    "git log | git shortlog",
    "git add src/*.py",
]
PASSING = [
    "git add *.py",
    "git status; rm -rf x",
    "git status && rm x",
    "git status || rm x",
    "git log | sh",
    "git status & rm x",
    "git status\nrm x",
    "git $(rm x)",
    "git `rm x`",
    'git "$(rm x)"',
    "git <(rm x)",
    "git log > ~/.bashrc",
    "git log >> x",
    "git < x",
    "git ${IFS}x",
    "git $HOME",
    "GIT_PAGER='rm x' git log",
    "env git status",
    "sudo git status",
    "xargs git",
    "(git status)",
    "{ git status; }",
    "! git status",
    "git status # x",
    "git\\ status",
    "/tmp/git status",
    "./git status",
    "gi? status",
    "git* status",
    "gitx status",
    "'git status'",
    "bash -c 'git status'",
    "git status &&",
    "; git status",
    "git status\0",
    "git 'unclosed",
    "eval git status",
    "git status \\\n; rm x",
    "git {a,b}",
    "git ~/x",
    "git !!",
    "git [a](b)",
    "",
]


@pytest.mark.parametrize("line", PLAIN)
def test_a_prefix_allows_plain_commands(line: str) -> None:
    assert allows("git *", line)


@pytest.mark.parametrize("line", PASSING)
def test_a_prefix_allows_nothing_else(line: str) -> None:
    assert not allows("git *", line)


def test_a_pattern_without_a_star_is_the_whole_command() -> None:
    assert allows("git status", "git status")
    assert not allows("git status", "git status -s")
    assert allows("make > log", "make > log")


def test_words_are_compared_and_not_letters() -> None:
    assert not allows("git sta *", "git status")
    assert allows("git 'status' *", 'g"it" status -s')


@pytest.mark.parametrize("line", ["ls && rm -rf x", "rm x > y", "ls | rm x", "FOO=1; rm x"])
def test_a_rule_that_denies_looks_at_each_command(line: str) -> None:
    assert denies("rm *", line) is Certainty.YES
