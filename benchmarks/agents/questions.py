"""Asks a workspace for planted facts, in a process of its own, as one that resumes the conversation would.

    python -m benchmarks.agents.questions ROOT ADDRESS WINDOW SETTINGS.json FACTS.json

No model is called and nothing is stored. Of each fact: is its answer in the request as it stands (`in_view`), in the
request that the question would make, with what memory brings by itself (`asked`), in what one call of memory_search
gives for the question (`searched`), in the newest summaries alone (`summarised`), in the newest tokens of the
transcript (`sliding`), and is it in an entry that reads back to the letter (`exact`)?
"""

import asyncio
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import msgspec

from agent.config.config import Config
from agent.session import Session
from agent.tools.memory.search import MemorySearch
from agent.tools.port import ToolRun, ToolSettings
from benchmarks.agents.facts import Fact
from context.report import ContextReport
from context.settings import ContextSettings
from foundation.paths import Workspace
from memory.records import Entry, EntryKind, Trust
from models.settings import ModelSettings

CHARACTERS_A_TOKEN = 4


async def ask(session: Session, facts: list[Fact], sliding_tokens: int) -> dict[str, Any]:
    """One row a fact, and the paths that the newest summaries and the lines of the request name."""
    await session.resume_latest()
    conversation = session.conversation
    assert conversation is not None
    assert conversation.leaf is not None
    path = list(session.memory.conversations.path(conversation.leaf))  # newest first
    texts = {entry.seq: session.memory.passage(entry).text for entry in path}
    now = await session.context_report("")
    summaries = "\n".join(texts[entry.seq] for entry in path if entry.kind is EntryKind.SUMMARY)
    window = _newest(path, texts, sliding_tokens * CHARACTERS_A_TOKEN)
    search = MemorySearch(session.memory, lambda: session.context.told_whole(session.conversation))
    rows: list[dict[str, Any]] = []
    for fact in facts:
        report = await session.context_report(fact.question)
        found = await asyncio.to_thread(search.run, {"query": fact.question}, ToolRun("e_asked", threading.Event()))
        homes = [entry for entry in path if fact.answer in _whole(entry, texts)]
        rows.append(
            {
                **msgspec.to_builtins(fact),
                "in_view": fact.answer in _text(now),
                "asked": fact.answer in _text(report),
                "searched": fact.answer in json.dumps(found, ensure_ascii=False),
                "summarised": fact.answer in summaries,
                "sliding": fact.answer in window,
                "exact": any(entry.trust is Trust.EXACT for entry in homes),  # compared with its hash when read
                "tokens": now.total_tokens,
            }
        )
    return {"facts": rows, "summaries": summaries, "request": _text(now)}


def _whole(entry: Entry, texts: dict[int, str]) -> str:
    """The entry's text, and the arguments of the calls that it makes."""
    calls = entry.meta.get("tool_calls")
    return texts[entry.seq] + (json.dumps(calls, ensure_ascii=False) if calls else "")


def _text(report: ContextReport) -> str:
    return "\n".join(message.text for message in report.messages)


def _newest(path: list[Entry], texts: dict[int, str], characters: int) -> str:
    """The newest entries whole, so many characters of them: what a sliding window would send."""
    taken: list[str] = []
    for entry in path:
        if entry.kind is not EntryKind.SUMMARY:
            taken.append(_whole(entry, texts))
            if sum(map(len, taken)) > characters:
                break
    return "\n".join(reversed(taken))[-characters:]


async def _main(root: str, address: str, window: int, settings: dict[str, Any], facts: list[Fact]) -> None:
    config = Config(
        model=f"openai:m@{address}/v1",
        environment=dict(os.environ),
        models=ModelSettings(tools=True, window=window),
        tools=ToolSettings(**settings.get("tools", {})),
        context=ContextSettings(**settings.get("context", {})),
    )
    session = Session.open(Workspace(Path(root)), config)
    try:
        print(json.dumps(await ask(session, facts, config.context.working_tokens or window)))
    finally:
        await session.close()


if __name__ == "__main__":
    _root, _address, _window, _settings, _facts = sys.argv[1:]
    _given = msgspec.json.decode(Path(_facts).read_bytes(), type=list[Fact])
    asyncio.run(_main(_root, _address, int(_window), json.loads(Path(_settings).read_text()), _given))
