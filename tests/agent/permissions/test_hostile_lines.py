"""A denied command in what another program is given, and options of programs of which the dialog offers prefixes."""

import random
import re
import string
from collections.abc import Iterator

import pytest

from agent.permissions.command import allows, suggested_prefix
from agent.permissions.denied_command import Certainty, denies
from agent.permissions.programs import PROGRAMS
from tests.agent.permissions.hostile_lines import DENIED_IN_ARGUMENTS, PREFIXES_THAT_RUN

DENIED = {
    "git push *": "git push origin",
    "rm -rf *": "rm -rf /srv",
    "curl *": "curl https://x.example",
    "npm publish *": "npm publish --access public",
    "kubectl delete *": "kubectl delete pod p",
    "docker system prune *": "docker system prune -a",
    "terraform destroy": "terraform destroy",
}
GIVEN = (
    *("{name} {line}", "{name} '{line}'", '{name} -c "{line}"', "{name} run -- {line}", "{name} --exec='{line}'"),
    *(
        "{name} -x{line}",
        "{name} <<< '{line}'",
        "{name} - <<E\n{line}\nE",
        "echo '{line}' | {name}",
        "X='{line}' {name} x",
    ),
    *("printf '%s\\n' \"{line}\" | {name} -f -", "ls && {name} a {line}", "{name} a,{line}", "cd x; {name} exec {cut}"),
    *(
        "sudo {name} {line}",
        "timeout 5 {name} '{line}'",
        "{name} /usr/bin/{line}",
        "echo $({name} {line})",
        "{name} {gaps}",
    ),
)
"""How a program that the table does not have may be given a command."""

REAL = (
    "uv", "poetry", "npx", "hyperfine", "perf", "valgrind", "xonsh", "dc", "at", "docker", "nix-shell", "./x.sh",
    "../ls", "/tmp/git-run", "ld.so", "just", "watchexec", "ssh", "gh", "mise", "make", "strace",
)  # fmt: skip


def given(count: int) -> Iterator[tuple[str, str]]:
    """Rules, and lines that give the denied command to another program, the same in every run."""
    chance = random.Random(7)
    for _ in range(count):
        rule, line = chance.choice(list(DENIED.items()))
        made_up = "".join(chance.choices(string.ascii_lowercase, k=chance.randint(3, 9)))
        name = chance.choice([*REAL, made_up, f"./{made_up}.sh", f"/opt/{made_up}"])
        cut = re.sub(r"(\w)(\w+)", lambda word: f"{word[1]}''{word[2]}", line, count=1)
        form = chance.choice(GIVEN)
        yield rule, form.format(name=name, line=line, cut=cut, gaps=line.replace(" ", " --opt  "))


@pytest.mark.parametrize("line", DENIED_IN_ARGUMENTS)
def test_a_denied_command_that_another_program_is_given_asks(line: str) -> None:
    assert denies("git push *", line) >= Certainty.MAYBE


def test_the_lines_of_the_hostile_test_are_all_there() -> None:
    assert len(set(DENIED_IN_ARGUMENTS)) >= 85 and len(set(PREFIXES_THAT_RUN)) >= 25


@pytest.mark.parametrize("count", [60, pytest.param(6_000, marks=pytest.mark.soak)])
def test_a_denied_command_given_to_any_unknown_program_asks(count: int) -> None:
    passing = [(rule, line) for rule, line in given(count) if denies(rule, line) is Certainty.NO]
    assert not passing, (len(passing), passing[:10])


@pytest.mark.parametrize(
    "line",
    [
        *(
            "git commit -m 'git push later'",
            "grep -rn 'git push' docs",
            "rg 'git push' -g '*.md'",
            "echo git push >> log.txt",
        ),
        *(
            "cat notes.txt | grep 'git push'",
            "ls && git log --grep='git push'",
            "mv 'git push' x",
        ),
        *(
            "uv run pytest -q",
            "docker ps && npm test",
            "npx eslint src",
            "make -C lib all",
            "./build.sh --push",
            "cargo build",
        ),
        *(
            "npm i push-git",
            "docker pull x/git-push-helper",
            "git log --oneline -5 | head",
            "git stash push",
            "git clone x",
            "git bisect start",
            "git config x",
            "python3 x.py",
        ),
    ],
)
def test_what_names_it_without_running_it_is_not_denied(line: str) -> None:
    assert denies("git push *", line) is Certainty.NO


@pytest.mark.parametrize(("pattern", "line"), PREFIXES_THAT_RUN)
def test_no_prefix_allows_what_runs_loads_or_writes(pattern: str, line: str) -> None:
    assert not allows(pattern, line)
    assert suggested_prefix(line) != pattern


@pytest.mark.parametrize(
    "line", ["python3 -m unittest evil", "gcc x.c", "make test", "foo --bar", "rsync a b", "find ."]
)
def test_of_a_program_that_is_not_offered_only_the_whole_line_is(line: str) -> None:
    assert suggested_prefix(line) == ""


def test_no_prefix_is_offered_of_a_program_that_the_table_lacks() -> None:
    chance = random.Random(7)
    for _ in range(300):
        name = "".join(chance.choices(string.ascii_lowercase + "-.", k=chance.randint(1, 9)))
        assert name in PROGRAMS or suggested_prefix(f"{name} test x") == ""


def spellings(option: str) -> set[str]:
    """An option as programs take it: in kebab and camel case, with one hyphen, in capitals, with its value."""
    name = option.lstrip("-")
    kebab = re.sub(r"(?<=[a-z])([A-Z])", r"-\1", name).casefold()
    camel = re.sub(r"-(\w)", lambda letter: letter[1].upper(), name)
    forms = {option, f"--{kebab}", f"--{camel}", f"--{camel.casefold()}", f"{option.upper()}"}
    return forms | {f"{form}=./evil" for form in forms}


CODE = (
    *(
        "config-file",
        "plugin",
        "require",
        "script-shell",
        "exec-argv",
        "output-file",
        "out-dir",
        "cache-dir",
        "python-path",
    ),
    *("global-setup", "custom-resolver", "reporter", "registry", "index-url", "server", "proxy", "loader", "root-dir"),
    *(
        "test-environment",
        "transform",
        "template-dir",
        "log-file",
        "profile-output",
        "target-dir",
        "pre-hook",
        "module-path",
    ),
)
"""Names that options which run, load, write or name a server have, in programs of any kind."""


def test_in_whatever_spelling_such_an_option_voids_an_offered_prefix() -> None:
    tried, passing = 0, list[str]()
    for name, program in PROGRAMS.items():
        for words in program.prefixes if program.options else []:
            prefix = " ".join([name, *("x" if word == "+" else word for word in words)])
            listed = [word for word in program.options.split() if word.startswith("--")]
            for option in [*listed, *(f"--{each}" for each in CODE)]:
                lines = [f"{prefix} {form} x" for form in spellings(option)]
                tried += len(lines)
                passing += [line for line in lines if allows(f"{prefix} *", line) or suggested_prefix(line)]
            assert allows(f"{prefix} *", f"{prefix} a.py -z") or "-z" in program.options
    assert tried > 300
    assert not passing, (len(passing), tried, passing[:20])


@pytest.mark.parametrize(
    "line",
    [
        *("pytest -q -x -k 'a and b' --lf --tb=short --maxfail=2 tests", "mypy --strict --ignore-missing-imports src"),
        *(
            "ruff check --fix --select E --output-format=github .",
            "git diff --cached --stat",
            "git log --oneline --graph -5",
        ),
        *(
            "git status --short --branch",
            "git show --name-only HEAD",
            "rg --files --hidden",
            "rg -l --files-with-matches x",
        ),
        *(
            "tsc --noEmit --strict",
            "eslint --fix --ext .ts src",
            "jest --watchAll=false --verbose --coverage",
            "vitest --run --bail 1",
        ),
        *("cargo test --release --workspace --all-targets", "go test -race -count=1 ./...", "npm ls --depth 0 --json"),
        *(
            "npm outdated @types/node",
            "git diff @ --stat",
            "kubectl get pods -n x -o json",
            "gh pr list --limit 5 --json title",
        ),
        *(
            "docker ps -a --format x",
            "pip list --outdated --format json",
            "pylint --disable=all a.py",
            "basedpyright --level error",
        ),
        *(
            "tree -L 2 --dirsfirst",
            "ls --group-directories-first",
            "git commit --no-verify --amend -m x",
            "uv tree --depth 1",
        ),
    ],
)
def test_what_is_done_every_day_holds(line: str) -> None:
    prefix = suggested_prefix(line)
    assert prefix and allows(prefix, line), prefix
