"""Standard input that is an open pipe: a message that has words waits a moment for it, and goes on."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agent.cli.chat import INPUT_S
from tests.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
WAITING = b"Waiting for standard input"


class OpenInput:
    """The program with a pipe as its input, whose other end stays open until `end`."""

    def __init__(self, folder: Path, *words: str) -> None:
        environment = {**os.environ, "PALIMPSEST_CONFIG_DIR": str(folder / "user"), "PALIMPSEST_DETECT": "off"}
        command = [
            sys.executable,
            "-m",
            "tui.main",
            "--workspace",
            str(folder / "workspace"),
            "--model",
            "offline",
            *words,
        ]
        environment |= {"PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.input, self.output, self.errors = self.process.stdin, self.process.stdout, self.process.stderr

    def until_waiting(self) -> None:
        while WAITING not in (line := self.errors.readline()):
            assert line, "it ended before"

    def write(self, data: bytes) -> None:
        self.input.write(data)
        self.input.flush()

    def result(self) -> tuple[int, bytes]:
        """The exit status and the output, while the pipe stays open."""
        out = self.output.read()
        return self.process.wait(), out


Start = Callable[..., OpenInput]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[OpenInput] = []

    def begin(*words: str) -> OpenInput:
        started.append(OpenInput(tmp_path, *words))
        return started[-1]

    yield begin
    for each in started:
        each.process.kill()
        each.process.wait()
        for pipe in (each.input, each.output, each.errors):
            with suppress(OSError):
                pipe.close()


def test_a_message_goes_on_without_an_input_that_stays_silent(start: Start) -> None:
    program = start("-p", "hello")
    program.until_waiting()
    began = time.monotonic()
    status, out = program.result()
    assert status == 0 and out.strip()
    assert time.monotonic() - began > INPUT_S / 2


def test_what_comes_late_is_taken(start: Start) -> None:
    program = start("-p", "Where is the key?")
    program.until_waiting()
    program.write(b"The greenhouse key is under the blue pot.\n")
    time.sleep(0.2)
    program.write(b"The shed has no key.\n")
    program.input.close()
    assert program.result()[0] == 0
    _, stored = start("export", "--to", "jsonl").result()
    assert b"Where is the key?\\n\\nThe greenhouse key is under the blue pot.\\nThe shed has no key." in stored


def test_without_words_the_input_is_waited_for_and_says_so(start: Start) -> None:
    program = start("-p")
    program.until_waiting()
    time.sleep(INPUT_S / 10)
    assert program.process.poll() is None
    program.write(b"hello\n")
    program.input.close()
    assert program.result()[0] == 0
