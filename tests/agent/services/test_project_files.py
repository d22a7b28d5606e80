"""Finding files of the project by parts of their names: what comes first, what is left out, how long it takes."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.services.project_files import ProjectFiles
from agent.tools.files.project import ProjectFolders


def made(root: Path, *names: str) -> ProjectFiles:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    return ProjectFiles(ProjectFolders((root,)), root)


def found(files: ProjectFiles, typed: str, most: int = 50) -> list[str]:
    """What it finds once all names are read."""
    files.search("", 1)
    deadline = time.monotonic() + 8
    while not files.is_read:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return files.search(typed, most)


def test_the_own_name_comes_before_the_path_and_the_path_before_letters_in_order(tmp_path: Path) -> None:
    files = made(tmp_path, "kiln/notes.md", "a/kiln.py", "b/old_kiln.py", "keep/in/lathe_n.py", "other.txt")
    assert found(files, "kiln") == ["kiln/", "a/kiln.py", "b/old_kiln.py", "kiln/notes.md", "keep/in/lathe_n.py"]


def test_ignored_files_and_version_control_are_left_out(tmp_path: Path) -> None:
    files = made(tmp_path, ".gitignore", "build/kiln.o", "src/kiln.c", ".git/kiln")
    (tmp_path / ".gitignore").write_text("build/\n", encoding="utf-8")
    assert found(files, "kiln") == ["src/kiln.c"]


def test_generated_and_binary_files_come_last(tmp_path: Path) -> None:
    files = made(
        tmp_path, "calc/__pycache__/price.cpython-311.pyc", "calc/old_price.py", "price.so", "node_modules/price.js"
    )
    assert found(files, "price")[0] == "calc/old_price.py"
    assert len(found(files, "price")) == 4, "they can still be found"


def test_ignored_names_of_a_folder_are_known(tmp_path: Path) -> None:
    files = made(tmp_path, ".gitignore", "out/a.txt", "out.txt", "src/out.log", "src/out.c")
    (tmp_path / ".gitignore").write_text("out/\n*.log\n", encoding="utf-8")
    assert files.ignored(["out/", "out.txt"]) == {"out/"}
    assert files.ignored(["src/out.log", "src/out.c"]) == {"src/out.log"}
    assert files.ignored([]) == files.ignored(["../elsewhere"]) == frozenset()


def test_names_of_many_scripts_and_cases(tmp_path: Path) -> None:
    files = made(tmp_path, "文档/锅炉.md", "README.md")
    assert (found(files, "锅炉"), found(files, "readme")) == (["文档/锅炉.md"], ["README.md"])


def test_a_search_that_nobody_waits_for_ends(tmp_path: Path) -> None:
    files = made(tmp_path, "a.py")
    found(files, "a")
    assert files.search("a", 10, lambda: True) == []


@pytest.mark.timeout(60)
def test_a_search_does_not_wait_for_a_large_project_to_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first search waits a moment and gives what is there; the whole is found later."""
    files = made(tmp_path, *(f"d{number % 40}/file{number}.txt" for number in range(2_000)))
    monkeypatch.setattr("agent.services.project_files.FIRST_WAIT_S", 0.0)
    files.search("file1999", 5)
    assert found(files, "file1999") == ["d39/file1999.txt"]


def test_it_ends_with_its_session(tmp_path: Path) -> None:
    files = made(tmp_path, "a.py")
    files.close()
    assert files.search("a", 5) == []


def test_folders_are_found_once_with_a_slash(tmp_path: Path) -> None:
    files = made(tmp_path, "kiln/a.txt", "kiln/b.txt", "kiln/deep/c.txt", "other/kiln.txt")
    assert found(files, "kiln") == [
        "kiln/",
        "other/kiln.txt",
        "kiln/a.txt",
        "kiln/b.txt",
        "kiln/deep/",
        "kiln/deep/c.txt",
    ]
    assert found(files, "deep") == ["kiln/deep/", "kiln/deep/c.txt"]


@given(st.lists(st.text("aBé/_.", min_size=1, max_size=6), max_size=12), st.text("abÉ^]-.", max_size=4))
def test_typing_on_finds_what_typing_at_once_finds(names: list[str], typed: str) -> None:
    """A longer query looks among what the shorter one found."""
    once, letter_by_letter = (ProjectFiles(ProjectFolders((Path("/"),)), Path("/")) for _ in range(2))
    for files in (once, letter_by_letter):
        files._names = names  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the test looks inside
        files._read_at = time.monotonic()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the test looks inside
    results = [letter_by_letter.search(typed[:length], 50) for length in range(len(typed) + 1)]
    assert results[-1] == once.search(typed, 50)
    assert set(results[-1]) == {name for name in names if _has_in_order(typed.lower(), name.lower())}


def _has_in_order(typed: str, name: str) -> bool:
    letters = iter(name)
    return all(letter in letters for letter in typed)
