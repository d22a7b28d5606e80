"""The models that were used: the default of the next start, and those whose servers take no tools."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.config.config import load_config
from agent.config.used_models import IN_TEXT_FOR, MOST_KEPT, WINDOW_FOR, UsedModels
from agent.config.workspaces import prepare_workspace
from agent.session import Session
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.fakes import FakeClock
from tests.loopback import Loopback, chat, json_reply


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "user-config"), "PALIMPSEST_DETECT": "off"}


def test_the_model_chosen_last_is_the_default_until_a_setting_or_a_flag_says_otherwise(
    workspace: Workspace, environment: dict[str, str]
) -> None:
    prepare_workspace(workspace, environment)
    assert load_config(workspace, environment, {}).config.model == "offline"
    used = UsedModels.of(environment)
    used.chose("ollama:qwen3")
    used.answered("lmstudio:other")
    reading = load_config(workspace, environment, {})
    assert reading.config.model == "ollama:qwen3"
    assert reading.origins["model"] == f"your last choice of a model ({used.path})"
    assert used.specs == ("lmstudio:other", "ollama:qwen3")
    flagged = load_config(workspace, environment, {"model": "offline"}).config
    assert (flagged.model, flagged.model_is_fixed) == ("offline", True)
    used.path.with_name("config.yaml").write_text("model: llamacpp:here\n")
    assert load_config(workspace, environment, {}).config.model == "llamacpp:here"


def test_tools_are_offered_natively_again_after_a_month_or_when_the_model_is_chosen(tmp_path: Path) -> None:
    clock = FakeClock()
    used = UsedModels(tmp_path, clock)
    used.answered("ollama:a", refused_tools=True)
    used.answered("ollama:b", refused_tools=True)
    used.answered("ollama:a")
    assert used.calls_in_text("ollama:a") and used.calls_in_text("ollama:b")
    used.chose("ollama:b")
    assert not used.calls_in_text("ollama:b")
    clock.advance((IN_TEXT_FOR + timedelta(hours=1)).total_seconds())
    assert not used.calls_in_text("ollama:a")


def test_a_learned_window_holds_for_its_address_and_never_below_what_was_accepted(tmp_path: Path) -> None:
    clock = FakeClock()
    used, here = UsedModels(tmp_path, clock), "http://127.0.0.1:1/v1"
    used.accepted("ollama:a", here, 9_000)
    assert not used.learn_window("ollama:a", here, 4_096)
    assert used.window("ollama:a", here) is None
    assert used.learn_window("ollama:a", here, 16_384)
    learned = used.window("ollama:a", here)
    assert learned is not None and learned.tokens == 16_384
    elsewhere = "http://127.0.0.1:2/v1"
    assert used.window("ollama:a", elsewhere) is None
    assert used.learn_window("ollama:a", elsewhere, 2_048)
    used.forget_window("ollama:a")
    assert used.window("ollama:a", elsewhere) is None
    assert used.learn_window("ollama:a", elsewhere, 2_048)
    clock.advance((WINDOW_FOR + timedelta(hours=1)).total_seconds())
    assert used.window("ollama:a", elsewhere) is None


def test_what_was_accepted_a_month_ago_holds_no_longer(tmp_path: Path) -> None:
    clock = FakeClock()
    used = UsedModels(tmp_path, clock)
    used.accepted("ollama:a", "", 9_000)
    clock.advance((WINDOW_FOR + timedelta(hours=1)).total_seconds())
    assert used.learn_window("ollama:a", "", 4_096)


@pytest.mark.parametrize("content", [b"", b"{oops", b'{"default": 3}', b'{"default": "nobody:x"}', b"\xff"])
def test_a_file_that_cannot_be_read_is_empty_and_is_written_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "models.json").write_bytes(content)
    used = UsedModels(tmp_path)
    assert (used.default, used.specs) == ("", ())
    used.chose("ollama:a")
    assert used.default == "ollama:a"


def test_so_many_models_are_kept(tmp_path: Path) -> None:
    used = UsedModels(tmp_path)
    for number in range(MOST_KEPT + 3):
        used.answered(f"ollama:m{number}")
    assert len(used.specs) == MOST_KEPT and used.specs[0] == f"ollama:m{MOST_KEPT + 2}"


async def said(session: Session, text: str) -> None:
    async for _ in session.send(text):
        pass


async def test_a_conversation_goes_on_with_the_model_that_it_was_held_with(
    workspace: Workspace, environment: dict[str, str], server: Loopback
) -> None:
    prepare_workspace(workspace, environment)
    server.answers_all(lambda _: chat("Yes."))
    spec = f"openai:m@{server.address}/v1"
    session = Session.open(workspace, load_config(workspace, environment, {"model": spec}).config)
    await said(session, "hello")
    conversation = session.conversation
    await session.close()
    assert conversation is not None

    session = Session.open(workspace, load_config(workspace, environment, {}).config)
    assert session.profile.spec == "offline"
    await session.resume(conversation.id)
    assert f"continues with {spec}" in await session.restore_model()
    assert session.profile.spec == spec
    assert UsedModels.of(environment).default == ""
    await session.close()

    fixed = Session.open(workspace, load_config(workspace, environment, {"model": "offline"}).config)
    await fixed.resume(conversation.id)
    assert f"/model {spec} switches back" in await fixed.restore_model()
    assert fixed.profile.spec == "offline"
    await fixed.close()

    UsedModels.of(environment).path.unlink()  # a store from elsewhere names no model that is used by itself
    stranger = Session.open(workspace, load_config(workspace, environment, {}).config)
    await stranger.resume(conversation.id)
    assert f"/model {spec} switches back" in await stranger.restore_model()
    await stranger.close()


async def test_a_server_that_rejected_tools_is_not_offered_them_at_the_next_start(
    workspace: Workspace, environment: dict[str, str], server: Loopback
) -> None:
    prepare_workspace(workspace, environment)
    spec = f"openai:m@{server.address}/v1"
    config = load_config(workspace, environment, {"model": spec}).config
    server.answers("/api/show", json_reply({}, status=404))
    server.plays(json_reply({"error": {"message": "m does not support tools"}}, status=400), chat("Hi."), chat("Hi."))
    for _ in range(2):
        session = Session.open(workspace, config)
        await said(session, "hello")
        await session.close()
    sent = [post.json for post in server.posts if post.path.endswith("/completions")]
    assert ["tools" in body for body in sent] == [True, False, False]
    assert config.models == ModelSettings()
