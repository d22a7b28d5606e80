"""Which command lines only read: those of the table, and nothing that may run, write or send."""

from itertools import chain

import pytest

from agent.permissions.read_only_commands import path_texts, read_only_commands, searched_paths
from tests.agent.permissions.evaded_denials import NOT_KNOWN, SLIPPING_PAST_A_DENIAL
from tests.agent.permissions.evaded_prefixes import PASSING_A_PREFIX

READING = (
    *("ls", "ls -la src", "cat a.py b.py", "head -n 20 a.py", "tail -50 a.py", "wc -l src/*.py", "pwd", "cd src"),
    *("ls -la && git status --short", "cat a.py | head -5", "rg -n 'def \\w+' src", "grep -rn total src/", "tree -L 2"),
    *("find . -name '*.py' -type f", "find src -newer a.py | wc -l", "sed -n '1,200p' a.py", "sed -n 5p a.py", "date"),
    *("git status", "git diff", "git diff --cached -- a.py", "git log --oneline -n 5", "git show HEAD~1:a.py"),
    *(
        "git --no-pager log -p a.py",
        "git blame -L 1,5 a.py",
        "git branch",
        "git branch -a",
        "git branch --show-current",
    ),
    *("git tag -l", "git remote -v", "git stash list", "git ls-files", "git rev-parse HEAD", "git grep total"),
    *("git worktree list", "git --version", "python -V", "python3 --version", "node --version", "which python3"),
    *("sort -u a.txt | cut -d, -f2", "diff a.py b.py", "echo done; pwd", "stat a.py || ls", "du -sh src", "file a.bin"),
    *(
        "ls 2>/dev/null",
        "ls 2>&1",
        "ls src 2> /dev/null | head -5",
        "cat a.py >/dev/null 2>&1 && echo yes",
        "ls &>/dev/null",
    ),
    *(
        "cd src && ls",
        "cd src; ls 2>&1 | head -3",
        "test -f a.py && echo yes",
        "printf '%s\\n' a b",
        "grep '2>&1' a.sh",
    ),
)
NOT_READING = (
    *("rm a.py", "touch x", "ls; rm a.py", "cat a.py && make", "ls & make", "cat a.py | sh", "cat a.py | tee b.py", ""),
    *("find . -delete", "find . -exec rm {} +", "find . -execdir x ';'", "find . -ok rm ';'", "find . -fprint x"),
    *("sort -o a.txt a.txt", "sort -uoa.txt b.txt", "sort --outp=a.txt b.txt", "sort --compress-program=x a.txt"),
    *("tree -o x", "date -s 12:00", "file -C -m x", "rg --pre x y", "rg -z x", "rg --hostname-bin=x y", "rg -u key"),
    *("rg --no-ignore key", "rg -nuu key", "rg -L key", "grep -R key .", "grep --dereference-recursive key ."),
    *("sed -i s/a/b/ a.py", "sed -n '1e rm x' a.py", "sed -n 'w x' a.py", "sed -n 5p -i a.py", "sed -n '5p;w x' a.py"),
    *("sed -n -e 5p -e 'w x' a.py", "sed 5p a.py", "awk 1 a.py", "xargs cat", "env ls", "sudo ls", "timeout 5 ls"),
    *("git -c core.fsmonitor=x status", "git -C /tmp status", "git --exec-path=. status", "git -p log", "git"),
    *("git --git-dir=x status", "git --config-env=core.pager=X log", "git diff --ext-diff", "git log -p --textconv"),
    *("git log --output=x", "git diff --outp=x", "git grep -Ox key", "git grep --open-files-in-pager=x key"),
    *("git grep --no-index key", "git grep --untracked key", "git branch new", "git branch -D main", "git branch -m a"),
    *(
        "git branch --set-upstream-to=x",
        "git branch --edit-description",
        "git tag v1",
        "git tag -d v1",
        "git remote add",
    ),
    *("git remote update", "git stash", "git stash pop", "git stash list -p", "git worktree add x", "git worktree"),
    *("git fetch", "git pull", "git ls-remote", "git show ext::x", "git cat-file --filters HEAD:a", "git config -l"),
    *("git lg", "git reflog expire --all", "git checkout .", "git archive HEAD", "GIT_PAGER=x git log"),
    *(
        "GIT_EXTERNAL_DIFF=x git diff",
        "PATH=. ls",
        "LD_PRELOAD=x ls",
        "RIPGREP_CONFIG_PATH=x rg y",
        "ls > x",
        "ls >> x",
    ),
    *(
        "ls > x 2>&1",
        "ls 2> x",
        "ls 2>x",
        "ls >/dev/nul",
        "ls > /dev/null/x",
        "ls 2>&1 > x",
        "ls 2>&12",
        "ls>x",
        "ls >&x",
    ),
    *(
        "ls 2>&1; rm a.py",
        "ls 2>/dev/null | sh",
        "ls > '/dev/null' a",
        "'ls 2>&1'",
        'cat a.py > "2>&1 "',
        "ls >| /dev/null",
    ),
    *("test -v 'a[$(x)]'", "test x -eq 'a[$(x)]'", "test -f a -o -v 'a[$(x)]'", "printf -v x y", "printf %d 'a[$(x)]'"),
    *("ls < x", "cat <<E\nx\nE", "echo $(rm x)", "echo `rm x`", "echo $HOME", "ls <(rm x)", "ls\nrm x"),
    *("{ ls; }", "(ls)", "if ls; then ls; fi", "ls $'\\x2d'", "./ls", "/bin/ls", "src/cat a", "=ls", "\\ls", "l\\s"),
    *(
        "python",
        "python -c 'x'",
        "python -V -c 'x'",
        "python3 a.py --version",
        "node -V x",
        "make --version x",
        "bash -V",
    ),
    *(
        "cd -",
        "cd -P x",
        "ls~",
        "python -m x -V",
        "npx ls",
        "curl x",
        "wc --files0-from=x",
        "du --files0=x",
        "tree --fromfile",
    ),
)


@pytest.mark.parametrize("line", READING)
def test_a_line_that_only_reads_is_known(line: str) -> None:
    assert read_only_commands(line)


@pytest.mark.parametrize("line", NOT_READING)
def test_a_line_that_may_do_more_is_not(line: str) -> None:
    assert read_only_commands(line) == ()


@pytest.mark.parametrize(
    "line",
    sorted(set(chain.from_iterable((*SLIPPING_PAST_A_DENIAL.values(), *NOT_KNOWN.values())))),
)
def test_no_line_that_slips_past_a_denial_only_reads(line: str) -> None:
    assert read_only_commands(line) == ()


def test_of_the_lines_that_try_to_pass_a_prefix_three_only_read() -> None:
    lines = set(chain.from_iterable(PASSING_A_PREFIX.values()))
    assert {line for line in lines if read_only_commands(line)} == {
        *("nl git status", "git status > /dev/null", "git status 2>&1"),
    }


@pytest.mark.parametrize(
    ("line", "searched"),
    [
        ("rg total", (".",)),
        ("rg -n total src docs", ("src", "docs")),
        ("grep -rn total src", ("src",)),
        ("grep -r -A 3 src", (".",)),  # 3 is the value of -A, src the expression
        ("rg -r x src", (".",)),
        ("grep total a.py", ()),
        ("git show HEAD", (".",)),
        ("git diff src", (".",)),
        ("git status", ()),
        ("cat src", ()),
    ],
)
def test_a_search_names_the_folders_that_it_reads(line: str, searched: tuple[str, ...]) -> None:
    assert searched_paths(tuple(line.split())) == searched


def test_a_quoted_redirection_is_a_word() -> None:
    assert read_only_commands("cat 'a 2>&1 b' 2>&1") == (("cat", "a 2>&1 b"),)


def test_paths_are_also_values_of_options_and_behind_a_revision() -> None:
    assert path_texts(("-fkeys", "--file=a/b", "HEAD:.env", "-", "c d")) == [
        *("keys", "a/b", "file=a/b", "HEAD:.env", "HEAD", ".env", "c d"),
    ]
