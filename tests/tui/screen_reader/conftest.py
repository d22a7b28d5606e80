"""The chat in lines in a real terminal."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.screen_reader.lines import Start

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[Terminal] = []

    def started(*arguments: str, **environment: str) -> Terminal:
        words = ("--workspace", str(tmp_path / "notes"), *arguments)
        running.append(Terminal(*words, columns=200, rows=60, **{"ACCESSIBLE": "1", **environment}))
        return running[-1]

    yield started
    for each in running:
        each.close()
