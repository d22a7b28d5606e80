"""Words in the names of notes and of files of knowledge go, too; what nothing takes out ends the job and is named."""

from pathlib import Path

import pytest

from memory.forget.scan import ScanResult
from memory.forget.work import ForgetWork
from memory.forgotten.journal import ForgetJournal
from tests.agent.conftest import Run
from tests.memory.forget.bytes_of import places_of

pytestmark = pytest.mark.timeout(60)


def test_a_note_and_a_file_of_knowledge_lose_the_words_in_their_names(run: Run, root: Path, tmp_path: Path) -> None:
    (root / "memory" / "zqvornNAME.md").write_text("# House\n\n- The boiler.\n- A zqvorn here.\n", "utf-8")
    (tmp_path / "zqvorn.txt").write_text("It says nothing else.\n", "utf-8")
    run("knowledge", "add", str(tmp_path / "zqvorn.txt"))
    run("memory", "list")
    shown = run("forget", "zqvorn", "--dry-run").out
    assert "memory/zqvornNAME.md becomes memory/note-" in shown
    done = run("forget", "zqvorn", "--yes")
    assert done.status == 0
    assert places_of(root, ["zqvorn"]) == {}
    (note,) = (root / "memory").glob("note-*.md")
    assert note.read_text("utf-8") == "# House\n\n- The boiler.\n"
    assert len(run("knowledge", "list", "--json").json["memories"]) == 1
    assert f"memory/{note.name}" in run("memory", "log").out
    assert run("check").status == 0


def test_a_file_of_the_persons_own_with_the_words_in_its_name_does_not_keep_the_job_open(run: Run, root: Path) -> None:
    (root / "zqvorn.txt").write_text("zqvorn", "utf-8")
    run("-p", "It is zqvorn.")
    done = run("forget", "zqvorn", "--yes", "--json")
    assert (done.status, done.json["kept"]) == (0, ["zqvorn.txt"])
    assert set(places_of(root, ["zqvorn"])) == {"zqvorn.txt"}


def test_what_nothing_takes_out_is_named_and_the_job_ends(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("-p", "It is zqvorn.")

    def stuck(_: ForgetWork) -> ScanResult:
        return ScanResult(1, 1, ("MEMORY.md",))

    monkeypatch.setattr("memory.forget.job.scan_workspace", stuck)
    assert run("forget", "zqvorn", "--yes").status == 75
    ended = run("forget")
    assert (ended.status, "It could not be deleted from MEMORY.md" in ended.err) == (1, True)
    assert ForgetJournal(root / ".palimpsest" / "forgotten").open_ids() == []
    assert run("forget").status == 0


def test_another_command_that_ends_such_a_job_says_so(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("-p", "It is zqvorn.")

    def stuck(_: ForgetWork) -> ScanResult:
        return ScanResult(1, 1, ("MEMORY.md",))

    monkeypatch.setattr("memory.forget.job.scan_workspace", stuck)
    assert run("forget", "zqvorn", "--yes").status == 75
    assert "It could not be deleted from MEMORY.md" in run("remember", "Something else.").err
    assert run("check").status == 0
