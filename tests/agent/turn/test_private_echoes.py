"""A model that says private words again: the person sees them, and no file has them."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.events import PermissionRequested, TextDelta
from agent.session import Session
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import calls, open_session, turn
from tests.hostile.canaries import Canaries
from tests.loopback import Loopback, Reply, Stall, chat, data, delta, stream

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path, server, models=ModelSettings(tools=True, window=16_000))
    yield opened
    await opened.close()


def echoing(words: str, *tools: tuple[str, dict[str, Any]]) -> Reply:
    """Says the words in its thoughts, in its answer and in each call, in small pieces."""
    said = f"You told me {words}, and {words.upper()} again."
    steps = [delta(role="assistant", content=""), delta(reasoning_content=f"They hide {words}.")]
    steps += [delta(content=said[at : at + 3]) for at in range(0, len(said), 3)]
    for index, (name, arguments) in enumerate(tools):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": index, "id": f"call_{index}_{name}", "type": "function", "function": function}
        steps.append(delta(tool_calls=[call]))
    steps.append(delta("tool_calls" if tools else "stop"))
    return stream(*map(data, steps), data("[DONE]"))


def shown(seen: list[Any]) -> str:
    return "".join(event.text for event in seen if isinstance(event, TextDelta))


async def test_no_file_has_what_a_model_says_again(session: Session, server: Loopback, workspace: Workspace) -> None:
    canaries = Canaries(7)
    words = f"{canaries.private('name')} {canaries.private('street')}"
    password, code = canaries.password("named in the message"), canaries.private("code")
    tools = (
        ("remember", {"note": f"They live at {words} with {password}"}),
        ("search_memory", {"query": words}),
        ("recall", {"ref": words}),
        (f"no_{code}", {code: code.upper()}),
    )
    server.plays(echoing(words, *tools), echoing(f"{words} {password}"), chat("and ", words, " later"))
    seen = await turn(session, f"My password is {password}. I am <private>{words}</private> <private>{code}", True)
    assert words in shown(seen)
    asked = [event for event in seen if isinstance(event, PermissionRequested)]
    assert [event.action.summary for event in asked] == ["add to MEMORY.md: “They live at [private] with [private]”"]
    assert "They live at [private] with [private]" in workspace.memory_md.read_text("utf-8")
    later = await turn(session, "And once more?", True)  # its request still has the words: RAM alone
    assert words in shown(later)
    assert words in server.posts[-1].body.decode()
    await session.close()
    assert len(canaries.doors) == 4
    assert canaries.found_in(workspace.root) == {}


async def test_no_file_has_what_a_model_says_again_before_it_is_stopped(
    session: Session, server: Loopback, workspace: Workspace
) -> None:
    canaries = Canaries(8)
    words = f"{canaries.private('name')} {canaries.private('street')}"
    server.plays((*echoing(words)[:-2], Stall()))  # it never ends
    said, looked = "", False
    async for event in session.send(f"I am <private>{words}</private>."):
        said += event.text if isinstance(event, TextDelta) else ""
        if words.upper() in said and not looked:
            await asyncio.sleep(0.3)  # what came is on disk now
            looked = canaries.found_in(workspace.root) == {}
            session.stop()
    assert looked
    await session.close()
    assert canaries.found_in(workspace.root) == {}


WORDS = "zanzibar quokka marmalade"
KEY = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5"


def fragments(workspace: Workspace) -> list[str]:
    """The files of the workspace's state in which a part of the words or of the key stands."""
    found: list[str] = []
    for path in workspace.own.rglob("*"):
        if path.is_file() and any(part in path.read_bytes() for part in (b"zanzib", b"quokka", b"marmal", b"ghp_aB")):
            found.append(path.name)
    return found


@pytest.mark.parametrize("cut_at", [3, 12, 20, 27])
async def test_no_file_has_a_part_of_what_is_hidden_where_a_result_is_cut(
    session: Session, server: Loopback, workspace: Workspace, cut_at: int
) -> None:
    most = session.config.tools.result_chars
    head = "y" * (round(most * 0.7) - cut_at)
    (workspace.root / "long.txt").write_text(f"{head}{WORDS} {'z' * 3 * most}")
    (workspace.root / "keys.txt").write_text(f"{head} {KEY} {'z' * 3 * most}")
    server.plays(calls("read_file", path="long.txt"), calls("read_file", path="keys.txt"), chat("Read."))
    await turn(session, f"Read it. I am <private>{WORDS}</private>.", True)
    await session.close()
    assert fragments(workspace) == []


async def test_no_file_has_a_part_of_what_is_hidden_where_a_summary_is_cut(
    session: Session, server: Loopback, workspace: Workspace
) -> None:
    long = f"echo {'a' * 100} {WORDS}"
    wrong = f"{'b ' * 236}{WORDS}"  # the summary of a failed call has 500 characters
    server.plays(
        calls("run_command", command=long),
        calls("run_command", command=f"echo {'a' * 90} {KEY}"),
        calls(wrong, path="x"),
        calls("read_file", path=f"{'c/' * 236}{WORDS}"),
        chat("Done."),
    )
    await turn(session, f"Go. I am <private>{WORDS}</private>.", True)
    await session.close()
    assert fragments(workspace) == []
