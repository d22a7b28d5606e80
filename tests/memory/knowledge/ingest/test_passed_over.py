"""What an addition passes over, and how each file that is not added is reported."""

import os
import pkgutil
import sys
from pathlib import Path

import pytest

from foundation.paths import Workspace
from memory.knowledge.ingest.report import AddOptions, FileMessage
from memory.knowledge.knowledge import Knowledge
from tests.memory.knowledge import files


def names(files: list[FileMessage]) -> list[str]:
    return [file.name for file in files]


def test_one_bad_file_never_stops_the_rest(knowledge: Knowledge, notes: Path) -> None:
    files.pdf(notes / "a-locked.pdf", ["x"], encrypted=True)
    files.bomb(notes / "b-bomb.docx", megabytes=80)
    (notes / "c-broken.pptx").write_bytes(b"PK\x03\x04")
    (notes / "d.txt").write_bytes("совещание".encode("koi8_r"))
    (notes / "e.exe").write_bytes(b"MZ\x00\x01")
    (notes / "f.md").write_bytes(b"")
    report = knowledge.add([notes])
    assert len(report.added) == 3
    assert {one.name: one.why.split(" (")[0] for one in report.bad} == {
        "notes/a-locked.pdf": "it is encrypted",
        "notes/b-bomb.docx": "its part word/document.xml would unpack to 83,886,080 bytes",
        "notes/c-broken.pptx": "it is damaged, truncated, or of another type than its name says",
        "notes/d.txt": "its text is not valid UTF-8",
    }
    assert {one.name: one.why for one in report.skipped} == {
        "notes/e.exe": "no reader for .exe files",
        "notes/f.md": "it is empty",
    }


def test_what_a_person_names_is_not_passed_over_in_silence(knowledge: Knowledge, tmp_path: Path) -> None:
    (tmp_path / "tool.exe").write_bytes(b"MZ\x00\x01")
    report = knowledge.add([tmp_path / "tool.exe"])
    assert [one.why for one in report.bad] == ["no reader for .exe files"]


def test_hidden_and_made_and_linked_things_are_passed_over_and_told(
    knowledge: Knowledge, notes: Path, workspace: Workspace
) -> None:
    for folder in (".git", "node_modules", "build", "deep/build"):
        (notes / folder).mkdir(parents=True)
        (notes / folder / "x.txt").write_text("inside")
    (notes / "package.json").write_text("{}")
    (notes / ".env").write_text("KEY=1")
    (notes / "loop").symlink_to(notes)
    report = knowledge.add([notes])
    assert names(report.added) == [
        "notes/bread.txt",
        "notes/contracts/lease.txt",
        "notes/deep/build/x.txt",
        "notes/package.json",
        "notes/transformers.md",
    ]
    assert {one.name.removeprefix("notes/"): one.why for one in report.skipped} == {
        ".git": "hidden",
        ".env": "hidden",
        "node_modules": "generated or downloaded by a program",
        "build": "generated or downloaded by a program",
        "loop": "a link to a folder: add the folder itself",
    }


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_a_name_that_is_no_text_is_one_line_and_the_rest_is_added(knowledge: Knowledge, notes: Path) -> None:
    (Path(os.fsdecode(os.fsencode(notes) + b"/caf\xe9.txt"))).write_text("Coffee.\n")
    folder = Path(os.fsdecode(os.fsencode(notes) + b"/\xff"))
    folder.mkdir()
    report = knowledge.add([notes, folder], AddOptions(importance=7))
    assert len(report.added) == 3
    assert [(one.name, one.why) for one in report.bad] == [
        ("notes/caf\\xe9.txt", "its name is not UTF-8: rename it, then add it"),
        ("notes/\\xff", "its name is not UTF-8: rename it, then add it"),
        ("\\xff", "its name is not UTF-8: rename it, then add it"),
    ]


@pytest.mark.parametrize("where", ["memory.knowledge.ingest.add.read_file", "memory.knowledge.ingest.store.sketch"])
def test_what_nobody_foresaw_is_its_files_line(
    knowledge: Knowledge, notes: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def stumble(given: bytes | str, *more: object) -> object:
        if "sourdough" in str(given):
            raise RecursionError("too deep\nfor us")
        return before(given, *more)

    before = pkgutil.resolve_name(where)
    monkeypatch.setattr(where, stumble)
    report = knowledge.add([notes])
    assert [(one.name, one.why) for one in report.bad] == [
        ("notes/bread.txt", "an unexpected RecursionError (too deep for us)")
    ]
    assert "report it" in report.bad[0].hint
    assert len(report.added) == 2


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_link_that_leads_out_is_passed_over_and_one_that_was_named_is_read(
    knowledge: Knowledge, notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "passwd").write_text("root:x:0:0\n")
    (notes / "innocent.txt").symlink_to(tmp_path / "passwd")
    (notes / "gone.txt").symlink_to(tmp_path / "nowhere")
    report = knowledge.add([notes])
    why = "a link that leads out of the folder: add its target itself"
    assert [(one.name, one.why) for one in report.skipped] == [("notes/gone.txt", why), ("notes/innocent.txt", why)]
    assert len(report.added) == 3
    assert names(knowledge.add([notes / "innocent.txt"]).added) == ["innocent.txt"]


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_link_within_is_found_by_the_name_that_is_listed(knowledge: Knowledge, notes: Path) -> None:
    (notes / ".store").mkdir()
    (notes / ".store" / "0001.txt").write_text("The pilot comes at dawn.\n")
    (notes / "pilot.txt").symlink_to(".store/0001.txt")
    (notes / "a-loaf.txt").symlink_to("bread.txt")  # comes before the file itself
    report = knowledge.add([notes])
    assert names(report.added) == [
        "notes/bread.txt",
        "notes/contracts/lease.txt",
        "notes/pilot.txt",
        "notes/transformers.md",
    ]
    for typed in ("pilot.txt", "notes/pilot.txt", "pilot*", str(notes / ".store" / "0001.txt")):
        assert [one.name for one in knowledge.find([typed])] == ["notes/pilot.txt"], typed


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
def test_names_with_signs_of_patterns_mean_themselves(knowledge: Knowledge, notes: Path) -> None:
    for name in ("plan[1].txt", "plan1.txt", "all*.txt", "allow.txt"):
        (notes / name).write_text(f"This is {name} of the harbour.\n")
    knowledge.add([notes])
    for typed in ("plan[1].txt", "notes/plan[1].txt", str(notes / "plan[1].txt")):
        assert [one.name for one in knowledge.find([typed])] == ["notes/plan[1].txt"], typed
    assert [one.name for one in knowledge.find(["plan[12].txt"])] == ["notes/plan1.txt"]  # none is called so
    assert [one.name for one in knowledge.set_importance(["all*.txt"], 9)] == ["notes/all*.txt"]
    knowledge.add([notes / "plan[1].txt"], AddOptions(importance=8, again=True))
    (notes / "allotment.txt").write_text("Later.\n")
    knowledge.add([notes])
    given = {one.known.name: one.known.importance for one in knowledge.memories(400)}
    assert (given["notes/all*.txt"], given["notes/allow.txt"], given["notes/allotment.txt"]) == (9, 5, 5)
    assert (given["notes/plan[1].txt"], given["notes/plan1.txt"]) == (8, 5)
    assert [one.name for one in knowledge.set_category(["all*.txt"], "starred")] == ["notes/all*.txt"]


def test_the_workspace_does_not_learn_itself(knowledge: Knowledge, workspace: Workspace) -> None:
    workspace.memory_md.write_text("- a note\n")
    workspace.conversations.mkdir()
    (workspace.conversations / "c.md").write_text("said")
    (workspace.root / "mine.txt").write_text("my own words")
    report = knowledge.add([workspace.root])
    assert names(report.added) == [f"{workspace.root.name}/mine.txt"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read_is_told(knowledge: Knowledge, notes: Path) -> None:
    (notes / "bread.txt").chmod(0)
    report = knowledge.add([notes])
    assert names(report.bad) == ["notes/bread.txt"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")
def test_a_pipe_is_not_waited_for(knowledge: Knowledge, notes: Path) -> None:
    os.mkfifo(notes / "pipe.txt")
    report = knowledge.add([notes])
    assert names(report.skipped) == ["notes/pipe.txt"]


def test_a_file_above_the_limit_is_told(knowledge: Knowledge, notes: Path) -> None:
    (notes / "huge.txt").write_bytes(b"x" * (2**20 + 1))
    report = knowledge.add([notes], AddOptions(max_file_mb=1))
    assert [one.why for one in report.bad] == ["it has 1,048,577 bytes; the limit is 1 MB"]
