"""KV caches of conversations through the real mlx-lm: kept, bounded, saved, loaded, and never trusted."""

import asyncio
import logging
import stat
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from models.chat.mlx import cache_files
from models.chat.mlx.provider import MlxText
from models.chat.open import open_model
from models.messages import Message, PromptCacheSlot, Usage, assistant, system, user
from models.settings import ModelSettings
from tests.models.chat.events import all_events, request, words
from tests.scripted_models import scripted_mlx_chat

pytestmark = [
    pytest.mark.skipif(find_spec("mlx_lm") is None, reason="mlx-lm has no build for this platform"),
    pytest.mark.slow,
    pytest.mark.timeout(180),  # the first import of mlx-lm takes seconds on a busy machine
]

REPLY = "The quiet heron stood by 白色 water until noon."
SYSTEM = system("You keep a diary of herons. " * 20)
FIRST = (SYSTEM, user("What did it do at dawn?"))
SECOND = (*FIRST, assistant(REPLY), user("And then?"))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scripted_mlx_chat(tmp_path_factory.mktemp("mlx") / "heron", REPLY)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "prompt-caches"


def slot(folder: Path, conversation: str = "c_1") -> PromptCacheSlot:
    return PromptCacheSlot(conversation, str(folder), cache_files.generation(folder))


def opened(checkpoint: Path, **settings: Any) -> MlxText:
    model = open_model(f"mlx:{checkpoint}", settings=ModelSettings(**settings), env={})
    assert isinstance(model, MlxText)
    return model


async def ask(model: MlxText, messages: tuple[Message, ...], where: PromptCacheSlot) -> tuple[str, int, int]:
    """The answer, the prompt's tokens, and those of them that were not read."""
    events = await all_events(model, request(*messages, cache_slot=where))
    usage = next(event for event in events if isinstance(event, Usage))
    return words(events), usage.prompt_tokens, usage.cached_tokens or 0


async def saved(checkpoint: Path, where: PromptCacheSlot, **settings: Any) -> list[Path]:
    """The files after a run that answered and was closed."""
    model = opened(checkpoint, **settings)
    await ask(model, FIRST, where)
    await model.close()
    return sorted(Path(where.folder).glob("*.safetensors"))


async def test_the_next_run_reads_only_what_is_new_and_answers_the_same(checkpoint: Path, folder: Path) -> None:
    (file,) = await saved(checkpoint, slot(folder))
    fresh, resumed = opened(checkpoint), opened(checkpoint)
    without, prompt, cached = await ask(fresh, SECOND, PromptCacheSlot("c_1"))
    assert cached == 0
    with_cache, same_prompt, cached = await ask(resumed, SECOND, slot(folder))
    await fresh.close()
    await resumed.close()
    assert with_cache == without == REPLY
    assert same_prompt == prompt
    assert prompt - cached < 0.2 * prompt
    assert not file.exists(), "the longer one takes its place"
    assert len(list(folder.glob("*.safetensors"))) == 1


async def test_nobody_else_may_read_the_file_and_it_names_no_conversation(checkpoint: Path, folder: Path) -> None:
    (file,) = await saved(checkpoint, slot(folder, "c_secret_name"))
    assert "secret" not in file.name
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


async def test_each_conversation_keeps_its_own(checkpoint: Path) -> None:
    model = opened(checkpoint)
    one, other = PromptCacheSlot("c_1"), PromptCacheSlot("c_2")
    elsewhere = (system("Nothing alike. " * 40), user("Red?"))
    await ask(model, FIRST, one)
    await ask(model, elsewhere, other)
    _, prompt, cached = await ask(model, FIRST, one)
    await model.close()
    assert cached == prompt - 1


async def test_a_new_conversation_takes_over_a_head_that_it_shares(checkpoint: Path) -> None:
    model = opened(checkpoint)
    await ask(model, FIRST, PromptCacheSlot("c_1"))
    answer, _, cached = await ask(model, (SYSTEM, user("Blue?")), PromptCacheSlot("c_2"))
    _, prompt, own = await ask(model, FIRST, PromptCacheSlot("c_1"))
    await model.close()
    assert answer == REPLY
    assert cached > 0.9 * len(SYSTEM.text)
    assert own == prompt - 1, "and leaves it whole"


async def test_the_least_recently_used_leave_memory(checkpoint: Path) -> None:
    model = opened(checkpoint, kv_memory_mb=1)
    for number in range(6):
        await ask(model, (system(f"{number} " * 900), user("Red?")), PromptCacheSlot(f"c_{number}"))
        assert model.kept_bytes <= 1 << 20
    _, prompt, cached = await ask(model, (system("5 " * 900), user("Red?")), PromptCacheSlot("c_5"))
    await model.close()
    assert cached == prompt - 1


async def test_what_may_not_be_saved_is_not(checkpoint: Path, folder: Path) -> None:
    assert await saved(checkpoint, PromptCacheSlot("c_1", "", "")) == []
    assert await saved(checkpoint, slot(folder), kv_disk_mb=0) == []
    stale = slot(folder)
    cache_files.purge(folder)
    assert await saved(checkpoint, stale) == [], "something was deleted since it was computed"


async def test_a_secret_in_the_request_keeps_it_from_the_disk(checkpoint: Path, folder: Path) -> None:
    model = opened(checkpoint)
    key = "sk-proj-" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA" * 2
    await ask(model, (SYSTEM, user(f"My key is {key}")), slot(folder))
    await model.close()
    assert list(folder.glob("*.safetensors")) == []


async def test_the_oldest_leave_the_disk(checkpoint: Path, folder: Path) -> None:
    model = opened(checkpoint, kv_disk_mb=1)
    for number in range(5):
        await ask(model, (system(f"{number} " * 450), user("Red?")), slot(folder, f"c_{number}"))
    await model.close()
    files = list(folder.glob("*.safetensors"))
    assert 1 <= len(files) < 5
    assert sum(file.stat().st_size for file in files) <= 1 << 20


@pytest.mark.parametrize("damage", ["cut", "flipped", "foreign", "another model"])
async def test_a_file_that_is_no_cache_of_this_is_deleted_and_the_log_says_so(
    checkpoint: Path, folder: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    (file,) = await saved(checkpoint, slot(folder))
    body = file.read_bytes()
    stem = file.name.rpartition("-")[0]
    if damage == "cut":
        file.write_bytes(body[:4000])
    elif damage == "flipped":
        file.write_bytes(body[:-100] + bytes([body[-100] ^ 64]) + body[-99:])
    else:
        mark = b'"0.version":"1"'
        other = b"no safetensors at all" if damage == "foreign" else body.replace(mark, mark.replace(b"1", b"9"))
        assert other != body
        file.unlink()
        file = folder / f"{stem}-0.safetensors"
        file.write_bytes(other)
        file = file.rename(folder / f"{stem}-{cache_files.crc_of(file):08x}.safetensors")
    model = opened(checkpoint)
    with caplog.at_level(logging.WARNING, "palimpsest.mlx"):
        answer, _, cached = await ask(model, SECOND, slot(folder))
    assert (answer, cached) == (REPLY, 0)
    assert not file.exists()
    assert str(file) in caplog.text
    await model.close()


async def test_a_purge_leaves_nothing(checkpoint: Path, folder: Path) -> None:
    assert await saved(checkpoint, slot(folder))
    await asyncio.to_thread(cache_files.purge, folder)
    assert list(folder.iterdir()) == []
