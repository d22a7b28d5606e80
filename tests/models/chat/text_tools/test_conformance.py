"""The same tool call through llama.cpp's own parser, through text on the same server, and through mlx-lm."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from models.chat.open import open_model
from models.chat.port import AnswerEnd, StopReason
from models.messages import Message, Role, ToolCall, ToolResult, assistant, user
from models.settings import ModelSettings
from tests.loopback import Loopback, chat
from tests.models.chat.events import all_events, request, words
from tests.models.chat.text_tools.test_fallback import CALL, READ
from tests.scripted_models import CALLING, CHATML, scripted_mlx_chat
from tests.servers import Scripted

REPLY = f"Let me look. {CALL}"
Open = Callable[[], tuple[str, ModelSettings]]


@pytest.fixture(params=["llama.cpp natively", "llama.cpp in text", "mlx in text", "a fake in text"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, ModelSettings]:
    kind: str = request.param
    if kind.startswith("llama"):
        scripted: Scripted = request.getfixturevalue("scripted_llama")
        native = kind.endswith("natively")
        server = scripted(REPLY, template=CALLING if native else CHATML)
        return server.spec, ModelSettings(tool_calls="native" if native else "text")
    if kind.startswith("mlx"):
        pytest.importorskip("mlx_lm")
        return f"mlx:{scripted_mlx_chat(tmp_path / 'model', REPLY)}", ModelSettings()
    loopback: Loopback = request.getfixturevalue("loopback")
    loopback.answers_all(lambda _: chat(*REPLY))
    return f"openai:m@{loopback.address}/v1", ModelSettings(tool_calls="text")


async def test_a_call_and_its_result(target: tuple[str, ModelSettings]) -> None:
    spec, settings = target
    model = open_model(spec, settings=settings, env={})
    assert (await model.prepare()).calls_tools
    events = await all_events(model, request("What is on page seven?", tools=(READ,)))
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert [(call.name, json.loads(call.arguments)) for call in calls] == [("read_page", {"id": "pg_7"})]
    assert words(events).strip() == "Let me look."
    assert events[-1] == AnswerEnd(StopReason.TOOL_CALLS)

    result = Message(Role.TOOL, (ToolResult(calls[0].id, "read_page", "Seven ships."),))
    asked = request(user("What is there?"), assistant("Let me look.", calls[0]), result, tools=(READ,))
    again = await all_events(model, asked)
    await model.close()
    assert again[-1] == AnswerEnd(StopReason.TOOL_CALLS)
