"""Pipes, links in a circle, folders that are not UTF-8 and impossible clocks end in a sentence, at once."""

import os
import stat
import sys
from pathlib import Path

import pytest

from agent.cli.main import unexpected_error
from tests.agent.conftest import Run, bare, root, run  # noqa: F401 - fixtures

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.skipif(sys.platform == "win32", reason="pipes and links of POSIX"),
]
ON_A_FILE: tuple[tuple[str, ...], ...] = (
    ("recall", "{file}"),
    ("archive", "{file}"),
    ("import", "{file}"),
    ("knowledge", "add", "{file}"),
    ("search", "--batch", "{file}"),
    ("config", "validate", "{file}"),
)


@pytest.mark.parametrize("command", ON_A_FILE, ids=" ".join)
@pytest.mark.parametrize("ending", ["", ".png", ".txt"])
def test_a_pipe_is_refused_and_not_waited_for(
    run: Run,  # noqa: F811
    tmp_path: Path,
    command: tuple[str, ...],
    ending: str,
) -> None:
    pipe = tmp_path / f"pipe{ending}"
    os.mkfifo(pipe)
    ran = run(*(word.replace("{file}", str(pipe)) for word in command))
    assert ran.status != 0
    assert "defect" not in ran.err
    told = (ran.err + ran.out).replace(str(pipe), "")
    assert any(words in told for words in ("a pipe", "no file", "not a regular file")), told


def test_a_link_to_itself_in_a_folder_stops_no_other_file(run: Run, tmp_path: Path) -> None:  # noqa: F811
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "loop.txt").symlink_to("loop.txt")
    for name in ("a.txt", "z.txt"):
        (folder / name).write_text(f"The ferry of {name}.\n", encoding="utf-8")
    ran = run("knowledge", "add", str(folder), "--json")
    added = run("knowledge", "list", "--json").json
    assert sorted(Path(one["name"]).name for one in added["memories"]) == ["a.txt", "z.txt"], ran.err


def test_a_folder_that_is_not_utf8_is_refused_in_a_sentence(bare: Run, tmp_path: Path) -> None:  # noqa: F811
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/ws\xff"))
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes no such name")
    for words in (("-p", "hello"), ("search", "hello"), ("init",)):
        ran = bare("--workspace", str(folder), *words)
        assert (ran.status, "not UTF-8" in ran.err, "defect" in ran.err) == (2, True, False)


def test_a_clock_past_the_end_of_time_is_no_defect() -> None:
    ending = unexpected_error(OverflowError("timestamp too large to convert to C _PyTime_t"))
    assert ending.title == "Wrong clock" and "2262" in ending.message


def test_what_the_program_makes_is_its_owners_alone(run: Run, root: Path, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "letter.txt").write_text("The ferry leaves at ten.\n", encoding="utf-8")
    run("-p", "hello")
    run("remember", "the ferry is blue")
    run("archive", str(tmp_path / "letter.txt"))
    run("search", "ferry")
    open_to_others = [
        str(path.relative_to(root)) for path in root.rglob("*") if stat.S_IMODE(path.lstat().st_mode) & 0o077
    ]
    assert (root / "MEMORY.md").exists() and list((root / "memory" / "archive").iterdir())
    assert open_to_others == []
