"""The command line, run in this process as the entry point runs it: bytes in, bytes out, an exit status."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

from agent.cli import main, output
from agent.cli.launch import LaunchOptions
from tests.agent.cli.json_shapes import assert_in_shape
from tests.loopback import Loopback, json_reply


@dataclass(frozen=True)
class Ran:
    """What one run did."""

    status: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode("utf-8", "surrogatepass")

    @property
    def json(self) -> Any:
        """The one object on stdout, which begins as the contract says."""
        assert self.out.startswith('{"schema": 1'), self.out[:80] + self.err
        assert self.out.isascii()
        return json.loads(self.out)


Run = Callable[..., Ran]


class _Input(io.TextIOWrapper):
    """Standard input, as a pipe or as a terminal."""

    def __init__(self, raw: bytes, *, terminal: bool) -> None:
        super().__init__(io.BytesIO(raw), encoding="utf-8")
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.fixture(autouse=True)
def json_in_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """Holds each object that a command prints to its schema in docs/json."""
    real = output.as_json

    def held(value: Any) -> str:
        text = real(value)
        context = click.get_current_context(silent=True)
        assert_in_shape(context.command_path if context else "palimpsest", json.loads(text))
        return text

    monkeypatch.setattr(output, "as_json", held)


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """`bare("search", "x", stdin=b"…")`: the program in an empty folder with an empty home."""
    here, home = tmp_path / "here", tmp_path / "home"
    here.mkdir()
    home.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("PALIMPSEST_DETECT", "off")

    def run(
        *words: str, stdin: bytes | None = None, open_screen: Callable[[LaunchOptions], int | None] | None = None
    ) -> Ran:
        monkeypatch.setattr(sys, "stdin", _Input(stdin or b"", terminal=stdin is None))
        capfdbinary.readouterr()
        status = main(open_screen, words)
        captured = capfdbinary.readouterr()
        return Ran(status, captured.out, captured.err.decode("utf-8", "replace"))

    return run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where `run`'s workspace is."""
    return tmp_path / "ws"


@pytest.fixture
def run(bare: Run, root: Path) -> Run:
    """As `bare`, in a workspace that was made."""
    assert bare("init", str(root)).status == 0

    def within(*words: str, **more: Any) -> Ran:
        return bare("--workspace", str(root), *words, **more)

    return within


@pytest.fixture
def server() -> Iterator[Loopback]:
    """A scripted server; what it is asked before it is talked to, it does not know."""
    with _scripted_server() as running:
        yield running


@pytest.fixture
def second_server() -> Iterator[Loopback]:
    """Another one."""
    with _scripted_server() as running:
        yield running


def _scripted_server() -> Loopback:
    running = Loopback()
    for path in ("/tokenize", "/api/show"):
        running.answers(path, json_reply({}, status=404))
    return running
