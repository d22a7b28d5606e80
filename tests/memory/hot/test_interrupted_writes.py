"""The program is killed, or fails, in the middle of a write: nothing that anybody wrote is lost."""

import errno
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from foundation.files import NotUtf8, conditional, write_temporary
from foundation.files.atomic_exchange import exchange
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.hot import HotMemory, UnwritableNotes, files, swap
from memory.hot.swap import SWAP, content_digest
from memory.memory import Memory
from memory.versions.cause import Author, caused_by
from tests.fakes import FakeClock
from tests.paths import ROOT

WRITER = """
import sys
from pathlib import Path
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.hot import HotMemory
hot = HotMemory(Workspace(Path(sys.argv[1])), SystemClock())
number = int(sys.argv[2])
while True:
    hot.remember(clear(f"note {number}"))
    print(number, flush=True)
    number += 1
"""


def leave_a_swap(path: Path, put: bytes, expected: bytes) -> Path:
    return write_temporary(path, put, suffix=f".{content_digest(put)}.{content_digest(expected)}{SWAP}")


def versions(workspace: Workspace) -> list[bytes]:
    return [path.read_bytes() for path in (workspace.versions / "MEMORY.md").iterdir()]


def leftovers(workspace: Workspace) -> list[Path]:
    return list(workspace.root.glob(".MEMORY*"))


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX's")
@pytest.mark.timeout(60)
def test_killed_at_any_moment_no_note_that_was_acknowledged_is_lost_and_none_is_there_twice(
    workspace: Workspace,
) -> None:
    workspace.memory_md.write_text("# Mine\nby hand\n", encoding="utf-8")
    luck, acknowledged = random.Random(7), 0
    for _ in range(5):
        command = [sys.executable, "-c", WRITER, str(workspace.root), str(acknowledged)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(luck.uniform(0.1, 0.4))
            writer.send_signal(signal.SIGKILL)
            acknowledged += 1 + len(writer.stdout.read().splitlines())
        acknowledged += 1  # the one on its way may be there or not
    hot = HotMemory(workspace, FakeClock())
    texts = [note.text for note in hot.notes()]
    assert texts[0] == "by hand"
    assert len(texts) == len(set(texts))
    assert acknowledged > 10
    assert len([text for text in texts if text.startswith("- note")]) >= acknowledged - 5
    assert leftovers(workspace) == []


def test_cut_off_before_the_exchange_the_file_stays_as_it_was(workspace: Workspace, hot: HotMemory) -> None:
    workspace.memory_md.write_bytes(b"# Mine\nwords\n")
    leave_a_swap(workspace.memory_md, b"# Mine\nwords\n\n# never put in\n", b"# Mine\nwords\n")
    hot.refresh()
    assert workspace.memory_md.read_bytes() == b"# Mine\nwords\n"
    assert leftovers(workspace) == [] and len(versions(workspace)) == 1


@pytest.mark.parametrize("before", [b"# Mine\nwords\n", None])
def test_what_was_cut_off_before_its_bytes_were_on_the_disk_is_nobodys_words(
    workspace: Workspace, hot: HotMemory, monkeypatch: pytest.MonkeyPatch, before: bytes | None
) -> None:
    if before is not None:
        workspace.memory_md.write_bytes(before)
    real = swap.write_temporary

    def torn(*given: Any, **named: Any) -> Path:
        beside = real(*given, **named)
        beside.write_bytes(b"- <!-- 2026-11-28T00:33:\0\0\0")
        raise KeyboardInterrupt  # the power goes

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(swap, "write_temporary", torn)
        hot.remember(clear("x"))
    assert len(leftovers(workspace)) == 1
    HotMemory(workspace, FakeClock()).refresh()
    assert leftovers(workspace) == []
    assert (workspace.memory_md.read_bytes() if workspace.memory_md.exists() else None) == before


def test_words_that_a_deletion_moved_aside_are_put_back(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody wrote to the empty file in the instant in which it was to be deleted, and the disk failed."""
    with closing(Memory.open(workspace, FakeClock())) as memory:
        with caused_by(Author.MODEL, "tool remember in c_1"):
            memory.hot.remember(clear("x"))
        real = conditional.replace

        def edits(source: Path, target: Path) -> None:
            source.write_bytes(b"by hand\n")
            real(source, target)

        def fails(*_: object) -> bool:
            raise OSError(errno.EIO, "Input/output error")

        with monkeypatch.context() as patch, pytest.raises(OSError, match="Input/output"):
            patch.setattr(conditional, "replace", edits)
            patch.setattr(conditional, "link_if_free", fails)
            memory.restorer.undo()
    HotMemory(workspace, FakeClock()).refresh()
    assert (workspace.memory_md.read_bytes(), leftovers(workspace)) == (b"by hand\n", [])


def test_cut_off_after_a_clean_exchange_the_new_text_stays(workspace: Workspace, hot: HotMemory) -> None:
    workspace.memory_md.write_bytes(b"# Mine\nremoved\n")
    beside = leave_a_swap(workspace.memory_md, b"# Mine\n", b"# Mine\nremoved\n")
    exchange(workspace.memory_md, beside)
    hot.refresh()
    assert workspace.memory_md.read_bytes() == b"# Mine\n"
    assert versions(workspace) == [b"# Mine\nremoved\n"]


def test_cut_off_when_a_persons_edit_had_just_come_out_their_words_go_back_in(
    workspace: Workspace, hot: HotMemory
) -> None:
    workspace.memory_md.write_bytes(b"# Mine\nwords\nby hand, just now\n")
    beside = leave_a_swap(workspace.memory_md, b"# Mine\nwords\n\n# ours\n", b"# Mine\nwords\n")
    exchange(workspace.memory_md, beside)
    hot.refresh()
    text = workspace.memory_md.read_text(encoding="utf-8")
    assert text.count("by hand, just now") == 1 and text.count("# ours") == 1 and text.count("words") == 1
    assert leftovers(workspace) == []


def test_cut_off_between_moving_the_file_aside_and_putting_ours_there_it_is_put_back(
    workspace: Workspace, hot: HotMemory
) -> None:
    (workspace.root / ".MEMORY.md.0123456789ab.aside").write_bytes(b"# Mine\nwords\n")
    hot.refresh()
    assert workspace.memory_md.read_bytes() == b"# Mine\nwords\n"
    assert leftovers(workspace) == []


def test_a_disk_that_is_full_leaves_the_file_as_it_was_and_says_so(
    workspace: Workspace, hot: HotMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.memory_md.write_bytes(b"# Mine\n")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(swap, "write_temporary", full)
        with pytest.raises(UnwritableNotes, match="No space"):
            hot.remember(clear("x"))
    assert workspace.memory_md.read_bytes() == b"# Mine\n"
    assert hot.remember(clear("x")).text == "- x"


def test_a_file_that_cannot_be_read_is_not_written_and_no_note_is_acknowledged(
    workspace: Workspace, hot: HotMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    hot.remember(clear("one"))

    def failing(*_: object, **__: object) -> bytes:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(files, "read_bytes", failing)
        with pytest.raises(UnwritableNotes, match="Input/output error"):
            hot.remember(clear("two"))  # in the same second: the first was taken for it
    hot.refresh()
    assert [note.text for note in hot.notes()] == ["- one"]
    assert hot.remember(clear("two")).text == "- two"


def test_a_file_that_stops_being_utf8_in_that_instant_is_given_back_as_it_is(
    workspace: Workspace, hot: HotMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.memory_md.write_bytes(b"# Mine\n")
    put, first = swap.exchange, [True]

    def racing_editor(a: Path, b: Path) -> None:
        if first:
            first.clear()
            a.write_bytes(b"caf\xe9\n")
        put(a, b)

    monkeypatch.setattr(swap, "exchange", racing_editor)
    with pytest.raises(NotUtf8):
        hot.remember(clear("x"))
    assert workspace.memory_md.read_bytes() == b"caf\xe9\n"
    assert leftovers(workspace) == []


def test_a_file_that_is_removed_in_that_instant_is_made_anew_with_our_note(
    workspace: Workspace, hot: HotMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.memory_md.write_bytes(b"# Mine\n")
    put, first = swap.exchange, [True]

    def remover(a: Path, b: Path) -> None:
        if first:
            first.clear()
            a.unlink()
        put(a, b)

    monkeypatch.setattr(swap, "exchange", remover)
    hot.remember(clear("x"))
    assert [note.text for note in hot.notes()] == ["- x"]
    assert leftovers(workspace) == []
