"""An unattended session with a server's model: it makes so many tool calls, and every call is allowed.

    python -m tests.e2e.endless_driver WORKSPACE SPEC CALLS CALLS_A_TURN WINDOW WORKING_SET

After each tenth of the calls a line of JSON on stdout has the calls, the process's memory now and at its highest (MB),
requests, tokens of the prompts and those read anew as the server reports them, the longest prompt, compactions, and
what went wrong.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from agent import events
from agent.config.config import Config
from agent.permissions.action import PermissionAnswer
from agent.session import Session
from agent.tools.port import ToolSettings
from context.settings import ContextSettings
from foundation.paths import Workspace
from models.settings import ModelSettings


class Progress:
    """Counts what the events of a session say."""

    def __init__(self) -> None:
        self.calls = self.requests = self.prompt_tokens = self.read_tokens = self.longest_prompt = self.compactions = 0
        self.troubles: list[str] = []

    def take(self, event: events.SessionEvent) -> None:
        match event:
            case events.PermissionRequested() | events.CallLimitReached():
                is_call = isinstance(event, events.PermissionRequested)
                event.answer.set_result(PermissionAnswer(is_call, attended=is_call))
            case events.ToolFinished():
                self.calls += 1
            case events.UsageKnown(usage=usage):
                self.requests += 1
                self.prompt_tokens += usage.prompt_tokens
                self.read_tokens += usage.prompt_tokens - (usage.cached_tokens or 0)
                self.longest_prompt = max(self.longest_prompt, usage.prompt_tokens)
            case events.Compacted():
                self.compactions += 1
            case events.TurnFailed(title=title, message=message) if "tool calls" not in f"{title} {message}":
                self.troubles.append(f"{title}: {message}")
            case events.ContextOverflowed() | events.Retrying() | events.Stopped():
                self.troubles.append(type(event).__name__)
            case _:
                pass

    def line(self) -> dict[str, Any]:
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines())
        now, highest = (round(int(status[name].split()[0]) / 1024, 1) for name in ("VmRSS", "VmHWM"))
        return {**vars(self), "memory_mb": now, "highest_mb": highest}


async def main(root: Path, spec: str, calls: int, calls_a_turn: int, window: int, working_set: int) -> None:
    config = Config(
        model=spec,
        environment=dict(os.environ),
        models=ModelSettings(window=window),
        tools=ToolSettings(most_calls=calls_a_turn),
        context=ContextSettings(working_tokens=working_set),
    )
    session, progress = Session.open(Workspace(root), config), Progress()
    try:
        while progress.calls < calls and not progress.troubles:
            async for event in session.send(f"Go on with the ledger from page {progress.calls}."):
                progress.take(event)
                if isinstance(event, events.ToolFinished) and not progress.calls % (calls // 10):
                    print(json.dumps(progress.line()), flush=True)
    finally:
        await session.close()
    print(json.dumps(progress.line()), flush=True)


if __name__ == "__main__":
    _root, _spec, *_numbers = sys.argv[1:]
    asyncio.run(main(Path(_root), _spec, *map(int, _numbers)))
