"""A job that is cut short takes what was there when it began; what is said again before it ends stays."""

from pathlib import Path

import pytest

from memory.forget import job
from memory.forget.work import ForgetWork, StepCounts
from tests.agent.conftest import Run
from tests.memory.forget.bytes_of import places_of

pytestmark = pytest.mark.timeout(60)


def test_what_is_written_while_a_job_is_open_stays(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("remember", "The old code is zqbluefin-7731.")
    run("-p", "The old talk of zqbluefin-7731.")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("memory.forget.job.scan_workspace", full)
        assert run("forget", "zqbluefin", "--yes").status == 75
        run("remember", "The new code is ZqBluefin-8842.")
        run("-p", "A new talk of zqbluefin-8842.")
    assert run("forget").status == 0
    notes = (root / "MEMORY.md").read_text("utf-8")
    assert "ZqBluefin-8842" in notes
    assert "old code" not in notes
    titles = [each["title"] for each in run("conversations", "list", "--json").json["conversations"]]
    assert any("new talk of zqbluefin" in title for title in titles)
    assert places_of(root, ["zqbluefin-7731"]) == {}
    assert run("check").status == 0


def test_the_receipt_names_what_was_written_since(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("-p", "The old talk of zqbluefin-7731.")
    step = job.STEPS["names"]

    def meanwhile(work: ForgetWork) -> StepCounts:
        notes = root / "MEMORY.md"
        notes.write_text(notes.read_text("utf-8") + "\n- zqbluefin again\n", "utf-8")
        return step(work)

    monkeypatch.setattr(job, "STEPS", {**job.STEPS, "names": meanwhile})
    done = run("forget", "zqbluefin", "--yes")
    assert done.status == 0
    assert "because it was written after the start: MEMORY.md" in done.out
    assert "zqbluefin again" in (root / "MEMORY.md").read_text("utf-8")
