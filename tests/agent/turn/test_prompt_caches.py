"""A conversation with a model of mlx goes on after a restart from its saved KV cache; what is private is not in one."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from agent.events import AnswerStored, UsageKnown
from agent.session import Session
from context.settings import ContextSettings
from foundation.paths import Workspace
from models.chat.mlx.cache_files import FOLDER
from tests.agent.sessions import only, open_session, turn
from tests.scripted_models import scripted_mlx_chat

pytestmark = [
    pytest.mark.skipif(find_spec("mlx_lm") is None, reason="mlx-lm has no build for this platform"),
    pytest.mark.slow,
    pytest.mark.timeout(180),
]

REPLY = "The quiet heron stood by the water until noon."


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scripted_mlx_chat(tmp_path_factory.mktemp("mlx") / "heron", REPLY, context=32_768)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "ws")


def opened(workspace: Workspace, tmp_path: Path, checkpoint: Path) -> Session:
    return open_session(workspace, tmp_path, model=f"mlx:{checkpoint}", context=ContextSettings(recall=False))


def saved(workspace: Workspace) -> list[Path]:
    return sorted(workspace.prompt_caches.glob("*.safetensors"))


def read_anew(events: list[object]) -> tuple[int, int]:
    """Tokens of the prompt, and those of them that were read."""
    usage = only(events, UsageKnown).usage
    return usage.prompt_tokens, usage.prompt_tokens - usage.cached_tokens


async def test_a_conversation_that_is_resumed_is_read_from_its_first_new_token(
    workspace: Workspace, tmp_path: Path, checkpoint: Path
) -> None:
    session = opened(workspace, tmp_path, checkpoint)
    first = await turn(session, "What did it do at dawn?")
    assert only(first, AnswerStored).text == REPLY, first
    await session.close()
    assert len(saved(workspace)) == 1
    session = opened(workspace, tmp_path, checkpoint)
    await session.resume_latest()
    events = await turn(session, "And then?")
    await session.close()
    prompt, read = read_anew(events)
    assert only(events, AnswerStored).text == REPLY
    assert read < 0.1 * prompt


async def test_a_conversation_with_private_text_is_not_saved(
    workspace: Workspace, tmp_path: Path, checkpoint: Path
) -> None:
    session = opened(workspace, tmp_path, checkpoint)
    await turn(session, "It nests <private>behind the mill</private>, I think.")
    await turn(session, "And then?")
    await session.close()
    assert saved(workspace) == []


async def test_a_deletion_takes_every_saved_cache_and_what_is_still_in_memory(
    workspace: Workspace, tmp_path: Path, checkpoint: Path
) -> None:
    session = opened(workspace, tmp_path, checkpoint)
    await turn(session, "What did it do at dawn?")
    await session.close()
    session = opened(workspace, tmp_path, checkpoint)
    await turn(session, "Another conversation.")
    assert saved(workspace)
    first, *_ = [kept for kept in session.memory.conversations.recent(limit=10) if session.conversation.id != kept.id]
    session.memory.knowledge.delete_conversation(first.seq)
    assert saved(workspace) == []
    await session.close()
    assert saved(workspace) == [], "what was computed before the deletion may repeat it"
    assert workspace.prompt_caches.name == FOLDER
