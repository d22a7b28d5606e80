"""Parsers of what servers send: events of a stream, answers of models, messages of MCP servers."""

import json
import random
from typing import Any

import mcp_types
from pydantic import ValidationError

from agent.mcp.connection import ServerTool
from agent.mcp.definitions import offer
from agent.mcp.names import tool_names
from agent.mcp.results import result_text
from agent.mcp.server_spec import ServerSource, ServerSpec, configured_server
from foundation.bounded_json import BadJson, load_json
from models.chat.anthropic.reply import AnthropicReplyReader
from models.chat.openai.reply import OpenAIReplyReader
from models.chat.sse import EventParser, ServerEvent
from models.limits import StreamLimitExceeded, StreamLimits
from tests.fuzz.target import FuzzTarget

_LIMITS = StreamLimits()
_SSE = [
    b'\xef\xbb\xbf: keepalive\r\nevent: message\r\ndata: {"a":1}\r\ndata: more\r\n\r\nid: 7\rretry: 9\rdata\r\r',
    b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\nevent: ping\ndata: {}\n\ndata: [DONE]\n\n',
]
_OPENAI: list[dict[str, Any]] = [
    {"choices": [{"delta": {"content": "hi <think>x</think>", "reasoning_content": "r"}}]},
    {
        "choices": [
            {"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "n", "arguments": '{"a":'}}]}}
        ]
    },
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}, "finish_reason": "stop"}]},
    {"usage": {"prompt_tokens": 3, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 1}}},
    {"timings": {"prompt_n": 4, "cache_n": 2}, "prompt_progress": {"processed": 1, "total": 2}},
]
_ANTHROPIC: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"usage": {"input_tokens": 3, "cache_read_input_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "n"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a":1}'}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 4}},
    {"type": "message_stop"},
]
_TOOLS = {
    "tools": [
        {
            "name": "search",
            "description": "Finds.",
            "inputSchema": {
                "type": "object",
                "properties": {"q": {"type": "string", "enum": ["a"]}},
                "required": ["q"],
            },
        }
    ]
}
_RESULT = {
    "content": [
        {"type": "text", "text": "two"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///x", "text": "y"}},
        {"type": "resource_link", "uri": "https://x", "name": "l"},
    ],
    "structuredContent": {"result": ["two"]},
    "isError": False,
}


def _events(data: bytes, pieces: list[int]) -> list[ServerEvent] | None:
    """None where a limit is passed."""
    parser, found, start = EventParser(_LIMITS), list[ServerEvent](), 0
    try:
        for end in [*pieces, len(data)]:
            found += parser.feed(data[start:end])
            start = end
        return found + parser.close()
    except StreamLimitExceeded:
        return None


def _read_sse(data: bytes) -> None:
    """Any split gives the same events."""
    chance = random.Random(len(data))
    whole = _events(data, [])
    split = _events(data, sorted(chance.randrange(len(data) + 1) for _ in range(6)))
    assert whole == split, "the split changes the events"


def _read_answer(data: bytes) -> None:
    """Each line as an object of a stream, of either protocol."""
    openai, anthropic = OpenAIReplyReader(_LIMITS), AnthropicReplyReader(_LIMITS)
    for line in data.split(b"\n"):
        try:
            found = load_json(line)
        except BadJson:
            continue
        if isinstance(found, dict):
            for reader in (openai, anthropic):
                for event in reader.feed(found):
                    json.dumps(str(event)).encode()
    for event in openai.finish():
        str(event)
    openai.counted()
    anthropic.usage()


def _read_message(data: bytes) -> None:
    """A line of an MCP server: as a message, and its result as that of each call that we make."""
    message: Any = mcp_types.jsonrpc_message_adapter.validate_json(data, by_name=False)
    given = getattr(message, "result", None) or getattr(message, "params", None)
    if isinstance(given, dict):
        for read in (_as_result, _as_tools):
            try:
                read(given)
            except ValidationError:
                continue


def _as_result(given: dict[str, Any]) -> None:
    result_text(mcp_types.CallToolResult.model_validate(given, by_name=False)).encode("utf-8", "surrogatepass")


def _as_tools(given: dict[str, Any]) -> None:
    listed = mcp_types.ListToolsResult.model_validate(given, by_name=False)
    tools = [
        ServerTool(name=tool.name, description=tool.description or "", schema=dict(tool.input_schema))
        for tool in listed.tools
    ]
    tool_names("s", [tool.name for tool in tools])
    json.dumps([str(tool) for tool in offer(ServerSpec(name="s", command="x"), "s", tools, 3000).tools])


def _read_configuration(data: bytes) -> None:
    found = load_json(data)
    servers = found.get("mcpServers") if isinstance(found, dict) else None
    for name, raw in servers.items() if isinstance(servers, dict) else ():
        assert configured_server(name, raw, ServerSource.PROJECT, "/nowhere").digest


def _message(result: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()


TARGETS = (
    FuzzTarget(
        name="sse",
        seeds=lambda: _SSE,
        parse=_read_sse,
        refusals=(),
        words=(
            b"data:",
            b"data: ",
            b"event:",
            b"id:",
            b"\r",
            b"\n",
            b"\r\n",
            b":",
            b"\xef\xbb\xbf",
            b"\xf0\x9f",
            b"\n\n",
        ),
    ),
    FuzzTarget(
        name="answers",
        seeds=lambda: ["\n".join(map(json.dumps, lines)).encode() for lines in (_OPENAI, _ANTHROPIC)],
        parse=_read_answer,
        refusals=(StreamLimitExceeded,),
        words=(b'"delta":', b'"index":', b'"arguments":', b'"usage":', b'"timings":', b'"type":"', b"1e400", b"-1"),
    ),
    FuzzTarget(
        name="mcp",
        seeds=lambda: [_message(_RESULT), _message(_TOOLS)],
        parse=_read_message,
        refusals=(ValidationError,),
        words=(
            b'"content":[',
            b'"inputSchema":{',
            b'"$ref":"#"',
            b'"structuredContent":',
            b'"type":"text"',
            b'"text":',
        ),
    ),
    FuzzTarget(
        name="mcp-configuration",
        seeds=lambda: [
            b'{"mcpServers":{"s":{"command":"x","args":["-m","y"],"env":{"A":"${B}"},"cwd":".","timeout":3}}}'
        ],
        parse=_read_configuration,
        refusals=(BadJson,),
        words=(b'"url":"http://[::1]/"', b'"headers":{', b'"args":', b"${", b"..", b"\\u0000", b'"disabled":true'),
    ),
)
