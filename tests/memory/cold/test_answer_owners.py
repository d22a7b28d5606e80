"""Who writes an answer in progress, as a store says that is only read. It looks at locks, and writes and waits for
nothing."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from foundation.clock import SystemClock
from foundation.files import FileLock
from memory.cold import ColdStore
from memory.cold.answers import owner_of
from memory.cold.sql import fetch, run
from memory.errors import ReadOnly
from memory.records import AnswerOwner
from tests.hostile.workspaces import fingerprint
from tests.memory.cold.drafts import open_store
from tests.memory.cold.test_processes import line, start
from tests.read_only_folder import unwritable

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="rights, links and pipes are POSIX's here"),
    pytest.mark.timeout(30),
]


@pytest.fixture
def folder() -> Iterator[Path]:
    """The store's folder, which another user can reach."""
    with tempfile.TemporaryDirectory() as outside:
        Path(outside).chmod(0o755)
        yield Path(outside) / "store"


@pytest.fixture
def window(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that writes an answer."""
    process = start("answer", str(folder / "cold.db"))
    assert line(process) == "begun"
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def untrusted(folder: Path, tmp_path: Path) -> Callable[[], ColdStore]:
    def opened() -> ColdStore:
        refusal = ReadOnly("Not trusted", "Nothing is written.", "")
        path = folder / "cold.db"
        return ColdStore.open_untouched(path, tmp_path, lambda: refusal, analyse=lambda *_: [], clock=SystemClock())

    return opened


def killed(window: "subprocess.Popen[str]") -> None:
    window.kill()
    window.communicate()


def writer(store: ColdStore) -> AnswerOwner:
    """Who writes the one answer of the store."""
    seq = store.find("e_underway").seq
    return store.answer_owner(store.read(lambda db: owner_of(db, seq)))


def the_lock(folder: Path) -> Path:
    (lock,) = (folder / "cold.db-writers").iterdir()
    return lock


def test_an_answer_of_a_killed_process_broke_off(
    window: "subprocess.Popen[str]", folder: Path, untrusted: Callable[[], ColdStore]
) -> None:
    killed(window)
    before = fingerprint(folder)
    with closing(untrusted()) as store:
        assert writer(store) is AnswerOwner.NONE
        assert store.check() == [], "what is left to be recovered is no damage"
    assert fingerprint(folder) == before


def test_an_answer_that_was_being_written_when_a_copy_was_made_stays_one(
    window: "subprocess.Popen[str]", folder: Path, untrusted: Callable[[], ColdStore]
) -> None:
    with closing(untrusted()) as store:
        assert writer(store) is AnswerOwner.OTHER_AT_OPENING
        killed(window)
        assert writer(store) is AnswerOwner.OTHER_AT_OPENING, "the copy does not show how it ended"
    with closing(untrusted()) as store:
        assert writer(store) is AnswerOwner.NONE


def test_a_store_on_a_read_only_disk_sees_the_process_end(window: "subprocess.Popen[str]", folder: Path) -> None:
    with unwritable(folder), closing(open_store(folder / "cold.db")) as store:
        assert store.read_only
        assert writer(store) is AnswerOwner.OTHER
        with_root(lambda: killed(window))
        assert writer(store) is AnswerOwner.NONE


def with_root(act: Callable[[], None]) -> None:
    """Acts as the user who began: the tests of a read-only folder may be another one meanwhile."""
    user = os.geteuid()
    if os.getuid() == 0:
        os.seteuid(0)
    act()
    os.seteuid(user)


def linked(lock: Path) -> None:
    lock.rename(lock.with_suffix(".moved"))
    lock.symlink_to(lock.with_suffix(".moved"))


def piped(lock: Path) -> None:
    lock.unlink()
    os.mkfifo(lock)


def folder_linked(lock: Path) -> None:
    lock.parent.rename(lock.parent.with_name("moved"))
    lock.parent.symlink_to("moved")


@pytest.mark.parametrize("spoiled", [linked, piped, folder_linked])
def test_a_lock_that_cannot_be_read_says_nothing(
    window: "subprocess.Popen[str]", folder: Path, untrusted: Callable[[], ColdStore], spoiled: Callable[[Path], None]
) -> None:
    killed(window)
    spoiled(the_lock(folder))
    before = fingerprint(folder)
    with closing(untrusted()) as store:
        assert writer(store) is AnswerOwner.UNKNOWN
    assert fingerprint(folder) == before


@pytest.mark.parametrize("forged", ["../../../etc/passwd", "w_" + "x" * 1000, ""])
def test_a_forged_name_is_looked_up_nowhere(
    window: "subprocess.Popen[str]", folder: Path, untrusted: Callable[[], ColdStore], forged: object
) -> None:
    killed(window)
    with closing(apsw.Connection(str(folder / "cold.db"))) as db:
        run(db, "UPDATE answers SET owner = ?", (forged,))
    with closing(untrusted()) as store:
        assert writer(store) is AnswerOwner.UNKNOWN


def test_of_very_many_owners_few_are_looked_up(
    window: "subprocess.Popen[str]", folder: Path, untrusted: Callable[[], ColdStore]
) -> None:
    killed(window)
    with closing(apsw.Connection(str(folder / "cold.db"))) as db:
        run(
            db,
            """INSERT INTO answers (entry, owner) WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n
               WHERE i < 20000) SELECT i, 'w_' || i FROM n""",
        )
    with closing(untrusted()) as store:
        assert writer(store) is AnswerOwner.NONE, "the first of them"
        assert store.answer_owner("w_19999") is AnswerOwner.UNKNOWN
        assert fetch_count(store) == 19_002


def fetch_count(store: ColdStore) -> int:
    return int(store.read(lambda db: fetch(db, "SELECT count(*) FROM answers")[0][0]))


def test_looking_frees_no_lock_and_takes_none(window: "subprocess.Popen[str]", folder: Path) -> None:
    with closing(open_store(folder / "cold.db")) as store:
        for _ in range(3):
            assert writer(store) is AnswerOwner.OTHER
        killed(window)
        for _ in range(3):
            assert writer(store) is AnswerOwner.NONE
        with FileLock(the_lock(folder), timeout=0):
            assert writer(store) is AnswerOwner.OTHER
