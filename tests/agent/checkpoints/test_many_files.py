"""A change of more files than a process may have open."""

import sys
from collections.abc import Iterator

import pytest

from tests.agent.checkpoints.conftest import ProjectWithTools

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")

FILES = 300


@pytest.fixture
def few_descriptors() -> Iterator[None]:
    """As many as a shell of macOS gives."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
@pytest.mark.timeout(60)  # each of 300 files is synced four times
@pytest.mark.usefixtures("few_descriptors")
def test_more_files_are_changed_and_taken_back_than_may_be_open(project: ProjectWithTools) -> None:
    for number in range(FILES):
        project.write(f"{number}.txt", b"%d\n" % number)
    before = project.files()
    project.checkpoints.apply([project.change(name, b"new\n") for name in before], "e_r")
    assert set(project.files().values()) == {b"new\n"}
    assert project.problems(project.undo()) == {}
    assert project.files() == before
    project.turn(2)
    project.checkpoints.apply([project.change(name, None) for name in before], "e_r")
    assert project.files() == {}
    assert project.problems(project.undo()) == {}
    assert project.files() == before


def test_a_text_that_is_saved_late_is_kept_of_each_of_many_files(project: ProjectWithTools) -> None:
    names = [f"{number}.txt" for number in range(40)]
    for name in names:
        project.write(name, b"before\n")
    open_elsewhere = [(project.folder / name).open("r+b") for name in names]
    project.checkpoints.apply([project.change(name, b"new\n") for name in names], "e_r")
    for number, file in enumerate(open_elsewhere):
        file.write(b"late %d\n" % number)
        file.close()
    kept = project.checkpoints.take_notices()
    assert len(kept) == len(names) and all("was saved while a tool was changing it" in notice for notice in kept)
