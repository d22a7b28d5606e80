"""What commands say: no zeros, no wrong plural, advice for this machine."""

import pytest

from agent.cli.launch import LaunchOptions
from agent.doctor import doctor
from agent.importers.report import ImportReport, summary
from tests.agent.conftest import Run


def _absent(_name: str) -> None:
    """No library is installed."""


def _no_screen(_opening: LaunchOptions) -> int:
    raise AssertionError("no screen may open without a terminal")


def imported(entries: int, conversations: int, already: int = 0, bad: int = 0) -> ImportReport:
    return ImportReport(
        source="talk",
        conversations=tuple(range(conversations)),
        entries=entries,
        already=already,
        bad=(),
        bad_count=bad,
        redacted=0,
    )


def test_an_import_tells_what_happened_and_nothing_else() -> None:
    assert summary(imported(300, 1)) == "300 entries in 1 conversation imported from “talk”."
    assert summary(imported(1, 1, 1, 2)) == (
        "1 entry in 1 conversation imported from “talk”; 1 was already stored; 2 lines were bad."
    )
    assert summary(imported(0, 0, 5)) == "Nothing new in “talk”; 5 were already stored."


def test_the_doctor_advises_what_runs_here(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.importlib.util, "find_spec", _absent)
    monkeypatch.setattr(doctor.platform, "system", lambda: "Linux")
    findings = {one["topic"]: one for one in run("doctor", "--json").json["findings"]}
    assert not {"mlx_lm", "mlx_vlm"} & set(findings)
    assert findings["rapidocr"]["hint"] == "" and "rapidocr" in findings["extras"]["hint"]
    assert findings["rapidocr"]["sentence"].startswith("Not installed. With it, PP-OCR reads")
    monkeypatch.setattr(doctor.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(doctor.platform, "machine", lambda: "arm64")
    assert "mlx_lm" in {one["topic"] for one in run("doctor", "--json").json["findings"]}


def test_a_lone_word_without_a_terminal_is_told_as_a_message(run: Run) -> None:
    said = run("zeppelin", stdin=b"", open_screen=_no_screen)
    assert said.status == 2
    assert "“zeppelin” is not a command" in said.err
    assert "no command" not in run("what is this", stdin=b"", open_screen=_no_screen).err


def test_nothing_found_is_no_failure(run: Run) -> None:
    for command in ("search", "recall"):
        assert run(command, "zeppelin").status == 0
        said = run(command, "zeppelin", "--json")
        assert said.status == 0 and said.json["found"] is False
