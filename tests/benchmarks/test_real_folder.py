"""The folder of the benchmark with real models: one that is not named or is not there is told in a sentence."""

from pathlib import Path

import pytest

from benchmarks.real.__main__ import main


def test_no_folder_is_told_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capsys.readouterr().err == "Name a folder of GGUF files: make real MODELS=FOLDER\n"


def test_a_folder_that_is_not_there_is_told_as_that(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == f"There is no folder {tmp_path / 'none'}.\n"
