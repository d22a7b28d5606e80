"""The process that converts a page: it has no keys, loads nothing from the folder it starts in, and is bounded."""

import sys
from pathlib import Path

import pytest

from agent.tools.port import ToolFailure
from agent.tools.web.html_markdown import MEMORY, html_to_markdown

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="starts a script of the shell")


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that is started in place of Python."""
    program = tmp_path / "python"
    program.touch(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    return program


def test_it_gets_no_key(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody")
    script.write_text("#!/bin/sh\nenv")
    text = html_to_markdown("<p>Hello")
    assert "PYTHONPATH=" in text and "sk-of-somebody" not in text


def test_it_is_ended_when_it_takes_too_long(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.tools.web.html_markdown.SECONDS", 0.2)
    script.write_text("#!/bin/sh\nexec sleep 30")
    with pytest.raises(ToolFailure, match=r"more than 0\.2 seconds"):
        html_to_markdown("<p>Hello")


def test_it_loads_nothing_from_the_folder_that_it_starts_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bs4.py").write_text("raise SystemExit('the folder ran')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert html_to_markdown("<p>Hello") == "Hello\n"


@pytest.mark.skipif(sys.platform != "linux", reason="macOS sets no limit of memory")
def test_its_memory_and_its_depth_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bs4.py").write_text(
        "import resource, sys\n"
        "def BeautifulSoup(*_):\n"
        "    sys.exit(print(resource.getrlimit(resource.RLIMIT_AS)[0], sys.getrecursionlimit()))\n"
    )
    (tmp_path / "markdownify.py").write_text("MarkdownConverter = None\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert html_to_markdown("") == f"{MEMORY} 5000\n"
