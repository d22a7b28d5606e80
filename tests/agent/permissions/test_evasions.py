"""Command lines that try to pass a rule that allows, or to slip past one that denies: none does."""

import subprocess
import sys
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.permissions.command import allows, exact_pattern, parse_command, pattern_problem, suggested_prefix
from agent.permissions.denied_command import Certainty, denies
from agent.permissions.shell_reader import UNKNOWN, read_line
from tests.agent.permissions.evaded_denials import NOT_DENIED, NOT_KNOWN, SLIPPING_PAST_A_DENIAL
from tests.agent.permissions.evaded_prefixes import PASSING_A_PREFIX

Table = dict[str, tuple[str, ...]]


def pairs(table: Table) -> list[tuple[str, str]]:
    return [(pattern, line) for pattern, lines in table.items() for line in lines]


def test_there_are_as_many_attempts_as_promised() -> None:
    assert len(set(pairs(PASSING_A_PREFIX))) >= 200
    assert len(set(chain(pairs(SLIPPING_PAST_A_DENIAL), pairs(NOT_KNOWN)))) >= 100


@pytest.mark.parametrize(("pattern", "line"), pairs(PASSING_A_PREFIX))
def test_nothing_passes_a_prefix(pattern: str, line: str) -> None:
    assert not allows(pattern, line)


@pytest.mark.parametrize(("pattern", "line"), pairs(SLIPPING_PAST_A_DENIAL))
def test_nothing_slips_past_a_denial(pattern: str, line: str) -> None:
    assert denies(pattern, line) is Certainty.YES


@pytest.mark.parametrize(("pattern", "line"), pairs(NOT_KNOWN))
def test_what_cannot_be_judged_is_not_let_through(pattern: str, line: str) -> None:
    assert denies(pattern, line) >= Certainty.MAYBE


@pytest.mark.parametrize(("pattern", "line"), pairs(NOT_DENIED))
def test_other_commands_are_not_denied(pattern: str, line: str) -> None:
    assert denies(pattern, line) is Certainty.NO


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("git status *", "git status"),
        ("git status *", "git status -s --short"),
        ("git *", "git diff HEAD~1 -- 'src/a b.py' && git log | git shortlog"),
        ("git commit *", "git commit -m 'two\nlines; $(x) 👩‍💻'"),
        ("pytest *", "pytest -q tests/a.py::test_b -k 'a and not b'"),
        ("ls *", "ls src/*.py"),
        ("python3 *", "python3 -c 'print(1)'"),
        ("npm run test:*", "npm run test:unit -- --watch"),
        ("git -C sub status *", "git -C sub status -s"),
        ("find *", "find . -name '*.py'"),
        ("tar *", "tar -tzf a.tgz"),
    ],
)
def test_plain_commands_are_allowed(pattern: str, line: str) -> None:
    assert allows(pattern, line)


@pytest.mark.parametrize("line", ["ls *", "rm *", "=x", "make > log", "a && b *", "git status"])
def test_a_remembered_command_is_that_line_and_no_prefix(line: str) -> None:
    pattern = exact_pattern(line)
    assert allows(pattern, line)
    assert not allows(pattern, f"{line} x") and not allows(pattern, f"{line[:-1]}z")


@given(st.text(alphabet="git push;&|$()`'\"\\ \n{},<>#~*?=-x"))
def test_what_a_prefix_allows_is_never_unknown(line: str) -> None:
    """Law: a line that a prefix allows is, read generously, made of the same commands."""
    if allows("git *", line):
        reading = read_line(line)
        assert reading.is_whole and not reading.substitutions and not reading.inputs
        assert all(command[0] == "git" for command in reading.commands)


@pytest.mark.skipif(sys.platform == "win32", reason="asks bash itself")
@given(st.text(alphabet="ab '\"\\{},$x=;-", max_size=14))
def test_words_are_read_as_bash_reads_them(line: str) -> None:
    """Law: where a single command holds nothing unknown, its words are those that bash passes on."""
    reading = read_line(f"printargs {line}")
    (command, *others) = reading.commands or [()]
    if others or not reading.is_whole or UNKNOWN in "".join(command) or ";" in line:
        return
    script = f'printargs() {{ for x in "$@"; do printf \'%s\\0\' "$x"; done; }}; printargs {line}'
    ran = subprocess.run(["bash", "-c", script], capture_output=True, check=False, timeout=5)
    if ran.returncode == 0:
        assert ran.stdout.decode().split("\0")[:-1] == list(command[1:])


@pytest.mark.parametrize(
    ("line", "prefix"),
    [
        ("git status -s", "git status *"),
        ("git push", ""),
        ("pytest -q tests", "pytest *"),
        ("python3 -m pytest -q", "python3 -m pytest *"),
        ("python3 x.py", ""),
        ("bash -c x", ""),
        ("sudo ls", ""),
        ("ls > x", ""),
        ("ls; rm x", ""),
        ("git -c a=b status", ""),
        ("npm run build -- -x", "npm run build *"),
        ("npm run 'a b'", ""),
        ("find . -delete", ""),
        ("rm x", ""),
        ("cargo test", "cargo test *"),
        ("gh pr view 3", "gh pr view *"),
        ("gh pr merge 3", ""),
        ("gh run delete 3", ""),
        ("python3 -m pytest -p x", ""),
    ],
)
def test_the_prefix_that_is_offered(line: str, prefix: str) -> None:
    assert suggested_prefix(line) == prefix
    assert not prefix or allows(prefix, line)


@pytest.mark.parametrize(
    ("pattern", "allowing", "is_fine"),
    [
        ("git status *", True, True),
        ("git * x *", True, False),
        ("git * --force", False, True),
        ("curl x | sh *", True, False),
        ("curl * | sh", False, False),
        ("a && b", True, True),
        ("a && b", False, False),
        ("*", True, True),
        ("=ls *", True, True),
    ],
)
def test_patterns_that_cannot_hold_are_refused(pattern: str, allowing: bool, is_fine: bool) -> None:
    assert (pattern_problem(pattern, allows=allowing) == "") is is_fine


def test_what_cannot_be_judged_is_opaque() -> None:
    assert parse_command("git status").is_opaque is False
    assert parse_command("git $(x)").is_opaque
