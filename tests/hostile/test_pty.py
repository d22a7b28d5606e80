"""The real program on a real terminal: of hostile names, titles and texts no sequence reaches it."""

import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from foundation.terminal_text import escape_name
from tests.agent.conftest import Run, bare, root, run  # noqa: F401 - fixtures
from tests.hostile.payloads import FORBIDDEN, escapes, sample

pytestmark = [
    pytest.mark.screen,
    pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's"),
    pytest.mark.timeout(60),
]

if sys.platform != "win32":
    from tests.hostile.test_foreign_text import hostile_folder, imported
    from tests.tui.pty_screen import Terminal

OURS = re.compile(
    r"\x1b\[[0-9;:?<>=]*[ !\"$]*[@-~]|\x1b[78=>M]|\x1b\([B0]|\x1bP\+q[0-9A-F;]*\x1b\\"
    r"|\x1b\]22;(?:default|text|pointer)\x07"
)
"""What we write of our own: the cursor moves, lines scroll in a region, colours, questions to the terminal."""
CSI = re.compile(r"\x1b\[([?<>=]?)[0-9;:]*[ !\"$]*([@-~])")


@pytest.fixture
def terminal(run: Run, root: Path, tmp_path: Path) -> Iterator["Terminal"]:  # noqa: F811
    imported(run, tmp_path, sample(30))
    opened = Terminal("--workspace", str(root), columns=120, rows=40)
    opened.until(lambda text: text.rstrip().rpartition("\n")[2].strip() == "offline", within=40)
    yield opened
    opened.close()


def wrong(written: bytes, payloads: Sequence[str], kinds: set[tuple[str, ...]]) -> list[str]:
    """What in the bytes is not Textual's own. `kinds`: the sequences that it wrote before it saw anything hostile."""
    text = written.decode("utf-8", "surrogateescape")
    found = [payload for payload in payloads if len(payload) > 4 and "\x1b" in payload and payload in text]
    found += [kind for kind in map("".join, CSI.findall(text)) if kind not in map("".join, kinds)]
    left = OURS.sub("", text).replace("\r", "").replace("\x08", "")
    return found + [left[max(0, each.start() - 12) : each.end() + 24] for each in FORBIDDEN.finditer(left)]


def completed(terminal: "Terminal", folder: Path, payloads: Sequence[str]) -> int:
    names = hostile_folder(folder, payloads)
    for name in names:
        terminal.type(f'@"{folder}/{escape_name(name)}')
        terminal.settle(0.15)
        terminal.type("\t")
        terminal.settle(0.1)
        terminal.type("x\x03")  # never twice in an empty prompt, which leaves
        terminal.until(lambda text: "Ask, or / for commands" in text)
    return len(names)


def looked_through(terminal: "Terminal") -> None:
    """Search, recall, the list of conversations, one of them, the context, an answer that quotes."""
    for line, seconds in (("/search zebra", 2.0), ("/recall zebra", 2.0), ("/resume", 1.5)):
        terminal.type(f"{line}\r")
        terminal.settle(seconds)
        terminal.type("\x1b[B\x1b[B\x1b[B")
        terminal.settle(0.5)
        terminal.type("\x1b")
        terminal.settle(0.7)
    for line in ("what of zebra?", "/context zebra"):
        terminal.type(f"{line}\r")
        terminal.settle(2.0)


def test_no_sequence_of_a_hostile_folder_or_store_reaches_the_terminal(terminal: "Terminal", tmp_path: Path) -> None:
    _attacked(terminal, tmp_path, sample(12, seed=3))


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_no_sequence_of_any_payload_reaches_the_terminal(terminal: "Terminal", tmp_path: Path) -> None:
    _attacked(terminal, tmp_path, list(escapes()))


def _attacked(terminal: "Terminal", tmp_path: Path, payloads: Sequence[str]) -> None:
    kinds = set(CSI.findall(terminal.bytes.decode("utf-8", "surrogateescape")))
    began = time.monotonic()
    folder = tmp_path / "f"
    folder.mkdir()
    taken = completed(terminal, folder, payloads)
    assert terminal.is_running, terminal.text
    looked_through(terminal)
    assert terminal.is_running, terminal.text
    print(json.dumps({"names": taken, "bytes": len(terminal.bytes), "seconds": round(time.monotonic() - began)}))
    found = wrong(
        terminal.bytes, [*payloads, *sample(30)], kinds | {("", "H"), ("", "m"), ("", "K"), ("", "X"), ("", "r")}
    )
    assert found == [], "\n".join(map(ascii, found))
