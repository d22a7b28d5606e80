"""Answers of a scripted server that call tools, and a command line of the program as a process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests import forked
from tests.loopback import Loopback, Reply, data, delta, json_reply, stream
from tests.paths import ROOT


class ChatServer(Loopback):
    """Plays its script to chat requests alone; whatever else it is asked, it does not know."""

    def plays(self, *replies: Reply) -> None:
        script = iter(replies)
        unknown = json_reply({"error": {"message": "unknown"}}, status=404)
        self.answers_all(lambda asked: next(script) if asked.path.endswith("/chat/completions") else unknown)

    @property
    def spec(self) -> str:
        return f"openai:m@{self.address}/v1"

    @property
    def chats(self) -> list[Any]:
        """The chat requests so far."""
        return [post.json for post in self.posts if post.path.endswith("/chat/completions")]


def tool_call(name: str, id_: str = "", /, usage: dict[str, int] | None = None, **arguments: Any) -> Reply:
    """An answer that calls one tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": id_ or f"call_{name}", "type": "function", "function": function}
    counts = [data({"choices": [], "usage": usage})] if usage else []
    return stream(data(delta(tool_calls=[call])), data(delta("tool_calls")), *counts, data("[DONE]"))


def lines(out: str | bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def of_type(told: list[dict[str, Any]], *kinds: str) -> Iterator[dict[str, Any]]:
    return (line for line in told if line["type"] in kinds)


Process = subprocess.Popen[bytes] | forked.Piped


def started(root: Path, *words: str) -> Process:
    """The program as a process of its own, with pipes for its standard input and output."""
    given = ["--workspace", str(root), *words]
    if sys.platform == "linux":
        return forked.Piped(given, os.environ)
    command = [sys.executable, "-m", "agent.cli", *given]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
