"""The search in a real terminal: type, find, go there, cite."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Palimpsest
from tests.e2e.conversation import FACT, talk_jsonl

pytestmark = [
    pytest.mark.slow,
    pytest.mark.screen,
    pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's"),
    pytest.mark.timeout(240),
]

if sys.platform != "win32":
    from tests.tui.pty_screen import Terminal


@pytest.fixture
def terminal(palimpsest: Palimpsest, tmp_path: Path) -> Iterator["Terminal"]:
    """The program over a conversation of three hundred entries, the fact far up in it."""
    (tmp_path / "talk.jsonl").write_text(talk_jsonl(300), encoding="utf-8")
    done = palimpsest("import", str(tmp_path / "talk.jsonl"), "--from", "jsonl", "--source", "letters")
    assert done.status == 0, done.err
    opened = Terminal("--workspace", str(tmp_path / "ws"), HOME=str(tmp_path / "home"))
    yield opened
    opened.close()


def test_one_types_finds_goes_there_and_cites(terminal: "Terminal") -> None:
    terminal.until(lambda text: text.rstrip().rpartition("\n")[2].strip() == "offline", within=60)
    terminal.type("I read that ")
    terminal.type("\x1bOR")  # F3
    terminal.until(lambda text: "Search" in text and "found" in text, within=60)
    terminal.type("blue tin tomato pot")
    found = terminal.until(lambda text: "blue tin" in text and "%" in text and "t100" in text)
    assert "Enter goes there" in found
    terminal.type("\x19")  # Ctrl+Y
    cited = terminal.until(lambda text: "❯ I read that [" in text)
    assert "t100]" in cited
    terminal.type("\x1bOR")
    terminal.until(lambda text: "Search" in text and "found" in text)
    terminal.type("blue tin tomato pot")
    terminal.until(lambda text: "t100" in text and "blue tin" in text)
    terminal.type("\r")
    there = terminal.until(lambda text: "▸ match: blue tin tomato pot" in text)
    assert FACT.split(".")[0][:30] in " ".join(there.split())
    terminal.until(lambda text: "↓ more" in text)
    for escape in (b"\x1b]52", b"\x1b]8"):
        assert escape not in terminal.bytes
    terminal.type("\x04")
    assert terminal.ended() == 0
