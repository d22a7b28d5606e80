"""The whole program, as a person starts it, or forked from a process that has loaded it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import forked
from tests.e2e.recording_proxy import RecordingProxy
from tests.paths import ROOT
from tests.servers import REPLY, LlamaServer, Scripted, scripted_llama

__all__ = ["scripted_llama"]


@dataclass(frozen=True)
class Ran:
    """What one run of the program did."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """One JSON value a line."""
        return [json.loads(line) for line in self.out.splitlines()]


Palimpsest = Callable[..., Ran]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Ours less the developer's own settings; no server is looked for."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PALIMPSEST_", "COV_"))}
    return kept | {
        "PALIMPSEST_CONFIG_DIR": str(tmp_path / "user-config"),
        "PALIMPSEST_DETECT": "off",
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
        "HOME": str(tmp_path / "home"),
    }


@pytest.fixture
def palimpsest(tmp_path: Path, environment: dict[str, str]) -> Palimpsest:
    """Runs the program in `tmp_path/ws`: `palimpsest("search", "x", "--json", stdin="…")`."""
    return _runner(tmp_path, environment, _forked if sys.platform == "linux" else _started)


@pytest.fixture
def started(tmp_path: Path, environment: dict[str, str]) -> Palimpsest:
    """As `palimpsest`, and each run is a new interpreter."""
    return _runner(tmp_path, environment, _started)


def _runner(
    folder: Path, environment: dict[str, str], how: Callable[[list[str], Path, dict[str, str]], Ran]
) -> Palimpsest:
    def run(*arguments: str, stdin: str = "", workspace: Path | None = None, **variables: str) -> Ran:
        given = folder / "stdin"
        given.write_text(stdin, encoding="utf-8")
        return how(["--workspace", str(workspace or folder / "ws"), *arguments], given, environment | variables)

    return run


def _forked(words: list[str], stdin: Path, environment: dict[str, str]) -> Ran:
    ended = forked.run(words, environment, stdin=stdin)
    return Ran(ended.status, ended.out.decode(), ended.err.decode())


def _started(words: list[str], stdin: Path, environment: dict[str, str]) -> Ran:
    with stdin.open("rb") as given:
        done = subprocess.run(
            [sys.executable, "-m", "tui.main", *words],
            stdin=given,
            capture_output=True,
            env=environment,
            timeout=60,
            check=False,
        )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture(scope="session")
def llama_server(scripted_llama: Scripted) -> LlamaServer:
    """A real llama.cpp server. Its tokens are bytes, about four times what we estimate: hence the large context."""
    return scripted_llama(REPLY, context=16_384)


@pytest.fixture
def watched_llama(llama_server: LlamaServer) -> Iterator[RecordingProxy]:
    """A real llama.cpp server behind a proxy that keeps what it received."""
    with RecordingProxy(llama_server.address) as proxy:
        yield proxy
