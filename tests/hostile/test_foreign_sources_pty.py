"""The real program in a real terminal, with hostile text from everywhere: no sequence but our own reaches the pty.

The model's answers and reasoning arrive in pieces of a few bytes; so do arguments of calls, outputs of tools, files,
descriptions and results of MCP servers, errors of the server, the names of models and editors, and what is pasted.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.payloads import escapes, sample
from tests.loopback import Loopback, Received, Reply, delta, in_pieces, json_reply, stream

pytestmark = [
    pytest.mark.screen,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="a pty is POSIX's"),
    pytest.mark.timeout(180),
]

if sys.platform != "win32":
    from tests.hostile.test_pty import CSI, wrong
    from tests.tui.pty_screen import Terminal

BATCH = 40
ESC, DOWN, ENTER = "\x1b", "\x1b[B", "\r"
SERVER = Path(__file__).with_name("mcp_server.py")
OWN = {("", kind) for kind in "HmKXrJABCDh"} | {("?", "h"), ("?", "l"), ("", "l"), ("?", "u"), (">", "u"), ("<", "u")}
"""Sequences of ours that a calm start need not have: for scrolling, for the way to an editor and back."""


def event(**given: Any) -> bytes:
    """A chunk of the stream; lone surrogates stay as JSON writes them."""
    finish = given.pop("finish", None)
    return b"data: " + json.dumps(delta(finish, **given)).encode() + b"\n\n"


class HostileServer:
    """Does what the last message names, with the payloads of the batch."""

    def __init__(self, folder: Path) -> None:
        self.payloads: Sequence[str] = ()
        self.folder = folder

    def reply(self, received: Received) -> Reply:
        text = "\n".join(self.payloads)
        if not received.path.endswith("/chat/completions"):
            return json_reply({"object": "list", "data": [{"id": payload} for payload in self.payloads]})
        spoken = [each for each in received.json["messages"] if each["role"] in {"user", "tool"}]
        words = json.dumps(spoken[-1]["content"]).rpartition("please ")[2]
        is_result = spoken[-1]["role"] == "tool"
        if words.startswith("fail") and not is_result:
            return json_reply({"error": {"message": text, "type": text, "code": text}}, status=400)
        if not is_result:
            match words.split()[0].strip('"'):
                case "read":
                    return self._call("read_file", path=str(self.folder / "hostile.txt"))
                case "run":
                    return self._call("run_command", command=f"cat hostile.txt # {text}")
                case "ask":
                    return self._call("ask_user", question=text, options=list(self.payloads[:3]) or ["x", "y"])
                case "mcp":
                    tools = [each["function"]["name"] for each in received.json.get("tools", ())]
                    return self._call(next((name for name in tools if name.endswith("look")), "read_file"), x=text)
                case _:
                    pass
        begun = event(role="assistant", content="") + event(reasoning_content=text)
        pieces = [event(content=text[at : at + 3]) for at in range(0, len(text), 3)]
        whole = b"".join([begun, *pieces, event(content=" over", finish=None), event(finish="stop")])
        return stream(*in_pieces(whole + b"data: [DONE]\n\n", 97))

    def _call(self, name: str, **arguments: Any) -> Reply:
        call = {
            "index": 0,
            "id": "call_0",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        return stream(event(tool_calls=[call]), event(finish="tool_calls"), b"data: [DONE]\n\n")


@pytest.fixture
def model(tmp_path: Path) -> Iterator[tuple[HostileServer, Loopback]]:
    with Loopback() as loopback:
        hostile = HostileServer(tmp_path / "project")
        (tmp_path / "project").mkdir()
        loopback.answers_all(hostile.reply)
        yield hostile, loopback


def start(tmp_path: Path, address: str, payloads: Sequence[str]) -> "Terminal":
    config = tmp_path / "config"
    config.mkdir(exist_ok=True, mode=0o700)
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps(payloads), encoding="utf-8")
    server = {"command": sys.executable, "args": ["-S", str(SERVER), str(texts)]}
    (config / "mcp.json").write_text(json.dumps({"mcpServers": {"bad": server}}), encoding="utf-8")
    (tmp_path / "project" / "hostile.txt").write_text("\n".join(payloads), encoding="utf-8", errors="surrogatepass")
    name = "".join(payloads[0].split()).replace("\x00", "").encode("utf-8", "replace").decode()
    terminal = Terminal(
        *("--workspace", str(tmp_path / "ws"), "--add-dir", str(tmp_path / "project")),
        columns=120,
        rows=40,
        PALIMPSEST_CONFIG_DIR=str(config),
        PALIMPSEST_MODEL=f"openai:m@{address}/v1",
        PALIMPSEST_MODELS_WINDOW="30000",
        PALIMPSEST_TOOLS_MODE="ask",
        EDITOR=f"none{name}",
        VISUAL="",
    )
    terminal.until(lambda text: "mode ask" in text.rstrip().rpartition("\n")[2], within=60)
    return terminal


def attacked(model: tuple[HostileServer, Loopback], tmp_path: Path, payloads: Sequence[str]) -> list[str]:
    """What reached the terminal of these payloads, from each source."""
    hostile, loopback = model
    hostile.payloads = payloads
    terminal = start(tmp_path, loopback.address, payloads)
    kinds = set(CSI.findall(terminal.bytes.decode("utf-8", "surrogateescape"))) | OWN
    try:
        for wish in ("answer", "fail", "read", "run", "ask", "mcp"):
            terminal.type(f"please {wish}{ENTER}")
            terminal.settle(0.5)
            _wait(terminal)
            for _ in range(6):  # reasoning, the card of the call and what it opens to
                terminal.type("\x1b[1;5A")
            terminal.type(ENTER)
            terminal.settle(0.2)
            terminal.type("e")
            terminal.settle(0.3)
            for _ in range(8):
                terminal.type(ESC)
                terminal.settle(0.4)
                if "mode ask" in terminal.text.rstrip().rpartition("\n")[2]:
                    break
            else:
                raise AssertionError(f"Esc does not lead back:\n{terminal.text}")
        for line in ("/mcp", "/model", "/status", "/context", "/permissions", "/tree", "/stats"):
            terminal.type(f"{line}{ENTER}")
            terminal.settle(0.7)
            terminal.type(DOWN)
            terminal.settle(0.3)
            terminal.type(ESC)
            terminal.settle(0.5)
        pasted = "\n".join(payloads).replace("\x1b[201~", "").encode("utf-8", "replace").decode()
        terminal.type(f"\x1b[200~{pasted}\x1b[201~")
        terminal.settle(0.5)
        terminal.type(f"\x1b[200~{pasted}\x1b[201~")  # unfolds it
        terminal.settle(0.5)
        terminal.type("\x07")  # the editor that is none
        terminal.settle(1.0)
        terminal.type("\x03")
        terminal.settle(0.3)
        assert terminal.is_running, terminal.text
        return wrong(terminal.bytes, payloads, kinds)
    finally:
        terminal.close()


def _wait(terminal: "Terminal") -> None:
    """Until the turn is over; a question is answered once with its first answer, or left."""
    for _ in range(80):
        text = terminal.text
        if "↑ ↓ choose" in text and "wants to use" in text:
            terminal.settle(1.0)
            terminal.type(DOWN)
            terminal.settle(0.2)
            terminal.type(ENTER)
        elif "waits for your answer" in text:
            terminal.type(ESC)
        elif "Esc stops" not in text:
            return
        terminal.settle(0.3)
    raise AssertionError(f"the turn never ends:\n{terminal.text}")


def test_no_sequence_of_a_model_a_tool_or_a_server_reaches_the_terminal(
    model: tuple[HostileServer, Loopback], tmp_path: Path
) -> None:
    found = attacked(model, tmp_path, sample(12, seed=8))
    assert found == [], "\n".join(map(ascii, found))
    assert len(model[1].posts) >= 9  # each wish, and the results of tools


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("start_at", range(0, len(list(escapes())), BATCH))
def test_no_sequence_of_all_reaches_the_terminal(
    model: tuple[HostileServer, Loopback], tmp_path: Path, start_at: int
) -> None:
    found = attacked(model, tmp_path, list(escapes())[start_at : start_at + BATCH])
    assert found == [], "\n".join(map(ascii, found))
