"""Changing files: what is replaced, what is kept, what is refused, and what the person is shown."""

import codecs
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.permissions.action import Access
from agent.tools.files.text_file import TextEdit, TextFile
from agent.tools.port import ToolFailure
from foundation.errors import PalimpsestError
from tests.agent.tools.files.conftest import ProjectTools
from tests.examples import examples


def read(tools: ProjectTools, name: str) -> None:
    tools.call("read_file", path=name)


def test_an_exact_text_is_replaced_and_shown_as_a_diff(tools: ProjectTools) -> None:
    path = tools.write("a.py", "one\ntwo\nthree\n")
    read(tools, "a.py")
    action = tools.action("edit_file", path="a.py", old="two\n", new="2\n")
    assert (action.access, action.is_diff, action.concern) == (Access.EDIT, True, "")
    assert action.detail == "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    result = tools.run("edit_file", action, path="a.py", old="two\n", new="2\n")
    assert result == "a.py: 1 replacement at line 2."
    assert path.read_text() == "one\n2\nthree\n"


def test_a_second_edit_needs_no_second_reading(tools: ProjectTools) -> None:
    path = tools.write("a.py", "one\ntwo\n")
    read(tools, "a.py")
    tools.call("edit_file", path="a.py", old="one", new="1")
    tools.call("edit_file", path="a.py", old="two", new="2")
    assert path.read_text() == "1\n2\n"


def test_a_file_that_was_not_read_is_not_changed(tools: ProjectTools) -> None:
    path = tools.write("a.py", "one\n")
    for name, arguments in (
        ("edit_file", {"old": "one", "new": "1"}),
        ("write_file", {"content": "1"}),
    ):
        with pytest.raises(ToolFailure, match="Read it with read_file"):
            tools.action(name, path="a.py", **arguments)
    with pytest.raises(ToolFailure, match="Read it with read_file"):
        tools.action("apply_patch", patch="*** Begin Patch\n*** Delete File: a.py\n*** End Patch")
    assert path.read_text() == "one\n"


def test_a_file_that_changed_since_it_was_read_is_not_changed(tools: ProjectTools) -> None:
    path = tools.write("a.py", "one\n")
    read(tools, "a.py")
    path.write_text("one\nmine\n")
    with pytest.raises(ToolFailure, match="changed since you read it"):
        tools.action("edit_file", path="a.py", old="one", new="1")


def test_a_file_that_changes_while_permission_is_asked_is_not_changed(tools: ProjectTools) -> None:
    path = tools.write("a.py", "one\n")
    read(tools, "a.py")
    action = tools.action("edit_file", path="a.py", old="one", new="1")
    path.write_text("one\nmine\n")
    read(tools, "a.py")
    with pytest.raises(ToolFailure, match="not as it was when this was permitted"):
        tools.run("edit_file", action, path="a.py", old="one", new="1")
    assert path.read_text() == "one\nmine\n"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_link_that_changes_while_permission_is_asked_is_not_followed(tools: ProjectTools) -> None:
    tools.write("a.py", "one\n")
    hook = tools.write(".git/hooks/pre-commit", "one\n")
    (tools.root / "link").symlink_to("a.py")
    read(tools, "link")
    read(tools, ".git/hooks/pre-commit")
    action = tools.action("edit_file", path="link", old="one", new="1")
    assert (action.subject, action.concern) == ("a.py", "")
    (tools.root / "link").unlink()
    (tools.root / "link").symlink_to(".git/hooks/pre-commit")
    with pytest.raises(ToolFailure, match="permitted"):
        tools.run("edit_file", action, path="link", old="one", new="1")
    assert hook.read_text() == "one\n"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_link_that_changes_before_it_is_read_is_not_followed(tools: ProjectTools) -> None:
    tools.write("a.py", "one\n")
    tools.write(".env", "KEY=1\n")
    (tools.root / "link").symlink_to("a.py")
    action = tools.action("read_file", path="link")
    assert not action.concern
    (tools.root / "link").unlink()
    (tools.root / "link").symlink_to(".env")
    with pytest.raises(ToolFailure, match="permitted"):
        tools.run("read_file", action, path="link")


def test_a_text_found_twice_is_replaced_only_with_all(tools: ProjectTools) -> None:
    path = tools.write("a.py", "x = 1\ny\nx = 1\n")
    read(tools, "a.py")
    with pytest.raises(ToolFailure, match="2 times, at lines 1, 3"):
        tools.action("edit_file", path="a.py", old="x = 1", new="x = 2")
    assert tools.call("edit_file", path="a.py", old="x = 1", new="x = 2", all=True).startswith("a.py: 2 replacements")
    assert path.read_text() == "x = 2\ny\nx = 2\n"


@pytest.mark.parametrize(
    ("old", "hint"),
    [
        ("def f():\n    return 1", "The nearest is at line 2; line 3 is '\\treturn 1', not '    return 1'."),
        ("def g():", "The nearest is at line 2; line 2 is 'def f():', not 'def g():'."),
        ("nothing like it at all", "Nothing there is like it."),
    ],
)
def test_a_text_that_is_not_there_gets_one_precise_correction(tools: ProjectTools, old: str, hint: str) -> None:
    tools.write("a.py", "import os\ndef f():\n\treturn 1\n")
    read(tools, "a.py")
    with pytest.raises(ToolFailure) as failure:
        tools.action("edit_file", path="a.py", old=old, new="x")
    assert (failure.value.message, failure.value.hint) == ("“old” is not in a.py.", hint)


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_mark_line_ends_and_mode_are_kept(tools: ProjectTools, mark: bytes, line_end: str) -> None:
    path = tools.write("run.sh", mark + f"#!/bin/sh{line_end}echo 1{line_end}".encode())
    path.chmod(0o750)
    read(tools, "run.sh")
    tools.call("edit_file", path="run.sh", old="echo 1\n", new="echo 2\necho 3\n")
    assert path.read_bytes() == mark + f"#!/bin/sh{line_end}echo 2{line_end}echo 3{line_end}".encode()
    read(tools, "run.sh")
    tools.call("write_file", path="run.sh", content="#!/bin/sh\n")
    assert path.read_bytes() == mark + f"#!/bin/sh{line_end}".encode()
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o750


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-16", "grün\r\nzwei\r\n"),
        ("gb18030", "我们的项目在这里，他们说的是对的。\n第二行\n" * 3),
        ("cp1252", "Grüße aus München, schön\nzwei\n" * 3),
    ],
)
def test_the_encoding_is_kept(tools: ProjectTools, encoding: str, text: str) -> None:
    path = tools.write("a.txt", text.encode(encoding))
    read(tools, "a.txt")
    old = text.splitlines()[1]
    tools.call("edit_file", path="a.txt", old=old, new="x", all=True)
    assert path.read_bytes() == text.replace(old, "x").encode(encoding)
    if encoding == "cp1252":
        read(tools, "a.txt")
        with pytest.raises(ToolFailure, match="cp1252, which has no '文'"):
            tools.action("edit_file", path="a.txt", old="x", new="文", all=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    raw=st.lists(st.sampled_from(["a", "b", "\n", "\r\n", " ", "é", "文"]), max_size=60).map("".join),
    encoding=st.sampled_from([("utf-8", b""), ("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE)]),
    data=st.data(),
)
def test_only_what_is_replaced_changes(raw: str, encoding: tuple[str, bytes], data: st.DataObject) -> None:
    body = encoding[1] + raw.encode(encoding[0])
    text = TextFile.decode(body)
    assert text is not None
    assert text.encode(text.raw, "a") == body
    start = data.draw(st.integers(0, len(text.text)))
    end = data.draw(st.integers(start, len(text.text)))
    new = data.draw(st.text("xy\n", max_size=5))
    after = TextFile.decode(text.encode(text.replace_spans([TextEdit(start, end, new)]), "a"))
    assert after is not None
    assert after.text == text.text[:start] + new + text.text[end:]
    if new == text.text[start:end] and ("\n" not in new or "\r\n" not in raw):
        assert text.replace_spans([TextEdit(start, end, new)]) == raw


def test_a_new_file_is_made_with_its_folders(tools: ProjectTools) -> None:
    action = tools.action("write_file", path="src/deep/a.py", content="x\n")
    assert action.detail == "--- /dev/null\n+++ b/src/deep/a.py\n@@ -0,0 +1 @@\n+x\n"
    assert tools.run("write_file", action, path="src/deep/a.py", content="x\n") == "src/deep/a.py: 2 bytes written."
    assert (tools.root / "src/deep/a.py").read_text() == "x\n"


def test_a_file_that_appears_while_permission_is_asked_is_kept(tools: ProjectTools) -> None:
    action = tools.action("write_file", path="a.py", content="mine\n")
    path = tools.write("a.py", "theirs\n")
    with pytest.raises(PalimpsestError):
        tools.run("write_file", action, path="a.py", content="mine\n")
    assert path.read_text() == "theirs\n"


@pytest.mark.parametrize(
    "name",
    [
        ".git/hooks/pre-commit", ".GIT/config", ".gitmodules", ".hg/hgrc", ".github/workflows/ci.yml", ".gitlab-ci.yml",
        ".vscode/tasks.json", ".idea/x.xml", ".husky/pre-push", ".pre-commit-config.yaml", ".envrc", ".bashrc",
        ".zshenv", ".profile", ".env", "id_rsa", ".git\u200c/config", ".ｇit/config", "GIT~1/config", ".git./config",
        ".cursorrules", "docs/copilot-instructions.md", ".clinerules/a.md",
        "sub/AGENTS.md", "CLAUDE.md", ".claude/settings.json", ".mcp.json", "sitecustomize.py",
    ],
)  # fmt: skip
def test_files_that_others_run_or_obey_ask_always(tools: ProjectTools, name: str) -> None:
    assert tools.action("write_file", path=name, content="x").concern
    patch = f"*** Begin Patch\n*** Add File: ok.py\n+x\n*** Add File: {name}\n+x\n*** End Patch"
    assert tools.action("apply_patch", patch=patch).concern


@pytest.mark.parametrize("name", ["src/a.py", "gitignore.py", "memory.py", "github/x", "docs/agents.txt", ".gitignore"])
def test_other_files_do_not(tools: ProjectTools, name: str) -> None:
    action = tools.action("write_file", path=name, content="x")
    assert (action.concern, action.access) == ("", Access.EDIT)


@pytest.mark.parametrize(
    "name", ["AGENTS.md", "SOUL.md", "system.yaml", "skills/a/SKILL.md", "MEMORY.md", "memory/2026.md", "Memory.MD"]
)
def test_what_each_request_is_made_of_is_a_note(tools: ProjectTools, name: str) -> None:
    assert tools.action("write_file", path=name, content="x").access is Access.NOTE


def test_a_patch_changes_all_files_or_none(tools: ProjectTools) -> None:
    first, second = tools.write("a.py", "one\ntwo\n"), tools.write("b.py", "x\n")
    gone = tools.write("c.py", "bye\n")
    for name in ("a.py", "b.py", "c.py"):
        read(tools, name)
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@\n one\n-two\n+2\n*** Add File: d/new.py\n+new\n"
        "*** Delete File: c.py\n*** Update File: b.py\n*** Move to: e.py\n@@\n-x\n+y\n*** End Patch\n"
    )
    action = tools.action("apply_patch", patch=patch)
    assert (action.subject, action.also) == ("a.py", ("d/new.py", "c.py", "b.py", "e.py"))
    assert tools.run("apply_patch", action, patch=patch).splitlines() == [
        "changed a.py", "added d/new.py", "deleted c.py", "deleted b.py", "added e.py",
    ]  # fmt: skip
    assert first.read_text() == "one\n2\n"
    assert (tools.root / "d/new.py").read_text() == "new\n"
    assert (tools.root / "e.py").read_text() == "y\n"
    assert not gone.exists() and not second.exists()
    failing = (
        "*** Begin Patch\n*** Update File: a.py\n@@\n-one\n+1\n*** Update File: e.py\n@@\n-nope\n+y\n*** End Patch"
    )
    with pytest.raises(ToolFailure, match=r"Hunk 1 of e\.py"):
        tools.call("apply_patch", patch=failing)
    assert first.read_text() == "one\n2\n"


def test_a_hunk_is_sought_after_its_header_and_must_be_unique_without(tools: ProjectTools) -> None:
    path = tools.write("a.py", "def f():\n    x = 1\n\ndef g():\n    x = 1\n")
    read(tools, "a.py")
    hunk = "-    x = 1\n+    x = 2\n*** End Patch"
    with pytest.raises(ToolFailure, match="lines 2, 5"):
        tools.action("apply_patch", patch=f"*** Begin Patch\n*** Update File: a.py\n@@\n{hunk}")
    tools.call("apply_patch", patch=f"*** Begin Patch\n*** Update File: a.py\n@@ def g():\n{hunk}")
    assert path.read_text() == "def f():\n    x = 1\n\ndef g():\n    x = 2\n"


def test_a_unified_diff_is_a_patch_too(tools: ProjectTools) -> None:
    path = tools.write("a.py", "x\n" * 5 + "end")
    read(tools, "a.py")
    diff = "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -3,2 +3,2 @@ def f\n x\n-x\n+y\n"
    tools.call("apply_patch", patch=diff + "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,2 @@\n+1\n+2\n")
    assert path.read_text() == "x\nx\nx\ny\nx\nend"
    assert (tools.root / "new.py").read_text() == "1\n2\n"


@given(
    before=st.lists(st.sampled_from(["a", "b", "c", "é", ""]), max_size=12),
    after=st.lists(st.sampled_from(["a", "b", "c", "é", ""]), max_size=12),
    ends=st.tuples(st.booleans(), st.booleans()),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(40))
def test_the_diff_that_is_shown_is_a_patch_that_makes_the_change(
    before: list[str], after: list[str], ends: tuple[bool, bool], tmp_path_factory: pytest.TempPathFactory
) -> None:
    tools = ProjectTools(tmp_path_factory.mktemp("project"))
    old, new = ("\n".join(lines) + "\n" * end for lines, end in zip((before, after), ends, strict=True))
    if old == new or not old.strip() or not new.endswith("\n") or not old.endswith("\n"):
        return
    path = tools.write("a.txt", old)
    read(tools, "a.txt")
    detail = tools.action("write_file", path="a.txt", content=new).detail
    tools.call("apply_patch", patch=detail)
    assert path.read_text() == new


@pytest.mark.parametrize(
    "patch",
    [
        "nothing",
        "*** Begin Patch\n*** End Patch",
        "*** Begin Patch\n*** Update File: a.py\n@@\nno mark\n*** End Patch",
        "*** Begin Patch\n*** Add File: x\nno plus\n*** End Patch",
        "*** Begin Patch\nwhat\n*** End Patch",
        "--- a/a.py\n+++ b/a.py\nwhat\n",
        "*** Begin Patch\n*** Add File: x\n+1\n*** Add File: ./x\n+2\n*** End Patch",
    ],
)
def test_what_is_no_patch_changes_nothing(tools: ProjectTools, patch: str) -> None:
    tools.write("a.py", "one\n")
    with pytest.raises(ToolFailure):
        tools.action("apply_patch", patch=patch)


def test_the_definitions_are_short(tools: ProjectTools) -> None:
    import json

    from models.tokens import estimate

    definitions = [tool.definition for tool in tools.tools.values()]
    text = json.dumps([[one.name, one.description, one.parameters] for one in definitions])
    assert estimate(text) <= 600


def test_a_change_is_a_checkpoint(tools: ProjectTools, tmp_path: Path) -> None:
    path = tools.write("a.py", "one\n")
    read(tools, "a.py")
    tools.call("edit_file", path="a.py", old="one", new="1")
    journal = tmp_path / "project-state" / "journal.jsonl"
    assert "edit_file" in journal.read_text() and path.read_text() == "1\n"


def test_the_programs_own_rules_ask(tools: ProjectTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_CONFIG_DIR", str(tools.root / "settings"))
    tools.write("settings/permissions.yaml", "deny:\n- run_command(git push *)\n")
    assert "Palimpsest's own settings" in tools.action("write_file", path="settings/new.yaml", content="x\n").concern
    assert "Palimpsest's own settings" in tools.action("read_file", path="settings/permissions.yaml").concern
    assert tools.action("write_file", path="new.yaml", content="x\n").concern == ""
