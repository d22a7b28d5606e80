"""A disk that is full once the message is stored: the message is kept, and the failure says so."""

from collections.abc import Callable
from errno import ENOSPC
from pathlib import Path

import apsw
import pytest

from memory.cold import ColdStore
from memory.cold.sqlite_errors import explained
from tests.agent.conftest import Run


def full(path: Path) -> Exception:
    return explained(apsw.FullError("database or disk is full"), path)


def refused(path: Path) -> Exception:
    return OSError(ENOSPC, "No space left on device", str(path))


@pytest.mark.parametrize("failure", [full, refused])
def test_a_message_is_kept_and_said_to_be_where_its_answer_has_no_room(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch, failure: Callable[[Path], Exception]
) -> None:
    def begin_answer(*_: object) -> None:
        raise failure(root / ".palimpsest" / "cold.db")

    with monkeypatch.context() as patched:
        patched.setattr(ColdStore, "begin_answer", begin_answer)
        ran = run("-p", "where is the quagga?")
    assert (ran.status, ran.out) == (1, "")
    assert "your message is saved," in ran.err
    assert "palimpsest -c -p /retry` tries again" in ran.err
    named = f"The disk is full at {root / '.palimpsest' / 'cold.db'}: " if failure is refused else "The disk is full: "
    assert named in ran.err
    assert "Nothing was written;" not in ran.err
    shown = run("conversations", "show", run("conversations", "list", "--json").json["conversations"][0]["id"]).out
    assert "where is the quagga?" in shown
    again = run("-c", "-p", "/retry")
    assert (again.status, bool(again.out.strip())) == (0, True)
    (conversation,) = run("conversations", "list", "--json").json["conversations"]
    assert run("conversations", "show", conversation["id"]).out.count("## You") == 1


def test_a_message_that_was_not_stored_is_said_not_to_be(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def append(*_: object) -> None:
        raise full(root / ".palimpsest" / "cold.db")

    with monkeypatch.context() as patched:
        patched.setattr(ColdStore, "append", append)
        ran = run("-p", "where is the quagga?")
    assert (ran.status, "Nothing was written;" in ran.err, "is kept" in ran.err) == (1, True, False)
