"""Tool calls through llama.cpp's own template parser: the deltas are real, the scripted model says the call."""

import json

import pytest

from models.chat.open import open_model
from models.chat.port import AnswerEnd, StopReason
from models.messages import Message, Role, Tool, ToolCall, ToolResult, assistant, user
from models.settings import ModelSettings
from tests.models.chat.events import all_events, request, words
from tests.scripted_models import CALLING
from tests.servers import LlamaServer, Scripted

READ = Tool(
    "read_page", "Reads a page.", {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
)


@pytest.fixture(scope="module")
def calling(scripted_llama: Scripted) -> LlamaServer:
    reply = 'Let me look. <tool_call>\n{"name": "read_page", "arguments": {"id": "pg_7"}}\n</tool_call>'
    return scripted_llama(reply, template=CALLING)


async def test_a_call_comes_whole_after_the_words(calling: LlamaServer) -> None:
    model = open_model(calling.spec, settings=ModelSettings(tool_calls="native"), env={})
    assert (await model.prepare()).tools
    events = await all_events(model, request("What is on page seven?", tools=(READ,)))
    await model.close()

    calls = [event for event in events if isinstance(event, ToolCall)]
    assert [(call.name, json.loads(call.arguments)) for call in calls] == [("read_page", {"id": "pg_7"})]
    assert calls[0].id
    assert words(events).strip() == "Let me look."
    assert events[-1] == AnswerEnd(StopReason.TOOL_CALLS)


async def test_a_result_goes_back_and_the_turn_goes_on(calling: LlamaServer) -> None:
    model = open_model(calling.spec, settings=ModelSettings(tool_calls="native"), env={})
    call = ToolCall("call_1", "read_page", '{"id": "pg_7"}')
    result = Message(Role.TOOL, (ToolResult("call_1", "read_page", "Seven ships."),))
    asked = request(user("What is there?"), assistant("Let me look.", call), result, tools=(READ,))
    events = await all_events(model, asked)
    await model.close()
    assert events[-1] == AnswerEnd(StopReason.TOOL_CALLS)
