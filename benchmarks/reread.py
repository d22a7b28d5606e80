"""What a local server reads again, by llama.cpp's own figures: `cache_n` and `prompt_n` of each request.

    python -m benchmarks.reread [--model FILE.gguf] [--window 8192] [--json]

Real sessions send their requests to a real llama.cpp. Its model is tiny, or the one of `--model`. A token costs a real
model from 1 to 50 ms to read. `may read` is the mark: 5 % of the head for a second conversation; what is new
and 20 tokens for a turn, also after a restart, on another branch and with two conversations in turn; all from the first
changed part on, and 20 tokens, after a new observation, an edit of MEMORY.md and a compaction.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import urllib.request
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from agent import events
from agent.config.config import Config
from agent.config.workspaces import prepare_workspace
from agent.session import Session
from benchmarks.agents.prefill import is_installed, start_server, write_model
from context.settings import ContextSettings
from foundation.paths import Workspace
from models.messages import Request
from models.settings import ModelSettings

HEAD_SHARE, SLACK = 0.05, 20
ANSWER_TOKENS = 48
MEMORY, INDEX = "<palimpsest-memory-", "<palimpsest-observations-"
HERMES = (  # as Qwen's: the tools end the system turn
    "<|s|>system\n{{ messages[0].content if messages[0].role == 'system' }}"
    "{% if tools %}\n\n<tools>{% for tool in tools %}\n{{ tool | tojson }}{% endfor %}\n</tools>\n"
    'For each call, return <tool_call>\n{"name": <name>, "arguments": <object>}\n</tool_call>{% endif %}<|e|>\n'
    "{% for m in messages if m.role != 'system' %}<|s|>{{ m.role }}\n{{ m.content or '' }}"
    "{% if m.tool_calls %}{% for tool_call in m.tool_calls %}{% set tool_call = tool_call.function %}"
    '\n<tool_call>\n{"name": "{{ tool_call.name }}", "arguments": {{ tool_call.arguments | tojson }}}\n</tool_call>'
    "{% endfor %}{% endif %}<|e|>\n{% endfor %}{% if add_generation_prompt %}<|s|>assistant\n{% endif %}"
)
NOTES = "# Memory\n\n<!-- 2026-03-01T10:00:00Z -->\n## Tea\n- Ann drinks {drink}\n"
AGENTS = "You are careful with figures.\n"
LONG = "And the ledger says that the harbour was paid for in March, once more. " * 12


class Step(Struct, frozen=True, kw_only=True):
    """One request: the tokens that the server had, those that it read, and those that it may read."""

    name: str
    cached: int
    read: int
    may_read: int

    @property
    def is_met(self) -> bool:
        return self.read <= self.may_read


class Reader:
    """A session in a workspace, with a server that counts what it reads."""

    def __init__(self, folder: Path, model: Path, window: int, slots: int = 1) -> None:
        self._server = start_server(model, window, slots)
        self._address = self._server.listening_address
        self.workspace = Workspace(folder / f"workspace-{slots}")
        prepare_workspace(self.workspace, dict(os.environ))
        self.write("AGENTS.md", AGENTS)
        self.write("MEMORY.md", NOTES.format(drink="tea"))
        self.session = self._open()
        self.prompt = ""
        self.cached = self.read = self.compactions = 0

    def write(self, name: str, text: str) -> None:
        (self.workspace.root / name).write_text(text, encoding="utf-8")

    def _open(self) -> Session:
        config = Config(
            model=f"openai:reader@{self._address}/v1",
            environment=dict(os.environ),
            models=ModelSettings(temperature=0.0, tool_calls="native"),
            context=ContextSettings(reserve=ANSWER_TOKENS),
        )
        session = Session.open(self.workspace, config)
        model: Any = session.model
        stream: Callable[[Request], AsyncGenerator[Any, None]] = model.stream

        def recorded(request: Request) -> AsyncGenerator[Any, None]:
            body = json.loads(model.body(request))
            given = {name: body[name] for name in ("messages", "tools") if name in body}
            self.prompt = self._ask("/apply-template", given)["prompt"]
            return stream(request)

        model.stream = recorded
        return session

    async def restart(self) -> None:
        await self.session.close()
        self.session = self._open()
        await self.session.resume_latest()

    async def send(self, text: str) -> None:
        """A turn, and what the first of its requests took."""
        counted: list[dict[str, Any]] = []
        async for event in self.session.send(text):
            if isinstance(event, events.UsageKnown):
                counted.append(event.usage.extra["timings"])
            if isinstance(event, events.PermissionRequested | events.CallLimitReached):
                raise SystemExit("The model calls a tool: its figures are not those of one request.")
            if isinstance(event, events.TurnFailed):
                raise SystemExit(f"{event.title}: {event.message}")
            self.compactions += isinstance(event, events.Compacted)
        self.cached, self.read = counted[0]["cache_n"], counted[0]["prompt_n"]
        await self.session.background.idle()

    @property
    def total(self) -> int:
        return self.cached + self.read

    def after(self, mark: str) -> int:
        """Tokens of the newest prompt from the mark on."""
        return len(self._ask("/tokenize", {"content": self.prompt[self.prompt.index(mark) :]})["tokens"])

    def step(self, name: str, may_read: float) -> Step:
        return Step(name=name, cached=self.cached, read=self.read, may_read=int(may_read))

    def _ask(self, path: str, body: Any) -> Any:
        request = urllib.request.Request(
            self._address + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)


async def one_slot(reader: Reader) -> list[Step]:
    """All but the conversations in turn."""
    await reader.send("Hello there.")
    steps = [reader.step("first conversation", reader.total)]
    head = reader.total

    async def turn(name: str, text: str, before: int | None = None) -> None:
        before = reader.total if before is None else before
        await reader.send(text)
        steps.append(reader.step(name, reader.total - before + SLACK))

    await turn("a turn", "How are you?")
    fork, leaf = reader.total, reader.session.conversation and reader.session.conversation.leaf
    await turn("another turn", "We decided to keep SQLite for the queue of jobs.")
    await reader.restart()
    await turn("after a restart", "Which of them is best?")
    assert reader.session.conversation
    stored = reader.session.memory.conversations
    await asyncio.to_thread(stored.set_leaf, reader.session.conversation.seq, leaf)
    await turn("on another branch", "What is a harbour?", fork)

    reader.session.new()
    await reader.send("Good morning to you.")
    steps.append(reader.step("with a new observation", reader.after(INDEX) + SLACK))
    reader.session.new()
    await reader.send("Good evening to you.")
    steps.append(reader.step("second conversation", head * HEAD_SHARE))
    reader.session.new()
    reader.write("MEMORY.md", NOTES.format(drink="coffee"))
    await reader.send("Good night to you.")
    steps.append(reader.step("after an edit of MEMORY.md", reader.after(MEMORY) + SLACK))
    for number in range(40):
        if reader.compactions:
            break
        await reader.send(f"Note {number}: {LONG}")
    steps.append(reader.step("after a compaction", reader.after(INDEX) + SLACK))
    return steps


async def in_turn(reader: Reader) -> list[Step]:
    """Two conversations in turn. The second begins with the head of the first, which then gets a slot of its own."""
    steps: list[Step] = []
    totals: dict[str, int] = {}
    for number, name in enumerate("ABABAB"):
        if number < 2:
            reader.session.new(name)
        else:
            await reader.session.resume(name)
        await reader.send(f"Question {number} of {name}: {LONG}")
        if number > 2:
            steps.append(reader.step(f"{name} of two in turn", reader.total - totals[name] + SLACK))
        totals[name] = reader.total
    return steps


async def measured(folder: Path, model: Path, window: int) -> list[Step]:
    steps: list[Step] = []
    for slots, course in ((1, one_slot), (2, in_turn)):
        reader = Reader(folder, model, window, slots)
        steps += await course(reader)
        await reader.session.close()
    return steps


def tiny_model(folder: Path, window: int) -> Path:
    return write_model(folder / "reader.gguf", window, HERMES)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="a GGUF file (default: a tiny model)")
    parser.add_argument("--window", type=int, default=8192)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if not is_installed():
        print("llama.cpp in this process (xllamacpp), gguf and tokenizers are needed.", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update({"PALIMPSEST_CONFIG_DIR": f"{folder}/config", "PALIMPSEST_DETECT": "off"})
        model = options.model or tiny_model(Path(folder), options.window)
        steps = asyncio.run(measured(Path(folder), model, options.window))
    if options.json:
        rows = [{"step": s.name, "cached": s.cached, "read": s.read, "may_read": s.may_read} for s in steps]
        print(json.dumps({"schema": 1, "benchmark": "reread", "steps": rows}))
    else:
        print(f"{'':28}{'cached':>8}{'read':>8}{'may read':>10}")
        for step in steps:
            print(f"{step.name:28}{step.cached:8,}{step.read:8,}{step.may_read:10,}{'' if step.is_met else '  missed'}")
    return int(not all(step.is_met for step in steps))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
