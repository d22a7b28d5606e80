"""A scripted model in this process, through the real mlx-lm: its cache, its progress, its end."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing
from importlib.util import find_spec
from pathlib import Path

import pytest

from models.chat.mlx.provider import MlxText
from models.chat.open import open_model
from models.chat.port import AnswerEnd, ChatModel, PrefillProgress, StopReason, TextChunk
from models.chat.spec import parse_spec
from models.messages import Usage, assistant, system, user
from models.mlx_thread import MlxThread, mlx_thread
from models.settings import ModelSettings, ProfileOverride
from tests.models.chat.events import all_events, failure, request, thoughts, words
from tests.scripted_models import CALLING, scripted_mlx_chat

pytestmark = [
    pytest.mark.skipif(find_spec("mlx_lm") is None, reason="mlx-lm has no build for this platform"),
    pytest.mark.slow,
    pytest.mark.timeout(180),  # the first import of mlx-lm takes seconds on a busy machine
]

REPLY = "The quiet heron stood by 白色 water until noon, then 🐟 came."
SYSTEM = system("You keep a diary of herons. " * 20)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scripted_mlx_chat(tmp_path_factory.mktemp("mlx") / "heron", REPLY)


@pytest.fixture
async def model(folder: Path) -> AsyncIterator[ChatModel]:
    opened = open_model(f"mlx:{folder}", settings=ModelSettings(), env={})
    yield opened
    await opened.close()


def usage(events: list[object]) -> Usage:
    return next(event for event in events if isinstance(event, Usage))


async def test_it_answers_in_this_process(model: ChatModel) -> None:
    events = await all_events(model, request(SYSTEM, user("What did it do?")))
    assert words(events) == REPLY
    assert events[-1] == AnswerEnd(StopReason.STOP)
    assert usage(events).completion_tokens > 5


async def test_the_checkpoint_tells_its_window_and_its_tokenizer_counts(model: ChatModel) -> None:
    before = model.counter.name
    profile = await model.prepare()
    assert (profile.window, profile.window_known, profile.remote) == (4096, True, False)
    assert model.counter.name != before
    assert model.counter.count("heron") == 5  # a token a byte: this tokenizer has no merges


async def test_the_second_turn_reads_only_what_is_new(model: ChatModel) -> None:
    first = (SYSTEM, user("What did it do?"))
    whole = usage(await all_events(model, request(*first)))
    events = await all_events(model, request(*first, assistant(REPLY), user("And then?")))
    again = usage(events)
    read = next(event for event in events if isinstance(event, PrefillProgress))

    assert whole.cached_tokens == 0
    assert again.cached_tokens is not None
    assert again.cached_tokens >= whole.prompt_tokens
    assert read.total - read.done < 0.2 * again.prompt_tokens
    assert words(events) == REPLY


async def test_another_conversation_does_not_inherit_the_cache(model: ChatModel) -> None:
    await all_events(model, request(SYSTEM, user("Red?")))
    events = await all_events(model, request(system("Nothing alike."), user("Blue?")))
    cached = usage(events).cached_tokens
    assert cached is not None
    assert cached < 30  # the template's first words
    assert words(events) == REPLY


async def test_an_edited_turn_is_read_from_where_it_parts(model: ChatModel) -> None:
    await all_events(model, request(SYSTEM, user("What did it do at noon?")))
    events = await all_events(model, request(SYSTEM, user("What did it do at dawn?")))
    cached = usage(events).cached_tokens
    assert cached is not None
    assert cached > 0.9 * len(SYSTEM.text)
    assert words(events) == REPLY
    again = usage(await all_events(model, request(SYSTEM, user("What did it do at dawn?"))))
    assert again.cached_tokens == again.prompt_tokens - 1, "the cache holds what it is said to hold"


async def test_reading_a_long_prompt_shows_how_far_it_is(model: ChatModel) -> None:
    events = await all_events(model, request("h" * 3000))
    done = [event.done for event in events if isinstance(event, PrefillProgress)]
    assert len(done) > 4
    assert done == sorted(done)
    assert done[-1] >= 3000


async def test_stopping_while_it_speaks_leaves_a_true_cache(model: ChatModel) -> None:
    first = (SYSTEM, user("Go on."))
    async with aclosing(model.stream(request(*first))) as events:
        async for event in events:
            if isinstance(event, TextChunk):
                break
    again = await all_events(model, request(*first, assistant("The"), user("And then?")))
    cached = usage(again).cached_tokens
    assert words(again) == REPLY
    assert cached is not None
    assert cached > 0.9 * len(SYSTEM.text)


async def test_stopping_while_it_reads_stops_the_reading(model: ChatModel) -> None:
    seen: list[PrefillProgress] = []
    async with aclosing(model.stream(request("k" * 3800))) as events:
        async for event in events:
            if isinstance(event, PrefillProgress) and event.done:
                seen.append(event)
                break
    assert seen[0].done < seen[0].total
    assert words(await all_events(model, request("Still there?"))) == REPLY


async def test_what_does_not_fit_is_said_before_it_is_read(model: ChatModel) -> None:
    events = await all_events(model, request("m" * 5000))
    assert failure(events).code == "too_large"
    assert "4096" in failure(events).message
    assert len(events) == 1


async def test_a_length_that_is_used_up_is_said(model: ChatModel) -> None:
    events = await all_events(model, request("Go.", max_tokens=3))
    assert words(events) == "The quiet heron"
    assert events[-1] == AnswerEnd(StopReason.LENGTH)


async def test_thoughts_are_told_from_words(tmp_path: Path) -> None:
    folder = scripted_mlx_chat(tmp_path / "thinker", "<think>\nFirst I ponder.\n</think>\n\nThen answer.")
    model = open_model(f"mlx:{folder}", settings=ModelSettings(), env={})
    events = await all_events(model)
    await model.close()
    assert thoughts(events) == "First I ponder.\n"
    assert words(events) == "Then answer."


async def test_a_tool_is_called(tmp_path: Path) -> None:
    from models.messages import Tool, ToolCall

    reply = 'Let me look. <tool_call>\n{"name": "read_page", "arguments": {"id": "pg_7"}}\n</tool_call>'
    folder = scripted_mlx_chat(tmp_path / "caller", reply, template=CALLING)
    model = open_model(f"mlx:{folder}", settings=ModelSettings(), env={})
    assert (await model.prepare()).tools
    tool = Tool("read_page", "Reads a page.", {"type": "object", "properties": {"id": {"type": "string"}}})
    events = await all_events(model, request("Read it.", tools=(tool,)))
    await model.close()

    calls = [event for event in events if isinstance(event, ToolCall)]
    assert [(call.name, call.arguments) for call in calls] == [("read_page", '{"id": "pg_7"}')]
    assert words(events) == "Let me look. "
    assert events[-1] == AnswerEnd(StopReason.TOOL_CALLS)


async def test_a_name_that_is_not_here_is_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []

    def snapshot_download(_: str, **given: object) -> str:
        asked.append(given)
        raise FileNotFoundError

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    model = open_model("mlx:nobody/no-such-model", settings=ModelSettings(), env={})
    failed = failure(await all_events(model))
    assert failed.code == "no_model"
    assert "hf download nobody/no-such-model" in failed.hint
    assert asked == [{"local_files_only": True}]


async def test_a_broken_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "no-such-architecture"}')
    failed = failure(await all_events(open_model(f"mlx:{tmp_path}", settings=ModelSettings(), env={})))
    assert failed.code == "no_model"
    assert str(tmp_path) in failed.message


async def test_without_the_library_one_command_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlx_lm", None)
    failed = failure(await all_events(open_model(f"mlx:{folder}", settings=ModelSettings(), env={})))
    assert failed.code == "missing"
    assert "palimpsest-shell[mlx]" in failed.hint or sys.platform == "win32"


def test_a_process_that_used_it_ends_well(folder: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from models.chat.open import open_model\n"
        "from models.messages import Request, user\n"
        "from models.settings import ModelSettings\n"
        "async def main():\n"
        "    model = open_model(sys.argv[1], settings=ModelSettings(), env={})\n"
        "    print([event async for event in model.stream(Request(model='m', messages=(user('Hello?'),)))][-1])\n"
        "asyncio.run(main())\n"
    )
    for _ in range(4):
        done = subprocess.run(
            [sys.executable, "-c", code, f"mlx:{folder}"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        assert "AnswerEnd" in done.stdout


async def test_all_of_it_happens_on_one_thread(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from models.chat.mlx.engine import MlxEngine

    seen: set[str] = set()
    for name in ("__init__", "encode", "reuse", "generate"):
        original = getattr(MlxEngine, name)

        def spied(*args: object, _original: object = original, **given: object) -> object:
            seen.add(threading.current_thread().name)
            return _original(*args, **given)

        monkeypatch.setattr(MlxEngine, name, spied)
    thread = MlxThread()
    spec = parse_spec(f"mlx:{folder}")
    profile = open_model(str(spec), settings=ModelSettings(), env={}).profile
    model = MlxText(spec, profile=profile, settings=ModelSettings(), thread=thread)
    assert words(await all_events(model)) == REPLY
    await model.close()
    await asyncio.to_thread(thread.close)
    assert seen == {"mlx"}
    assert mlx_thread() is mlx_thread()


async def test_a_small_model_is_sampled_calmly_and_against_repetition(folder: Path) -> None:
    small = ModelSettings(profiles={str(folder): ProfileOverride(small=True)})
    opened = open_model(f"mlx:{folder}", settings=small, env={})
    events = await all_events(opened, request(SYSTEM, user("What did it do?"), temperature=None))
    await opened.close()
    assert words(events) == REPLY  # its words are sure, whatever the temperature
