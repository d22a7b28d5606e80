"""A probe finds out how a model calls tools, once, and its verdict holds for that model alone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.config.config import Config
from agent.config.used_models import ProbeVerdict, UsedModels
from agent.services.model_probe import probe_model
from foundation.errors import Misuse
from foundation.paths import Workspace
from models.chat.port import Profile
from models.settings import ModelSettings, ProfileOverride
from tests.agent.conftest import Run
from tests.agent.headless.tool_answers import ChatServer, tool_call
from tests.agent.sessions import environment_of, open_session
from tests.loopback import Received, Reply, chat, json_reply

IN_TEXT = '<tool_call>\n{"name": "read_file", "arguments": {"path": "notes.txt"}}\n</tool_call>'
UNKNOWN = json_reply({"error": {"message": "unknown"}}, status=404)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as opened:
        yield opened


def behaves(server: ChatServer, reply: Callable[[str, dict[str, Any]], Reply]) -> None:
    """The model answers by the user's message and the request."""

    def answer(asked: Received) -> Reply:
        if not asked.path.endswith("/chat/completions"):
            return UNKNOWN
        return reply(str(asked.json["messages"][-1]["content"]), asked.json)

    server.answers_all(answer)


def capable(text: str, _: dict[str, Any]) -> Reply:
    if "notes.txt" in text:
        return tool_call("read_file", path="notes.txt")
    return chat("Heron" if "today" in text else "Hello! How can I help?")


def spoiled_by_tools(text: str, request: dict[str, Any]) -> Reply:
    """As small models do: JSON for everything once tools are in the request, calls in text where they are described."""
    if "tools" in request:
        return chat('{"name": "hello", "arguments": {}}')
    return chat(IN_TEXT if "notes.txt" in text else "Bees. " * 40 if "today" in text else "Hello!")


async def probed(server: ChatServer, tmp_path: Path, models: ModelSettings | None = None) -> ProbeVerdict:
    config = Config(environment=environment_of(tmp_path), models=models or ModelSettings())
    return await probe_model(config, server.spec)


async def test_a_model_that_calls_natively_takes_three_requests(server: ChatServer, tmp_path: Path) -> None:
    behaves(server, capable)
    assert await probed(server, tmp_path) == ProbeVerdict(tools="native")
    assert len(server.chats) == 3
    assert {request["temperature"] for request in server.chats} == {0.0}


async def test_a_model_that_tools_spoil_gets_them_in_text(server: ChatServer, tmp_path: Path) -> None:
    behaves(server, spoiled_by_tools)
    verdict = await probed(server, tmp_path)
    assert verdict == ProbeVerdict(tools="text", system=False, repeats=True)
    assert verdict.text == (
        "Tested: it calls tools in text, answers a greeting with plain text, ignores the system message, repeats "
        "itself."
    )


async def test_a_model_that_calls_nothing_gets_no_tools(server: ChatServer, tmp_path: Path) -> None:
    behaves(server, lambda text, _: chat("The deadline is Friday." if "notes" in text else "Hello!"))
    verdict = await probed(server, tmp_path)
    assert (verdict.tools, verdict.is_plain) == ("none", True)


async def test_a_loop_is_noticed(server: ChatServer, tmp_path: Path) -> None:
    behaves(server, lambda *_: chat("Bees. " * 40, finish="length"))
    assert (await probed(server, tmp_path)).repeats


async def test_a_server_that_rejects_tools_is_no_native_one(server: ChatServer, tmp_path: Path) -> None:
    refusal = json_reply({"error": {"message": "this model does not support tools"}}, status=400)
    behaves(server, lambda text, request: refusal if "tools" in request else spoiled_by_tools(text, request))
    assert (await probed(server, tmp_path)).tools == "text"


async def test_a_model_elsewhere_is_not_probed(tmp_path: Path) -> None:
    config = Config(environment=environment_of(tmp_path))
    for spec in ("openai:m@https://models.example/v1", "offline"):
        with pytest.raises(Misuse):
            await probe_model(config, spec)


async def prepared(workspace: Workspace, tmp_path: Path, server: ChatServer, **settings: Any) -> Profile:
    session = open_session(workspace, tmp_path, server, models=ModelSettings(**settings))
    await session.prepare_model()
    profile = session.profile
    await session.close()
    return profile


async def test_the_verdict_holds_from_the_next_opening(
    server: ChatServer, workspace: Workspace, tmp_path: Path
) -> None:
    behaves(server, spoiled_by_tools)
    await probed(server, tmp_path)
    profile = await prepared(workspace, tmp_path, server)
    assert (profile.tools, profile.text_tools, profile.system_role) == (False, True, False)
    assert (await prepared(workspace, tmp_path, server, tool_calls="native")).tools
    override = {server.spec: ProfileOverride(tools="none")}
    assert not (await prepared(workspace, tmp_path, server, profiles=override)).calls_tools


async def test_the_verdict_is_that_of_the_file_that_the_server_has(
    server: ChatServer, workspace: Workspace, tmp_path: Path
) -> None:
    props = {"default_generation_settings": {"n_ctx": 8192}, "chat_template_caps": {"supports_tools": True}}
    server.answers("/props", json_reply(props | {"model_path": "/m/first.gguf"}))
    behaves(server, spoiled_by_tools)
    await probed(server, tmp_path)
    assert list(UsedModels.of(environment_of(tmp_path)).verdicts) == ["first.gguf"]
    assert (await prepared(workspace, tmp_path, server)).text_tools
    server.answers("/props", json_reply(props | {"model_path": "/m/second.gguf"}))
    assert (await prepared(workspace, tmp_path, server)).tools


def test_the_command_line_probes(run: Run, server: ChatServer) -> None:
    behaves(server, capable)
    told = run("models", "test", server.spec, "--probe")
    assert told.status == 0, told.err
    assert told.out.splitlines()[-1].startswith("Tested: it calls tools natively, answers")
    assert "Probe: a greeting with a tool offered (native) …" in told.err
    again = run("models", "test", server.spec, "--probe", "--json").json
    assert again["probe"]["tools"] == "native"
    listed = run("models", "list", "--json").json
    assert {"size", "text_tools"} <= set(listed["models"][0])


async def test_a_model_that_always_calls_gets_tools_in_text(server: ChatServer, tmp_path: Path) -> None:
    """With a list in the message it gets none with a greeting."""
    call = '{"name": "read_file", "arguments": {"path": "notes.txt"}}'
    behaves(server, lambda *_: chat(call))
    verdict = await probed(server, tmp_path)
    assert (verdict.tools, verdict.is_plain) == ("text", False)
