"""Listing, finding and searching files: what they give, in which order, with which counts, and what they leave out."""

import os
import re
import shutil
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from agent.tools.files.project import ProjectFolders
from agent.tools.files.ripgrep import installed_ripgrep, ripgrep_expression
from agent.tools.files.search_files import SearchFiles
from agent.tools.port import ToolFailure, ToolRun
from tests.agent.tools.files.conftest import ProjectTools
from tests.examples import examples


def test_a_folder_is_listed_in_order_with_its_count(tools: ProjectTools) -> None:
    tools.write("b.txt", "b")
    tools.write("a/x", "x")
    tools.write("out.log", "")
    tools.write(".gitignore", "*.log\n")
    tools.write(".palimpsest/config.yaml", "")
    assert tools.call("find_files") == ".: 4 entries\n.gitignore\na/\nb.txt\nout.log (ignored)"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_link_is_listed_with_its_target_and_not_followed(tools: ProjectTools) -> None:
    tools.write("a/x", "x")
    (tools.root / "link").symlink_to("a")
    assert "link -> a" in tools.call("find_files")
    assert tools.call("find_files", pattern="x").splitlines() == ["1 file", "a/x"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
        ("src/*.py", ["src/b.py"]),
        ("src/**/*.py", ["src/b.py", "src/deep/c.py"]),
        ("src/**", ["src/b.py", "src/d.ts", "src/deep/c.py"]),
        ("src/", ["src/b.py", "src/d.ts", "src/deep/c.py"]),
        ("**/*.{ts,md}", ["src/d.ts"]),
        ("./a.py", ["a.py"]),
        ("[ab].py", ["a.py", "src/b.py"]),
        ("?.ts", ["src/d.ts"]),
        ("src", []),
        ("none*", []),
    ],
)
def test_a_glob_finds_its_files(tools: ProjectTools, pattern: str, found: list[str]) -> None:
    for name in ("a.py", "src/b.py", "src/deep/c.py", "src/d.ts", ".git/a.py", ".palimpsest/x.py"):
        tools.write(name, "")
    heading, *names = tools.call("find_files", pattern=pattern).splitlines()
    assert names == found
    assert heading == f"{len(found)} file{'' if len(found) == 1 else 's'}"


def test_a_glob_is_relative_to_its_path(tools: ProjectTools) -> None:
    tools.write("src/deep/c.py", "")
    assert tools.call("find_files", pattern="deep/*.py", path="src") == "1 file\nsrc/deep/c.py"


def test_ignored_files_are_found_where_their_folder_is_named(tools: ProjectTools) -> None:
    tools.write(".gitignore", "build/\n*.tmp\n!keep.tmp\n")
    tools.write("src/.gitignore", "/local.py\n")
    for name in ("build/a.py", "x.tmp", "keep.tmp", "src/local.py", "src/b.py"):
        tools.write(name, "needle\n")
    assert tools.call("find_files", pattern="*.{py,tmp}").splitlines()[1:] == ["keep.tmp", "src/b.py"]
    assert tools.call("find_files", pattern="*.py", path="build").splitlines()[1:] == ["build/a.py"]
    assert tools.call("search_files", pattern="needle").splitlines()[0] == "2 matching lines in 2 files"


def test_every_project_folder_is_searched_and_files_of_keys_only_by_name(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    tools = ProjectTools(tmp_path / "one", tmp_path / "two")
    tools.write("a.txt", "x\nneedle 1\n")
    tools.write("../two/b.txt", "needle 2\r\nlast needle")
    tools.write(".env", "needle 3\n")
    other = (tmp_path / "two" / "b.txt").resolve().as_posix()
    assert tools.call("search_files", pattern=r"needle( \d)?$").splitlines() == [
        "3 matching lines in 2 files; 1 file of keys or passwords is searched only by its `path`",
        "a.txt",
        "2: needle 1",
        other,
        "1: needle 2",
        "2: last needle",
    ]
    assert tools.action("search_files", pattern="needle", path=".env").concern
    assert not tools.action("search_files", pattern="needle").concern
    assert tools.call("search_files", pattern="needle", path=".env").splitlines()[-1] == "1: needle 3"


def test_a_pattern_that_takes_forever_ends_and_says_so(tools: ProjectTools) -> None:
    tools.write("a.txt", "a" * 5_000 + "\n")
    heading = tools.call("search_files", pattern=r"^(a|aa|(a|a)*)*(?=b)$|(a*)*b\3").splitlines()[0]
    assert "matching line" in heading  # it ended; where the engine needed its whole time, the heading says so


def test_a_stopped_turn_ends_the_search(tools: ProjectTools) -> None:
    tools.write("a.txt", "a")
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(ToolFailure, match="stopped"):
        tools.tools["search_files"].run({"pattern": "a"}, ToolRun("e_1", stopped))


def test_a_rule_of_a_stranger_cannot_hang_the_walk(tools: ProjectTools) -> None:
    tools.write(".gitignore", "*a" * 60 + "*b\n" + "**/a/" * 30 + "\n")
    tools.write("a" * 200, "")
    assert tools.call("find_files", pattern="*a" * 50).splitlines()[0] == "1 file"


@pytest.mark.parametrize("pattern", ["(", "a" * 501, "[", "(?P<x>"])
def test_what_is_no_expression_is_one_correction(tools: ProjectTools, pattern: str) -> None:
    with pytest.raises(ToolFailure, match=re.escape(pattern[:100])) as failure:
        tools.action("search_files", pattern=pattern)
    assert failure.value.title == "Not a regular expression"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program `rg` that finds nothing, and writes down how it was started."""
    if sys.platform == "win32":
        pytest.skip("a script of the shell")
    path = tmp_path / "bin" / "rg"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/started"; env >> "{tmp_path}/started"; exit 1\n')
    path.chmod(0o755)
    return path


def test_a_program_in_the_project_is_not_ripgrep(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {"PATH": str(program.parent)}
    assert installed_ripgrep((tmp_path / "project",), environment) == str(program)
    assert installed_ripgrep((tmp_path,), environment) == ""
    monkeypatch.chdir(program.parent)
    assert installed_ripgrep((tmp_path / "project",), {"PATH": f".{os.pathsep}"}) == ""
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "rg").symlink_to(program)
    assert installed_ripgrep((program.parent,), {"PATH": str(tmp_path / "links")}) == "", "a link into the project"


def test_ripgrep_takes_no_option_from_names_nor_from_the_environment(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "ripgreprc"))
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "--pre=touch").write_text("needle")
    search = SearchFiles(ProjectFolders((tmp_path / "project",)), ripgrep=str(program), fewest_files=0)
    search.run({"pattern": "needle"}, ToolRun("e_1", threading.Event()))
    options, _, names = (tmp_path / "started").read_text().partition("\n--\n")
    assert {"--no-config", "--no-follow"} <= set(options.splitlines())
    assert names.startswith("./--pre=touch\n") and "RIPGREP_CONFIG_PATH" not in names


RIPGREP = shutil.which("rg") or os.environ.get("PALIMPSEST_TEST_RG", "")
PATTERNS = (
    *(
        "foo",
        "foo$",
        "^foo",
        r"\bfoo\b",
        r"fo{2}",
        r"[a-c]+x?",
        r"(?i)FOO",
        r"\w+\s\w+",
        r"a.c",
        r"^$",
        r"\d+|bar",
        r"é",
    ),
    *(
        r"[^a]b",
        r"fo*?o",
        r"(foo|bar)baz",
        r"\.",
        r"x\/y",
        r"\S+$",
        r"foo(?!b)",
        r"(?<=a)b",
        r"(a)\1",
        r"\Aab",
        r"a\tb",
    ),
    *(r"\D", r"^\s*$", r".", r"a\s$", r"\<foo", r"foo\Z", r"[[]", r"a{1,2}b", r"(?:ab)+$", r"(?i)é", r"\Bo", r"a|"),
)
ALPHABET = "abcfoxyz019 .\t\n\r/é\u212a\x0b\x1c\x85\u2028文-"


@pytest.mark.skipif(not RIPGREP, reason="ripgrep is not installed")
@pytest.mark.slow
@pytest.mark.timeout(120)
@settings(max_examples=examples(8), deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(
    bodies=st.lists(
        st.one_of(
            st.text(ALPHABET, max_size=80).map(str.encode),
            st.text("abcfo \r\n", max_size=80).map(str.encode),
            st.binary(max_size=40),
            st.text("abfo\n", max_size=40).map(lambda text: text.encode("utf-16")),
            st.text("abfoé\n", max_size=40).map(lambda text: text.encode("latin-1")),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_ripgrep_and_our_own_search_give_the_same(
    bodies: list[bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("project")
    (root / ".gitignore").write_text("*.skip\n/deep/no*\n")
    for number, body in enumerate(bodies):
        for name in (f"{number}.txt", f"deep/{number} ü.py", f"{number}.skip", f"deep/no{number}", f".hidden/{number}"):
            path = root / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(body)
    project = ProjectFolders((root,))
    own, narrowed = SearchFiles(project, ripgrep=""), SearchFiles(project, ripgrep=RIPGREP, fewest_files=0)
    run = ToolRun("e_1", threading.Event())
    for pattern in PATTERNS:
        arguments = {"pattern": pattern}
        assert narrowed.run(arguments, run) == own.run(arguments, run), pattern


@pytest.mark.parametrize("pattern", [r"foo(?!b)", r"(a)\1", r"\Aab", r"\<foo", "[[]", "(?i)é", r"\Bo", "a**", "x{,3}"])
def test_ripgrep_is_not_asked_for_what_it_may_read_otherwise(pattern: str) -> None:
    assert ripgrep_expression(pattern) == ""


@pytest.fixture
def guarded(tmp_path: Path) -> ProjectTools:
    """A project in which rules keep the readers from `secrets`, and ask for `private`."""
    root = tmp_path / "guarded"
    root.mkdir()
    tools = ProjectTools(root, rules=["deny read_file(secrets/**)", "ask search_files(private)", "allow *"])
    for name in ("a.txt", "secrets/b.txt", "secrets/deep/c.txt", "Secrets2/d.txt", "private/e.txt"):
        tools.write(name, "the boiler")
    return tools


def test_files_that_rules_keep_from_readers_are_counted_and_not_searched(guarded: ProjectTools) -> None:
    heading, *lines = guarded.call("search_files", pattern="boiler").splitlines()
    assert heading == "2 matching lines in 2 files; 3 files left out by the user's rules"
    assert [line for line in lines if line.endswith(".txt")] == ["Secrets2/d.txt", "a.txt"]


def test_a_yes_for_a_folder_searches_what_the_rule_asked_for(guarded: ProjectTools) -> None:
    assert guarded.call("search_files", pattern="boiler", path="private").startswith("1 matching line in 1 file\n")
    assert "private/e.txt" not in guarded.call("search_files", pattern="boiler")
    assert "3 matching lines" not in guarded.call("search_files", pattern="boiler", path="secrets")


def test_files_that_rules_keep_from_readers_are_not_listed(guarded: ProjectTools) -> None:
    assert guarded.call("find_files", pattern="[bc].txt") == "0 files; 2 files left out by the user's rules"
    assert guarded.call("find_files", path="secrets").startswith("secrets: 0 entries; 2 files left out")
