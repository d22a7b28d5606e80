"""What servers, files and imports may take: floods end with a sentence, odd values are passed over."""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from models.chat.port import AnswerEnd, AnswerError
from models.limits import StreamLimitExceeded, StreamLimits
from models.messages import Usage
from models.settings import ModelSettings
from tests.hostile.measured import Measured, command_line, initialised, measured, own, palimpsest
from tests.hostile.streams import (
    FLOODS,
    Repeated,
    arguments,
    body_of_lists,
    body_without_end,
    bomb,
    many_calls,
    odd_anthropic,
    odd_openai,
)
from tests.loopback import Loopback, Received, chat_bytes, data, delta, http, json_reply, stream
from tests.models.chat.events import events_of, failure, words

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform == "win32", reason="memory is measured with wait4"),
]
MOST_MB = 300
SMALLER: dict[str, int] = {"answer_mb": 1, "quiet_events": 20_000}
"""Limits set below their defaults, so that a flood is sooner over: its cost is in proportion to them."""
MOST_MB_SMALLER = 130  # a program that does nothing takes 60; at the default of 4 MB 240 more, at 1 MB a quarter
AT_DEFAULT = {"1 GB of emoji", "comments without end"}  # in every run; the others of these limits in the soak
IN_THE_LIBRARY = {"1 GB of text", "1 GB of emoji"}  # in every run; the command line meets all
SMALL, WHOLE = 150, 4_000  # odd streams in every run, and in the soak


def floods() -> Iterator[Any]:
    """Each flood and the limit that is set for it, None for the default."""
    for name, (_, setting) in FLOODS.items():
        smaller = None if name in AT_DEFAULT else SMALLER.get(setting)
        if smaller is not None:
            yield pytest.param(name, smaller, id=f"{name}, {setting} {smaller}")
        yield pytest.param(name, None, marks=pytest.mark.soak if smaller else [], id=name)


class Server(Loopback):
    """Plays one reply to every chat request; whatever else it is asked, it does not know."""

    def plays_always(self, reply: Any) -> None:
        unknown = json_reply({"error": {"message": "unknown"}}, status=404)

        def answer(asked: Received) -> Any:
            return reply() if asked.path.endswith(("/chat/completions", "/messages", "/embeddings")) else unknown

        self.answers_all(answer)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture
def room(tmp_path: Path) -> Path:
    return initialised(tmp_path / "room")


def asked(room: Path, server: Server, **settings: str) -> Measured:
    named = {f"PALIMPSEST_{name}": value for name, value in settings.items()}
    words = ["--workspace", str(room), "--model", f"openai:m@{server.address}/v1"]
    return command_line([*words, "-p", "Repeat it.", "--output-format", "json"], own(room) | named)


@pytest.mark.parametrize(("name", "limit"), floods())
def test_a_flood_ends_with_a_sentence_and_what_came_before_is_kept(
    room: Path, server: Server, name: str, limit: int | None
) -> None:
    reply, setting = FLOODS[name]
    server.plays_always(reply)
    ended = asked(room, server, **({f"MODELS_LIMITS_{setting.upper()}": str(limit)} if limit else {}))
    assert ended.status == 1, ended
    error = json.loads(ended.out)["error"]
    assert error["code"] == "too_much"
    most = limit or getattr(StreamLimits(), setting)
    passed = f"{StreamLimitExceeded('', setting, most).limit} (models.limits.{setting})"
    is_bomb = "bomb" in name  # how much of it comes at once decides which of two limits it passes first
    assert passed in error["message"] or (is_bomb and "(models.limits.unpacked_times)" in error["message"])
    assert server.address in error["message"]
    assert ended.peak_mb < (MOST_MB_SMALLER if limit else MOST_MB), ended
    if "body" in name or "bomb" in name:
        return  # nothing could be shown of them
    later = palimpsest(room, "search", "flood", "--json")
    assert "Before the flood" in later.out
    assert later.peak_mb < MOST_MB


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        pytest.param(name, limit, marks=[] if limit == 1 and name in IN_THE_LIBRARY else pytest.mark.soak)
        for name, (_, setting) in FLOODS.items()
        if setting == "answer_mb"
        for limit in (SMALLER["answer_mb"], StreamLimits().answer_mb)
    ],
)
def test_a_flood_of_text_in_the_library_takes_no_more(room: Path, server: Server, name: str, limit: float) -> None:
    server.plays_always(FLOODS[name][0])
    model = f"openai:m@{server.address}/v1"
    command = [sys.executable, "-m", "tests.hostile.library_turn", str(room), model, str(limit)]
    ended = measured(command, own(room), seconds=100)
    assert ended.status == 0, ended
    told = json.loads(ended.out)
    assert "models.limits.answer_mb" in told["ended"]
    assert told["characters"] > limit * 2**17 or "thought" in name  # up to the limit, it is given out
    assert ended.peak_mb < (MOST_MB_SMALLER if limit == SMALLER["answer_mb"] else MOST_MB), ended


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_slow_server_that_says_it_lives_is_waited_for(server: Server, provider: str) -> None:
    """Three hours of llama.cpp's comments (one a second), OpenRouter's, a prompt of 2^20 tokens, and pings."""
    alive = b":\n\n" * 10_000 + b": OPENROUTER PROCESSING\n\n" * 1_000
    if provider == "openai":
        progress = {"total": 2**20, "cache": 0, "processed": 512, "time_ms": 1000}
        reading = data({**delta(content=None), "prompt_progress": progress})
        server.plays_always(lambda: stream(alive, reading * 2048, chat_bytes("A heron.")))
    else:
        reading = data({"type": "ping"}, event="ping")
        said = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "A heron."}}
        server.plays_always(lambda: stream(alive, reading * 2048, data(said), data({"type": "message_stop"})))
    path = "/v1" if provider == "openai" else ""
    events = await events_of(f"{provider}:m@{server.address}{path}", ModelSettings(retries=0))
    assert words(events) == "A heron."
    assert isinstance(events[-1], AnswerEnd)


@pytest.mark.parametrize("name", [name for name, (_, setting) in FLOODS.items() if setting.startswith("quiet")])
async def test_anthropics_stream_has_the_same_end(server: Server, name: str) -> None:
    reply, setting = FLOODS[name]
    if name == "a megabyte beside each word":
        word = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "w"}, "junk": "x" * 2**20}
        server.plays_always(lambda: Repeated(http([], kind="text/event-stream"), data(word), 2**40))
    else:
        server.plays_always(reply)
    limits = StreamLimits(quiet_events=SMALLER["quiet_events"])
    ended = failure(await events_of(f"anthropic:m@{server.address}", ModelSettings(retries=0, limits=limits)))
    assert ended.code == "too_much"
    assert f"models.limits.{setting}" in ended.message


def test_a_body_of_small_lists_takes_no_more_memory_than_it_may(room: Path, server: Server) -> None:
    server.plays_always(body_of_lists)
    ended = asked(room, server)
    assert "objects and lists" in json.loads(ended.out)["error"]["message"]
    assert ended.peak_mb < MOST_MB


def test_the_body_of_an_error_is_read_in_part(room: Path, server: Server) -> None:
    server.plays_always(lambda: bomb(status=400))
    ended = asked(room, server)
    assert json.loads(ended.out)["error"]["code"] == "bad_request"
    assert ended.peak_mb < MOST_MB


def test_a_probe_of_a_flood_ends(room: Path, server: Server) -> None:
    for path in ("/v1/models", "/props", "/api/tags", "/api/v0/models", "/api/show", "/health"):
        server.answers(path, body_without_end())
    detected = own(room) | {"PALIMPSEST_DETECT": f"ollama={server.address}"}
    listed = command_line(["--workspace", str(room), "models", "list"], detected)
    assert listed.status == 0, listed
    assert listed.peak_mb < MOST_MB


def test_one_answer_with_300_calls_makes_as_many_as_a_turn_may(room: Path, server: Server) -> None:
    server.plays_always(many_calls)
    ended = asked(room, server, TOOLS_MOST_CALLS="25", MODELS_TOOLS="true")
    told = json.loads(ended.out)
    assert told["limit"]["sentence"] == (
        "The model made 25 tool calls, the maximum (tools.most_calls), and wants more."
    )
    assert told["run"]["calls"] == 25
    assert len([post for post in server.posts if post.path.endswith("/chat/completions")]) == 1
    assert palimpsest(room, "stats", "--json").status == 0


def test_arguments_of_a_turn_are_added_up_over_its_answers(room: Path, server: Server) -> None:
    server.plays_always(lambda: arguments(total=600 * 2**10))  # each answer is within the limit
    ended = asked(room, server, MODELS_TOOLS="true", MODELS_WINDOW="1000000")
    message = json.loads(ended.out)["error"]["message"]
    assert "asked for 2 tool calls in one turn and 1 were made" in message
    assert "models.limits.arguments_mb" in message


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_values_of_wrong_types_are_passed_over(server: Server, provider: str) -> None:
    await _odd_streams(server, provider, SMALL)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_the_whole_of_values_of_wrong_types(server: Server, provider: str) -> None:
    await _odd_streams(server, provider, WHOLE)


async def _odd_streams(server: Server, provider: str, count: int) -> None:
    """Each stream ends with AnswerEnd or one sentence, and its text is text; nothing is raised."""
    chance = random.Random(9)
    make = odd_openai if provider == "openai" else odd_anthropic
    server.answers_all(lambda _: stream(make(chance)))
    settings = ModelSettings(retries=0, connect_timeout=5, first_byte_timeout=20, stall_timeout=20)
    path = "/v1" if provider == "openai" else ""
    ended = {"AnswerEnd": 0, "AnswerError": 0}
    for _ in range(count):
        events = await events_of(f"{provider}:m@{server.address}{path}", settings)
        assert isinstance(events[-1], AnswerEnd | AnswerError), events
        ended[type(events[-1]).__name__] += 1
        words(events).encode()
        for event in events:
            if isinstance(event, Usage):
                numbers = (event.prompt_tokens, event.completion_tokens, event.cached_tokens or 0)
                assert all(isinstance(number, int) and 0 <= number < 2**55 for number in numbers)
                json.dumps(event.extra, allow_nan=False)
    print(f"{provider}: {count} odd streams, {ended}, nothing raised")
    assert ended["AnswerEnd"] > count // 4  # most odd values are passed over, and the answer goes on


async def test_a_usage_of_30_digits_is_stored_with_the_answer(room: Path, server: Server) -> None:
    for usage in ({"prompt_tokens": 10**30, "completion_tokens": "x"}, {"prompt_tokens": [], "completion_tokens": -5}):
        odd = data(delta(content="It is a heron.")) + data({"choices": [], "usage": usage}) + data(delta("stop"))
        server.plays_always(lambda odd=odd: stream(odd, data("[DONE]")))
        ended = asked(room, server)
        assert ended.status == 0, ended
        assert json.loads(ended.out)["text"] == "It is a heron."
