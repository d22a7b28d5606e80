"""Commands that delete or overwrite files: they ask in the mode auto, however they are written."""

import pytest
from msgspec import structs

from agent.permissions.action import Access, Action
from agent.permissions.destructive_commands import destroys
from agent.permissions.mode import PermissionMode
from agent.permissions.policy import Policy
from agent.permissions.rules import RuleSet, Verdict, parse_rule
from tests.agent.permissions.evaded_denials import SLIPPING_PAST_A_DENIAL

THERE = {"a.py", "店.txt", "notes 👩\u200d💻"}

DESTROYS = (
    *(
        "rm a.py",
        "rm -rf build",
        "rm -r x -f",
        "r''m a.py",
        "\\rm a.py",
        "/bin/rm x",
        "ls; rm x",
        "ls\nrm x",
        "A=b rm x",
    ),
    *(
        "sudo rm x",
        "env rm x",
        "xargs rm",
        "sh -c 'rm x'",
        'bash -c "rm x"',
        "echo $(rm x)",
        "echo `rm x`",
        "time rm x",
    ),
    *("if true; then rm x; fi", "for f in *; do rm $f; done", "find . -delete", "find . -exec rm {} +", "busybox rm x"),
    *("eval 'rm x'", "echo rm x | sh", "sh <<< 'rm x'", "sh <<EOF\nrm x\nEOF", "$(echo rm) x", "$RM x", "X=rm; $X x"),
    *("unlink x", "shred x", "truncate -s 0 x", "dd of=x", "git reset --hard", "git reset --hard HEAD~1"),
    *("git -C sub reset --hard", "git reset -q --hard", "git clean -fd", "git clean -f -d -x", "git checkout -- ."),
    *("git checkout .", "git checkout -f main", "git checkout a.py", "git checkout HEAD~1 a.py", "git restore a.py"),
    *("git restore --staged --worktree a.py", "git restore -SW a.py", "git switch --discard-changes main"),
    *("git stash drop", "git stash clear", "git branch -D topic", "git rm a.py", "git worktree remove w"),
    *("echo x > a.py", "echo x >a.py", "echo x >| a.py", "echo x &> a.py", "> a.py", ": > 店.txt", "echo x 1> a.py"),
    *(
        "echo x > 'notes 👩\u200d💻'",
        "cd src && echo x > new.py",
        "echo x > $F",
        "sh -c 'echo x > a.py'",
        "echo $(> a.py)",
    ),
    *(
        "cp new.py a.py",
        "mv new.py a.py",
        "tee a.py",
        "echo x | tee new a.py",
        "ln -sf x a.py",
        "rsync -a --delete a b",
    ),
    *("python3 -c 'import shutil; shutil.rmtree(\"x\")'", "node -e 'fs.rmSync(\"x\")'", "perl -e 'unlink \"x\"'"),
    *("nohup rm x &", "(rm x)", "{ rm x; }", "! rm x", "true && rm x", "rm\t-rf x", "ba\\sh -c 'r\\m x'"),
)
KEEPS = (
    *("ls -l", "git status", "git diff > /dev/null", "pytest -q > out.txt 2>&1", "echo x >> a.py", "cat < a.py"),
    *("git reset HEAD a.py", "git clean -n", "git restore --staged a.py", "git checkout main", "git checkout -b topic"),
    *(
        "cp a.py new.py",
        "cp -n x a.py",
        "mv a.py new.py",
        "tee -a a.py",
        "make",
        "python3 -m pytest",
        "echo 'rm -rf x'",
    ),
    *("git commit -m 'rm old > a.py'", "find . -name '*.rm'", "grep -r rm .", "git log -- a.py", "cargo build 2>&1"),
    *("echo x 1>&2", "git stash", "mkdir -p build", "touch a.py", "sed -n 1p a.py", "docker run --rm image"),
)


@pytest.mark.parametrize("line", DESTROYS)
def test_a_command_that_destroys_is_known(line: str) -> None:
    assert destroys(line, THERE.__contains__)


@pytest.mark.parametrize("line", KEEPS)
def test_other_commands_are_not_taken_for_one(line: str) -> None:
    assert not destroys(line, THERE.__contains__)


@pytest.mark.parametrize("line", SLIPPING_PAST_A_DENIAL["git push *"])
def test_what_cannot_slip_past_a_denial_cannot_here(line: str) -> None:
    line = line.replace("git push", "rm x")
    assert "rm x" not in line or "=.rm" in line or destroys(line, THERE.__contains__)


def test_it_asks_in_auto_unless_a_rule_allows_it() -> None:
    line = "rm -rf build"
    action = Action(tool="run_command", access=Access.RUN, summary=f"run {line}", subject=line, destroys=True)
    auto = Policy(RuleSet(), PermissionMode.AUTO, sandboxed=True)
    decision = auto.decide(action)
    assert decision.verdict is Verdict.ASK and "which /undo cannot restore" in decision.reason
    assert not decision.asks_always
    assert auto.decide(structs.replace(action, destroys=False)).verdict is Verdict.ALLOW
    auto.rules.add(parse_rule(Verdict.ALLOW, "run_command(rm -rf build)"))
    assert auto.decide(action).verdict is Verdict.ALLOW


@pytest.mark.parametrize("mode", [PermissionMode.ASK, PermissionMode.EDIT, PermissionMode.AUTO])
def test_each_question_says_what_cannot_be_undone(mode: PermissionMode) -> None:
    line = "rm -rf ./sub"
    action = Action(tool="run_command", access=Access.RUN, summary=f"run {line}", subject=line, destroys=True)
    rules = RuleSet((parse_rule(Verdict.ASK, "run_command(rm *)"),))
    for policy in (Policy(RuleSet(), mode, sandboxed=True), Policy(rules, mode, sandboxed=True)):
        for tainted in ("", "https://example.org/"):
            decision = policy.decide(action, tainted=tainted)
            assert decision.verdict is Verdict.ASK
            assert decision.reason.endswith("It deletes or overwrites files, which /undo cannot restore.")
    kept = Policy(RuleSet(), PermissionMode.ASK).decide(structs.replace(action, destroys=False))
    assert "/undo" not in kept.reason
