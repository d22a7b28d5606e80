"""No hook runs code of the project that changed since it was trusted, whatever its command line looks like."""

import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from agent.config.powers import workspace_powers
from agent.hooks.command_files import CommandFiles
from agent.hooks.hooks import SessionHooks
from agent.hooks.scripts import HookScripts, ScriptStore
from agent.hooks.settings import HookCommand, HookMatcher, HookSettings
from agent.services.trust import trust_scripts
from foundation.paths import Workspace, config_dir

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a POSIX shell"),
    pytest.mark.timeout(120),
]

NOTED = [
    "sh tools/check.sh",
    "./tools/check.sh",
    'sh "$CLAUDE_PROJECT_DIR"/tools/check.sh',
    "cd tools && ./check.sh",
    'cd "$CLAUDE_PROJECT_DIR/tools" && sh ./check.sh',
    "python3 -m tools.check",
    'PYTHONPATH=tools python3 -c "import check"',
    "for f in tools/*.sh; do sh $f; done",
    "d=tools; $d/check.sh",
    "find tools -name '*.sh' -exec sh {} ';'",
    "run-parts tools",
    "make check",
    "npm run lint",
]
"""Lines that the hostile test of 0.3.2 tried."""
FORMS = [
    *NOTED,
    "bash -c 'cd tools; ./check.sh'",
    "sh < tools/check.sh",
    "cat tools/check.sh | sh",
    ". tools/check.sh",
    ". ./tools/check.sh; true",
    'eval "sh tools/check.sh"',
    "sh -c 'sh tools/check.sh'",
    "PATH=tools:$PATH check.sh",
    "env PATH=tools:/usr/bin:/bin check.sh",
    "echo tools/check.sh | xargs sh",
    "ls tools/*.sh | xargs -n1 sh",
    "$(echo sh tools/check.sh)",
    "`echo tools/check.sh`",
    "x() { sh tools/$1; }; x check.sh",
    "if true; then sh tools/check.sh; fi",
    "sh tools/ch?ck.sh",
    "sh tools/{check,none}.sh",
    "sh $PWD/tools/check.sh",
    "(cd tools; sh check.sh)",
    "test -v 'a[$(sh tools/check.sh)]'",
    "bash <<X\nsh tools/check.sh\nX",
    "python3 tools/check.py",
    "python3 tools",
    "python3 top.py",
    'python3 -c "import tools.check"',
    "env python3 tools/check.py",
    "timeout 20 sh tools/check.sh",
    "nice sh tools/check.sh",
    "cp tools/check.sh OUTSIDE/copy.sh && sh OUTSIDE/copy.sh",
    "cat tools/check.sh > OUTSIDE/copy.sh; sh OUTSIDE/copy.sh",
    "ENV=tools/check.sh sh -i -c true",
    "BASH_ENV=tools/check.sh bash -c true",
    "sh -x ./tools/../tools/check.sh",
    "tools/linked.sh",
    "sh OUTSIDE/linked.sh",
    "perl -e 'do \"./tools/check.pl\"'",
    "sh tools/sub/../check.sh",
    "awk 'BEGIN { system(\"sh tools/check.sh\") }'",
    "git -c alias.x='!sh tools/check.sh' x",
    "trap 'sh tools/check.sh' EXIT",
    "node tools/check.js",
    "tools/main.py",
    "[ -x tools/check.sh ] && tools/check.sh",
    "env -i sh tools/check.sh",
    "sh tools/caller.sh",
    "./caller.py",
]
CHANGES: dict[str, Callable[[Path, str, str], None]] = {
    "written": lambda path, _, new: _write(path, new),
    "renamed over": lambda path, _, new: (_write(path.with_name("new"), new), path.with_name("new").replace(path))[0],
    "same size and time": lambda path, _, new: _disguised(path, new),
}


def _write(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _disguised(path: Path, text: str) -> None:
    before = path.stat()
    assert len(text.encode()) == before.st_size
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


class Project:
    """A project with code in many forms, all of which append a word to a file outside."""

    def __init__(self, folder: Path) -> None:
        self.root, self.outside = folder / "project", folder / "outside"
        (self.root / "tools" / "sub").mkdir(parents=True)
        self.outside.mkdir()
        self.log = self.outside / "log"
        for name in self.texts("one"):
            _write(self.root / name, self.texts("one")[name])
        (self.root / "tools/linked.sh").symlink_to("check.sh")
        (self.outside / "linked.sh").symlink_to(self.root / "tools/check.sh")
        (self.root / "top.py").write_text("import tools.check\n")
        _write(self.root / "caller.py", "#!/usr/bin/env python3\nimport tools.check\n")
        _write(self.root / "tools/main.py", "#!/usr/bin/env python3\nimport check\n")
        _write(self.root / "tools/caller.sh", "#!/bin/sh\n. tools/check.sh\n")

    def texts(self, word: str) -> dict[str, str]:
        shell = f"#!/bin/sh\necho {word} >> {self.log}\n"
        python = f"with open({str(self.log)!r}, 'a') as log:\n    print({word!r}, file=log)\n"
        return {
            "tools/check.sh": shell,
            "tools/parts": shell,
            "tools/check.py": python,
            "tools/__main__.py": python,
            "tools/check.js": f"require('fs').appendFileSync('{self.log}', '{word}\\n');\n",
            "tools/check.pl": f"system('echo {word} >> {self.log}');\n",
            "Makefile": f"check:\n\techo {word} >> {self.log}\n",
            "package.json": f'{{"scripts": {{"lint": "echo {word} >> {self.log}"}}}}',
        }

    def settings(self, line: str, watch: Literal["project", "named"] = "project") -> HookSettings:
        hook = HookCommand(line.replace("OUTSIDE", str(self.outside)), watch=watch)
        return HookSettings(stop=(HookMatcher((hook,)),))

    def session(self, line: str, watch: Literal["project", "named"] = "project") -> SessionHooks:
        settings = self.settings(line, watch)
        return SessionHooks(settings, os.environ, self.root, conversation=lambda: "", mode=lambda: "ask")

    def ran(self, hooks: SessionHooks) -> str:
        """The words that the run of the hook wrote."""
        self.log.unlink(missing_ok=True)
        hooks.after_answer("x")
        return " ".join(dict.fromkeys(self.log.read_text().split())) if self.log.exists() else ""


def _check(folder: Path, line: str, change: str) -> bool:
    """Changes the code and asserts that the hook does not run. Whether the unchanged code ran, as it should."""
    project = Project(folder)
    hooks = project.session(line)
    works = project.ran(hooks) == "one"
    for name, text in project.texts("two").items():
        CHANGES[change](project.root / name, "", text)
    assert "two" not in project.ran(hooks), (line, change)
    assert "two" not in project.ran(project.session(line)), (line, change, "later session")
    if works:
        assert "changed since it was trusted" in " ".join(hooks.take_notices()), line
        trust_scripts(project.root, os.environ)
        assert project.ran(project.session(line)) == "two", (line, change, "trusted")
    return works


@pytest.mark.parametrize("line", NOTED)
def test_a_line_of_the_hostile_test_runs_no_changed_code(tmp_path: Path, line: str) -> None:
    works = _check(tmp_path, line, "written")
    assert works or shutil.which(line.split(maxsplit=1)[0]) is None or line.startswith("run-parts")


def test_forms_of_lines_and_changes_run_no_changed_code(tmp_path: Path) -> None:
    """40 of all combinations; `make soak` tries the others."""
    cases = [(line, change) for line in FORMS for change in CHANGES]
    chosen = random.Random(37).sample(cases, 40)
    worked = [_check(tmp_path / str(number), *case) for number, case in enumerate(chosen)]
    assert sum(worked) > 30, "the lines have to run what they name"


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("change", CHANGES)
def test_all_forms_of_lines_run_no_changed_code(tmp_path: Path, change: str) -> None:
    worked = [_check(tmp_path / str(number), line, change) for number, line in enumerate(FORMS)]
    assert sum(worked) > 45


PLANTED = {
    "python3 tools/check.py": ("tools/json.py", "import json\n"),
    "sh later.sh": ("later.sh", ""),
    "sh later/check.sh": ("later/check.sh", ""),
    "node tools/check.js": ("node_modules/x/index.js", "require('x')"),
    "ls >/dev/null": (".bin/ls", ""),
    "for f in none/*; do sh $f; done": ("none", "link"),
}


@pytest.mark.parametrize("line", PLANTED)
def test_a_new_file_that_the_line_would_run_disables_the_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    project = Project(tmp_path)
    monkeypatch.setenv("PATH", f"{project.root}/.bin:{os.environ['PATH']}")
    name, first = PLANTED[line]
    if first.startswith(("import", "require")):
        _write(project.root / line.split()[1], first)
    if first == "link":
        (project.root / "zz").mkdir()
        _write(project.root / "zz/x.sh", project.texts("two")["tools/check.sh"])
    hooks = project.session(line)
    project.ran(hooks)
    path = project.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if first == "link":
        path.symlink_to("zz")
    else:
        _write(path, project.texts("two")[f"tools/check{path.suffix or '.sh'}"])
    assert project.ran(hooks) == ""
    assert project.ran(project.session(line)) == ""


def test_a_script_in_the_temporary_folder_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "outside"))
    project = Project(tmp_path)
    for name in ("mine.sh", "other.sh"):
        _write(project.outside / name, project.texts("one")["tools/check.sh"])
    lines = ("OUTSIDE/mine.sh", "sh OUTSIDE/other.sh")
    hooks = [project.session(line) for line in lines]
    assert [project.ran(each) for each in hooks] == ["one", "one"]
    for name in ("mine.sh", "other.sh"):
        _write(project.outside / name, project.texts("two")["tools/check.sh"])
    assert [project.ran(each) for each in hooks] == ["", ""]
    assert [project.ran(project.session(line)) for line in lines] == ["", ""]


def test_compiled_code_in_the_project_is_not_run(tmp_path: Path) -> None:
    import py_compile

    project = Project(tmp_path)
    _write(project.root / "tools/check.py", "import lib\n")
    library = project.root / "tools/lib.py"
    planted = project.root / "tools/__pycache__" / f"lib.{sys.implementation.cache_tag}.pyc"
    library.write_text(project.texts("two")["tools/check.py"])
    py_compile.compile(str(library), str(planted), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    library.write_text(project.texts("one")["tools/check.py"])
    hooks = project.session(f"{sys.executable} tools/check.py")
    assert project.ran(hooks) == project.ran(hooks) == "one"


def test_variables_that_load_code_of_the_project_make_any_file_count(tmp_path: Path) -> None:
    line = "python3 tools/check.py"
    for name, value in [("PYTHONPATH", "."), ("PYTHONPATH", f"/x:{tmp_path}/lib"), ("NODE_OPTIONS", "-r ./x.js")]:
        assert CommandFiles((tmp_path,), {"PATH": os.defpath, name: value}).resolve(line) is None
    for name, value in [("PYTHONPATH", "/x:/y"), ("PYTHONPATH", ""), ("HOME", ".")]:
        assert CommandFiles((tmp_path,), {"PATH": os.defpath, name: value}).resolve(line) is not None


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (".venv/bin/python tools/check.py", None),
        (".venv/bin/pytest", None),
        ("tools/run.mk", None),
        ("/nowhere/bin/make check", None),
        ("cp data/x.sh check.sh; sh check.sh", None),
        ("cat data/x > check.sh; sh check.sh", None),
        ("tar xf data.tar; sh check.sh", None),
        ("sh ~nobody-here/x.sh", set[str]()),
        ("node tools/check.js", {"tools/check.js", "tools", "node_modules", "tools/node_modules"}),
        ("sh tools/check.sh lib/more.sh", {"tools/check.sh", "tools", "lib/more.sh"}),
        ("sh check.sh && sh tools/check.sh >/dev/null 2>&1", {"check.sh", "tools/check.sh", "tools"}),
    ],
)
def test_files_that_lines_are_resolved_to(tmp_path: Path, line: str, names: set[str] | None) -> None:
    for name, text in {
        ".venv/bin/python": "",
        ".venv/bin/pytest": f"#!{tmp_path}/.venv/bin/python\n",
        "tools/run.mk": "#!/usr/bin/make -f\n",
        "tools/check.sh": "",
        "tools/check.js": "",
        "tools/check.py": "",
        "lib/more.sh": "",
        "check.sh": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        _write(tmp_path / name, text)
    found = CommandFiles((tmp_path,), {"PATH": os.defpath}).resolve(line)
    assert (found is None) == (names is None)
    assert found is None or names is None or {str(path.relative_to(tmp_path)) for path in found} >= names


KNOWN = [
    "git branch --show-current",
    "notify-send Done",
    "cat >> log; echo >> log; env | grep -c KEY >> log; true",
    "ruff format .",
    "sh check.sh",
    "[ -f log ] || touch log; sh check.sh | tee -a log",
    "OUTSIDE/mine.sh --fast",
    'sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh',
    "python3 .claude/hooks/check.py --strict",
    'echo \'{"decision": "block"}\'',
]


@pytest.mark.parametrize("line", KNOWN)
def test_a_line_that_names_what_it_runs_goes_on_when_other_files_change(tmp_path: Path, line: str) -> None:
    project = Project(tmp_path)
    (project.root / ".claude/hooks").mkdir(parents=True)
    for path in (project.root / "check.sh", project.root / ".claude/hooks/check.sh", project.outside / "mine.sh"):
        _write(path, project.texts("one")["tools/check.sh"])
    _write(project.root / ".claude/hooks/check.py", project.texts("one")["tools/check.py"])
    settings = project.settings(line)
    ((hook,),) = (matcher.hooks for matcher in settings.stop)
    assert CommandFiles((project.root,), os.environ).resolve(hook.command) is not None
    scripts = HookScripts(settings, (project.root,), ScriptStore(config_dir(os.environ)), os.environ)
    (project.root / "a.py").write_text("x = 1\n")
    (project.root / "log").write_text("x = 1\n")
    assert scripts.changed(hook) == ""


def test_a_line_that_may_run_any_file_of_too_many_is_disabled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.hooks.file_digests._MAX_FILES", 5)
    project = Project(tmp_path)
    assert project.ran(project.session("make check")) == ""
    assert project.ran(project.session("sh tools/check.sh --x")) == ""


def test_a_line_that_may_run_any_file_is_told_and_can_be_left_unwatched(tmp_path: Path) -> None:
    project = Project(tmp_path)
    hooks = project.session("make check")
    (notice,) = hooks.take_notices()
    assert "`make check` may run any file and is disabled once one changes." in notice and "watch: named" in notice
    assert project.session("make check").take_notices() == ()
    unwatched = project.session("make -s check", watch="named")
    assert unwatched.take_notices() == ()
    _write(project.root / "Makefile", project.texts("two")["Makefile"])
    assert project.ran(unwatched) == "two"
    assert project.ran(hooks) == ""


def test_trusting_a_workspace_names_the_hooks_that_may_run_any_file(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.state.mkdir()
    hooks = "[{type: command, command: sh tools/x.sh}, {type: command, command: make check}]"
    workspace.config.write_text(f"hooks:\n  Stop:\n    - hooks: {hooks}\n")
    assert workspace_powers(workspace) == ("hooks.Stop: sh tools/x.sh", "hooks.Stop (may run any file): make check")


def test_files_of_the_workspace_elsewhere_are_watched(tmp_path: Path) -> None:
    project = Project(tmp_path / "workspace")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for line in (f"cd {project.root}/tools && ./check.sh", f"sh {project.root}/tools/check.sh"):
        for name, text in project.texts("one").items():
            _write(project.root / name, text)
        settings = project.settings(line)
        hooks = SessionHooks(
            settings, os.environ, elsewhere, conversation=lambda: "", mode=lambda: "ask", others=[project.root]
        )
        assert project.ran(hooks) == "one"
        _write(project.root / "tools/check.sh", project.texts("two")["tools/check.sh"])
        assert project.ran(hooks) == ""
