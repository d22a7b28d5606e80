"""A later import of many files skips those that are as they were, and reads the others."""

import os
from pathlib import Path

from agent.importers.imported_files import LAST_BYTES, ImportedFiles
from agent.importers.jsonl import read_jsonl
from memory.cold import ColdStore
from memory.conversations import Conversations
from tests.agent.importers.stored import lines, stored


def test_a_file_is_read_again_when_it_changed(cold: ColdStore, tmp_path: Path) -> None:
    stored(cold, read_jsonl(lines({"text": "a"}), "f"))
    file, marks = tmp_path / "session.jsonl", tmp_path / "imported-files"
    imported = ImportedFiles(marks, Conversations(cold))
    file.write_text("one\ntwo\n")
    first = imported.mark(file, "codex")
    assert not imported.holds(first)
    imported.add(first)
    again = ImportedFiles(marks, Conversations(cold))
    assert again.holds(again.mark(file, "codex"))
    assert not again.holds(again.mark(file, "claude-code")), "in another format it was not imported"
    times = file.stat()
    file.write_text("one\nTWO\n")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert not again.holds(again.mark(file, "codex")), "its last line is another one"
    file.write_text("one\ntwo\n")
    assert again.holds(again.mark(file, "codex"))
    copy = tmp_path / "copy.jsonl"
    copy.write_text("one\ntwo\n")
    copy.replace(file)
    assert not again.holds(again.mark(file, "codex")), "another file has its name"
    assert b"session" not in marks.read_bytes()


def test_only_the_end_of_a_large_file_is_read(cold: ColdStore, tmp_path: Path) -> None:
    file = tmp_path / "large.jsonl"
    file.write_bytes(b"x" * (3 * LAST_BYTES))
    imported = ImportedFiles(tmp_path / "marks", Conversations(cold))
    before = imported.mark(file)
    with file.open("r+b") as changed:
        changed.seek(3 * LAST_BYTES - 1)
        changed.write(b"y")
    assert imported.mark(file) != before


def test_marks_are_void_where_the_conversations_were_lost(cold: ColdStore, tmp_path: Path) -> None:
    marks = tmp_path / "imported-files"
    marks.write_text("mark\n")
    assert not ImportedFiles(marks, Conversations(cold)).holds("mark")
    assert not marks.exists()
