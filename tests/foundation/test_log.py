"""The log: what its level asks for, in one private file, bounded, without words of anybody."""

import logging
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from foundation import log
from foundation.log import LogSettings, logger, open_log


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    open_log(Path(), LogSettings(level="off"))


def test_lines_of_the_level_and_above_are_written(tmp_path: Path) -> None:
    path = tmp_path / "state" / "log.txt"
    open_log(path, LogSettings(level="info"))
    logger("compaction").info("automatic: %d entries left", 12)
    logger("compaction").debug("a step")
    (line,) = path.read_text("utf-8").splitlines()
    assert line.endswith("INFO compaction: automatic: 12 entries left")
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_is_written_where_it_is_off_and_nothing_to_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "log.txt"
    open_log(path, LogSettings(level="off"))
    logger("observe").error("failed")
    assert not path.exists()
    open_log(path, LogSettings())
    logger("observe").warning("failed")
    logger("observe").info("done")
    assert path.read_text("utf-8").count("\n") == 1
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_a_line_has_no_secret_no_control_and_no_second_line(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    open_log(path, LogSettings(level="info"))
    logger("x").info("<private>door 7788</private>\x1b[31m\nghp_" + "a1B2" * 9)
    text = path.read_text("utf-8")
    assert "7788" not in text and "\x1b" not in text and "a1B2a1B2" not in text and text.count("\n") == 1


def test_a_large_log_keeps_its_newest_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MOST_BYTES", 4_000)
    path = tmp_path / "log.txt"
    open_log(path, LogSettings(level="info"))
    for number in range(200):
        logger("x").info("line %d", number)
    lines = path.read_text("utf-8").splitlines()
    assert path.stat().st_size <= 4_100
    assert lines[-1].endswith("line 199") and all(line.startswith("20") for line in lines)


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.mkdir()
    open_log(path, LogSettings(level="debug"))
    logger("x").error("failed")
    assert logging.raiseExceptions


def test_a_process_logs_to_the_workspace_that_was_opened_last(tmp_path: Path) -> None:
    open_log(tmp_path / "one.txt", LogSettings())
    open_log(tmp_path / "two.txt", LogSettings())
    logger("x").warning("failed")
    assert not (tmp_path / "one.txt").exists() and (tmp_path / "two.txt").exists()
