"""Answers of hostile servers: what fills the memory of whoever trusts them, and events with values of wrong types."""

import gzip
import json
import random
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from tests.loopback import Step, chat_bytes, data, delta, http

LARGE = 2**30
PIECE = 2**16


class Repeated:
    """A reply that is made while it is sent: a head, then `piece` until `total` bytes went out, then an end."""

    def __init__(self, head: Iterable[Step], piece: bytes, total: int = LARGE, end: bytes = b"") -> None:
        self.head, self.piece, self.total, self.end = list(head), piece, total, end

    def __iter__(self) -> Iterator[Step]:
        yield from self.head
        for _ in range(self.total // len(self.piece)):
            yield self.piece
        yield self.end


def _head(kind: str, **headers: str) -> list[Step]:
    return list(http([], kind=kind, headers=headers))


SAID = data(delta(content="Before the flood. "))


def body_without_end() -> Repeated:
    return Repeated([*_head("application/json"), b'{"choices":[{"message":{"content":"'], b"x" * PIECE)


def body_of_lists() -> Repeated:
    """Three bytes a list: 16 MB of them are 400 MB of memory."""
    return Repeated([*_head("application/json"), b'{"choices":['], b"[]," * (PIECE // 3), 15 * 2**20, b"[]]}")


def blanks_without_end() -> Repeated:
    return Repeated(_head("application/json"), b" \n" * (PIECE // 2))


def event_without_end() -> Repeated:
    return Repeated([*_head("text/event-stream"), SAID], b"data: " + b"x" * 80 + b"\n")


def event_of_empty_lines() -> Repeated:
    return Repeated([*_head("text/event-stream"), SAID], b"data:\n" * (PIECE // 6))


def line_without_end() -> Repeated:
    return Repeated([*_head("text/event-stream"), SAID, b"data: "], b"x" * PIECE)


def text_without_end() -> Repeated:
    return Repeated([*_head("text/event-stream"), SAID], data(delta(content="word " * 4000)))


def word_without_end(letter: str = "x") -> Repeated:
    """Text of one endless word, of letters or of signs that a word may hold."""
    return Repeated([*_head("text/event-stream"), SAID], data(delta(content=letter * (PIECE // len(letter)))))


def thought_without_end() -> Repeated:
    return Repeated([*_head("text/event-stream"), SAID], data(delta(reasoning_content="x" * PIECE)))


def arguments(name: str = "search_memory", total: int = 200 * 2**20) -> Repeated:
    first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": '{"query":"'}}
    more = {"index": 0, "function": {"arguments": "x" * PIECE}}
    last = data(delta(tool_calls=[{"index": 0, "function": {"arguments": '"}'}}])) + data(delta("tool_calls"))
    piece = data(delta(tool_calls=[more]))
    return Repeated([*_head("text/event-stream"), SAID, data(delta(tool_calls=[first]))], piece, total, last)


def calls_without_end() -> Repeated:
    empty = [{"index": n, "id": f"c{n}", "function": {"name": "recall", "arguments": ""}} for n in range(1000)]
    return Repeated([*_head("text/event-stream"), SAID], data(delta(tool_calls=empty)))


def quiet_without_end(piece: bytes) -> Repeated:
    """Comments, keep-alives and events without a word: nothing to show, and no end."""
    return Repeated([*_head("text/event-stream"), SAID], piece * (PIECE // len(piece)), 2**40)


def junk_beside_each_word() -> Repeated:
    return Repeated([*_head("text/event-stream"), SAID], data(delta(content="w") | {"junk": "x" * 2**20}), 2**40)


def many_calls(count: int = 300, name: str = "search_memory") -> list[Step]:
    some = [
        {"index": n, "id": f"call_{n}", "function": {"name": name, "arguments": json.dumps({"query": f"canary {n}"})}}
        for n in range(count)
    ]
    events = data(delta(tool_calls=some)) + data(delta("tool_calls")) + data("[DONE]")
    return list(http([events], kind="text/event-stream"))


def bomb(kind: str = "application/json", status: int = 200) -> list[Step]:
    """2 MB of gzip, in members of 64 MB each: 2 GB."""
    headers = {"content-encoding": "gzip"}
    member = packed_blanks()
    return [*http([], kind=kind, status=status, headers=headers), *[member] * (2 * 2**20 // len(member))]


@cache
def packed_blanks(megabytes: int = 64) -> bytes:
    return gzip.compress(b" " * (megabytes * 2**20), 9)


FLOODS: dict[str, tuple[Callable[[], Any], str]] = {
    "a JSON body without end": (body_without_end, "body_mb"),
    "a body of blanks": (blanks_without_end, "body_mb"),
    "one event of data lines without end": (event_without_end, "event_mb"),
    "one event of empty data lines": (event_of_empty_lines, "event_mb"),
    "a line of 1 GB": (line_without_end, "line_mb"),
    "1 GB of text": (text_without_end, "answer_mb"),
    "1 GB of one word": (word_without_end, "answer_mb"),
    "1 GB of one Chinese word": (lambda: word_without_end("记"), "answer_mb"),
    "1 GB of emoji": (lambda: word_without_end("🐋"), "answer_mb"),
    "1 GB of letters and dots": (lambda: word_without_end("a."), "answer_mb"),
    "1 GB of thought in one word": (thought_without_end, "answer_mb"),
    "200 MB of tool arguments": (arguments, "arguments_mb"),
    "tool calls without end": (calls_without_end, "arguments_mb"),
    "comments without end": (lambda: quiet_without_end(b": ping\n\n"), "quiet_events"),
    "empty lines without end": (lambda: quiet_without_end(b"\n"), "quiet_events"),
    "names of events without end": (lambda: quiet_without_end(b"event: ping\n"), "quiet_events"),
    "empty events without end": (lambda: quiet_without_end(data({})), "quiet_events"),
    "deltas without a word, without end": (lambda: quiet_without_end(data(delta(content=""))), "quiet_events"),
    "long comments without end": (lambda: quiet_without_end(b":" + b" " * 9000 + b"\n"), "quiet_mb"),
    "a megabyte beside each word": (junk_beside_each_word, "quiet_mb"),
    "a gzip bomb": (bomb, "unpacked_times"),
    "a gzip bomb as a stream": (lambda: bomb("text/event-stream"), "line_mb"),
}
"""What each sends, and the limit that ends it."""


ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    -1,
    0,
    1.5,
    1e308,
    float("nan"),
    10**30,
    -(10**30),
    "",
    "x",
    "12",
    "\ud800",
    "\x00",
    "💥" * 50,
    [],
    {},
    [[]],
    {"a": {"b": []}},
    [None],
    "NaN",
    2**63,
    2**64,
    [1, "2", None],
    {"": ""},
)
RAW = (
    '{"choices":' + "[" * 5000 + "]" * 5000 + "}",
    '{"choices":[{"delta":' + '{"a":' * 500 + "1" + "}" * 500 + "}]}",
    '{"error":' + '{"message":' * 300 + "1" + "}" * 300 + "}",
    '{"usage":{"prompt_tokens":' + "9" * 5000 + "}}",
    '{"error":{"code":1e999}}',
    "{",
    "null",
    "[]",
    '"x"',
    "\x00",
    "1e999",
    "{}" * 3,
)


def odd_openai(chance: random.Random) -> bytes:
    """One stream: ordinary events among odd ones, and an ordinary end."""
    usual: dict[str, Any] = {
        "prompt_progress": {"processed": 1, "total": 2},
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 1}},
        "timings": {"prompt_n": 1, "cache_n": 2, "predicted_n": 3, "predicted_per_second": 4.5},
        "choices": [
            {
                "index": 0,
                "finish_reason": None,
                "delta": {
                    "role": "assistant",
                    "content": "b",
                    "reasoning_content": "c",
                    "tool_calls": [{"index": 0, "id": "i", "function": {"name": "recall", "arguments": "{}"}}],
                },
            }
        ],
    }
    odd = [_odd(usual, chance) for _ in range(chance.randint(1, 3))]
    return data(delta(content="a")) + b"".join(odd) + chat_bytes("fine")


def odd_anthropic(chance: random.Random) -> bytes:
    usual: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 3, "cache_read_input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "fine"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t", "name": "recall"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    at = chance.randrange(len(usual))
    events = [data(event) for event in usual]
    events.insert(at, _odd(chance.choice(usual), chance))
    return b"".join(events)


def _odd(usual: Any, chance: random.Random) -> bytes:
    if chance.random() < 0.1:
        return data(chance.choice(RAW))
    return b"data: " + json.dumps(_changed(usual, chance)).encode() + b"\n\n"


def _changed(value: Any, chance: random.Random) -> Any:
    """The value with one place in it made odd."""
    if chance.random() < 0.25 or not isinstance(value, dict | list) or not value:
        return chance.choice(ODD)
    if isinstance(value, list):
        at = chance.randrange(len(value))
        return [_changed(one, chance) if n == at else one for n, one in enumerate(value)]
    at = chance.choice(list(value))
    return {key: _changed(one, chance) if key == at else one for key, one in value.items()}
