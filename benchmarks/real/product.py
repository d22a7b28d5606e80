"""Runs the product as a user does: `palimpsest -p TEXT` in a folder, on a fresh copy of a prepared workspace."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.real.proxy import Exchange, Recorder

LIMIT_S = 1800


@dataclass(frozen=True)
class Call:
    """A tool call that the product made or refused."""

    name: str
    arguments: dict[str, Any]
    failed: bool = False


@dataclass(frozen=True)
class Outcome:
    """What one message came to."""

    text: str
    status: str  # of the result: answered, empty, failed, denied, limit, …
    calls: list[Call]
    exchanges: list[Exchange]
    seconds: float
    error: str = ""


class Product:
    """A program and a model, and a folder for its workspaces."""

    def __init__(self, program: Path, recorder: Recorder, model: str, folder: Path) -> None:
        self._program = program
        self._recorder = recorder
        self._spec = f"openai:{model}@{recorder.address}/v1"
        self._folder = folder
        home = folder / "home"
        home.mkdir(parents=True, exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PALIMPSEST_", "XDG_"))}
        self._environment = {**kept, "HOME": str(home), "PALIMPSEST_CONFIG_DIR": str(home / "config")}

    def workspace(self, name: str, entries: Sequence[Mapping[str, Any]] = ()) -> Path:
        """Prepares a workspace to copy, with these entries imported; its secrets are made, so copies share them."""
        workspace = self._folder / name
        shutil.rmtree(workspace, ignore_errors=True)
        self._command(workspace, "init")
        if entries:
            source = self._folder / f"{name}.jsonl"
            lines = (json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
            source.write_text("".join(lines), encoding="utf-8")
            self._command(workspace, "import", str(source))
        self._command(workspace, "--model", self._spec, "context", "hello")
        return workspace

    def copy(self, workspace: Path) -> Path:
        """A fresh copy, in the place of the one before."""
        target = self._folder / "copy"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(workspace, target)
        return target

    def send(
        self, workspace: Path, text: str, folder: Path, *flags: str, settings: Mapping[str, str] | None = None
    ) -> Outcome:
        """Sends one message from `folder`. `settings` are environment variables."""
        self._recorder.take()
        flags = ("--workspace", str(workspace), "--trust", "--model", self._spec, *flags)
        began = time.perf_counter()
        try:
            done = subprocess.run(
                [str(self._program), *flags, "-p", text, "--output-format", "stream-json"],
                cwd=folder,
                env={**self._environment, **(settings or {})},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return outcome([], f"no answer after {LIMIT_S} s", self._recorder.take(), LIMIT_S)
        events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return outcome(events, done.stderr, self._recorder.take(), time.perf_counter() - began)

    def _command(self, workspace: Path, *arguments: str) -> None:
        command = [str(self._program), "--workspace", str(workspace), "--trust", *arguments]
        subprocess.run(
            command, cwd=self._folder, env=self._environment, stdin=subprocess.DEVNULL, capture_output=True, check=True
        )


def outcome(events: Sequence[dict[str, Any]], stderr: str, exchanges: list[Exchange], seconds: float) -> Outcome:
    last = events[-1] if events else {}
    failed = {event["id"] for event in events if event["type"] == "tool_result" and event["failed"]}
    calls = [
        Call(event["name"], arguments_of(event["arguments"]), event["id"] in failed)
        for event in events
        if event["type"] == "tool_call"
    ]
    answered = last.get("type") == "result"
    return Outcome(
        text=last.get("text", "") if answered else "",
        status=last.get("status", "") if answered else "failed",
        calls=calls,
        exchanges=exchanges,
        seconds=seconds,
        error="" if answered else str(last.get("message") or stderr.strip()[-300:]),
    )


def arguments_of(arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = None
    return arguments if isinstance(arguments, dict) else {}


def installed_program() -> Path:
    """`palimpsest` beside the Python that runs."""
    return Path(sys.executable).with_name("palimpsest")
