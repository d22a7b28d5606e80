"""Which command lines a prefix rule allows, and which it denies."""

import pytest

from agent.permissions.command import command_matches, parse_command

PLAIN = [
    "git status",
    "git log --oneline -5",
    "git commit -m 'a; b && c'",
    'git commit -m "a | b"',
    "git diff && git status",
    "git log | git shortlog",
    "git add *.py",
]
PASSING = [
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
    assert command_matches("git *", line, whole=True)


@pytest.mark.parametrize("line", PASSING)
def test_a_prefix_allows_nothing_else(line: str) -> None:
    assert not command_matches("git *", line, whole=True)


def test_a_pattern_without_a_star_is_the_whole_command() -> None:
    assert command_matches("git status", "git status", whole=True)
    assert not command_matches("git status", "git status -s", whole=True)
    assert command_matches("make > log", "make > log", whole=True)


def test_words_are_compared_and_not_letters() -> None:
    assert not command_matches("git sta *", "git status", whole=True)
    assert command_matches("git 'status' *", 'g"it" status -s', whole=True)


@pytest.mark.parametrize("line", ["ls && rm -rf x", "rm x > y", "ls | rm x", "FOO=1; rm x"])
def test_a_rule_that_denies_looks_at_each_command(line: str) -> None:
    assert command_matches("rm *", line, whole=False)


def test_what_cannot_be_judged_is_opaque() -> None:
    assert parse_command("git status").is_opaque is False
    assert parse_command("git $(x)").is_opaque
