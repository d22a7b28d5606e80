"""The models on screen, over a real session and servers on loopback: found, tested, added, used; costs and keys."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agent.config.used_models import UsedModels
from agent.session import Session
from foundation.paths import Workspace
from models.prices import ModelPrice
from models.settings import ModelSettings
from tests.agent.conftest import second_server  # noqa: F401 - a fixture
from tests.agent.sessions import environment_of, open_session
from tests.loopback import Loopback, json_reply
from tests.loopback import chat as chat_reply
from tests.tui.conftest import Chat, Open
from tui.dialogs.confirm import ProposalScreen
from tui.dialogs.line import LineScreen
from tui.overview.models_screen import ModelsScreen

OpenSession = Callable[..., Session]


@pytest.fixture
def server(second_server: Loopback) -> Loopback:  # noqa: F811
    """A server with two models."""
    names = ("qwen3-4b", "通义千问-7b")
    second_server.answers("/v1/models", json_reply({"data": [{"id": name, "owned_by": "vllm"} for name in names]}))
    return second_server


@pytest.fixture
async def opened(workspace: Workspace, tmp_path: Path) -> AsyncIterator[OpenSession]:
    """`opened({"OPENAI_API_KEY": …}, models=…)`: a real session with these variables and settings."""
    sessions: list[Session] = []

    def make(variables: dict[str, str] | None = None, **settings: Any) -> Session:
        environment = environment_of(tmp_path) | (variables or {})
        sessions.append(open_session(workspace, tmp_path, environment=environment, **settings))
        return sessions[-1]

    yield make
    for session in sessions:
        await session.close()


def at(server: Loopback) -> dict[str, str]:
    """The server is found in place of llama.cpp's."""
    return {"PALIMPSEST_DETECT": f"llamacpp={server.address}/v1,ollama=,lmstudio="}


async def models(chat: Chat) -> ModelsScreen:
    chat.screen.queue.add("/model")
    await chat.until(lambda: isinstance(chat.app.screen, ModelsScreen) and chat.app.screen.is_read)
    screen = chat.app.screen
    assert isinstance(screen, ModelsScreen)
    await chat.until(lambda: "searching" not in seen(chat))
    return screen


def seen(chat: Chat) -> str:
    return "\n".join(chat.seen)


def words(chat: Chat) -> str:
    """What is seen, without line breaks."""
    return " ".join(seen(chat).split())


async def go_to(chat: Chat, screen: ModelsScreen, label: str) -> None:
    await chat.until(lambda: any(label in row.label for row in screen.contents.rows))
    for _ in screen.contents.rows:
        if screen.chosen and label in screen.chosen.label:
            return
        await chat.press("down")
    raise AssertionError(label)


async def test_with_nothing_there_it_says_how_to_get_one_and_that_it_works_without(
    open_chat: Open, opened: OpenSession
) -> None:
    async with open_chat(session=opened()) as chat:
        await models(chat)
        text = words(chat)
        assert "How to get one (optional)" in text
        for way in ("ollama pull", "LM Studio", "llama-server", "MLX on Apple silicon"):
            assert way in text
        assert "offline: no language model" in text


async def test_where_none_was_looked_for_it_says_so(open_chat: Open, opened: OpenSession) -> None:
    async with open_chat(session=opened({"PALIMPSEST_DETECT": "off"})) as chat:
        await models(chat)
        assert "servers were not searched for: PALIMPSEST_DETECT is off" in words(chat)
        assert "usual port" not in words(chat)


async def test_a_found_model_is_listed_with_what_it_can_and_enter_uses_it(
    open_chat: Open, opened: OpenSession, server: Loopback
) -> None:
    session = opened(at(server))
    async with open_chat(session=session, size=(110, 44)) as chat:
        screen = await models(chat)
        await go_to(chat, screen, "通义千问-7b")
        await chat.until(lambda: "Nothing leaves this machine" in words(chat))
        assert "not known yet" in words(chat) and "calls tools" in words(chat)
        assert "How to get one" not in seen(chat)
        await chat.press("enter")
        await chat.quiet()
        assert session.profile.spec == f"openai:通义千问-7b@{server.address}/v1"
        assert UsedModels.of(session.config.environment).default == session.profile.spec
        assert "The model is now openai:通义千问-7b" in " ".join(chat.text.split())


async def test_the_list_fills_as_servers_answer_and_a_key_looks_again(
    open_chat: Open, opened: OpenSession, server: Loopback
) -> None:
    async with open_chat(session=opened(at(server))) as chat:
        screen = await models(chat)
        assert "qwen3-4b" in seen(chat)
        server.answers("/v1/models", json_reply({"data": [{"id": "newer", "owned_by": "vllm"}]}))
        await chat.press("r")
        await chat.until(lambda: "openai:newer" in seen(chat) and "qwen3-4b" not in seen(chat))
        assert chat.app.screen is screen


async def test_of_the_model_in_use_it_says_whether_its_server_answers(
    open_chat: Open, opened: OpenSession, server: Loopback
) -> None:
    session = opened(model=f"openai:qwen3-4b@{server.address}/v1")
    async with open_chat(session=session, size=(110, 44)) as chat:
        screen = await models(chat)
        await chat.until(lambda: screen.contents.rows[1].figure == "it answers")
        server.answers("/v1/models", json_reply({"error": "loading"}, status=503))
        await chat.press("r")
        await chat.until(lambda: screen.contents.rows[1].figure.startswith("no answer from"))
        assert screen.contents.rows[0].label == "In use"


async def test_a_test_says_how_fast_the_model_answers(open_chat: Open, opened: OpenSession, server: Loopback) -> None:
    async with open_chat(session=opened(at(server)), size=(110, 44)) as chat:
        screen = await models(chat)
        await go_to(chat, screen, "qwen3-4b")
        server.plays(chat_reply("rea", "dy 好"))
        await chat.press("t")
        await chat.until(lambda: "first token after" in words(chat))
        assert "Answer: ready 好" in words(chat)
        [asked] = [post for post in server.posts if post.path.endswith("/chat/completions")]
        assert asked.json["max_tokens"] <= 64


async def test_a_model_that_does_not_answer_is_told_in_a_sentence(open_chat: Open, opened: OpenSession) -> None:
    session = opened()
    UsedModels.of(session.config.environment).answered("openai:gone@http://127.0.0.1:9/v1")
    async with open_chat(session=session, size=(110, 44)) as chat:
        screen = await models(chat)
        await go_to(chat, screen, "openai:gone")
        await chat.until(lambda: "no answer from" in words(chat))
        await chat.press("t")
        await chat.until(lambda: "No server is running at http://127.0.0.1:9/v1" in words(chat))


async def test_a_test_that_costs_asks_first(open_chat: Open, opened: OpenSession, server: Loopback) -> None:
    prices = {"openai:*": ModelPrice(input=2.0, output=8.0, currency="EUR")}
    async with open_chat(session=opened(at(server), models=ModelSettings(prices=prices))) as chat:
        screen = await models(chat)
        await go_to(chat, screen, "qwen3-4b")
        await chat.press("t")
        await chat.until(lambda: isinstance(chat.app.screen, ProposalScreen))
        assert "A million tokens cost 2 EUR read, 8 EUR written." in words(chat)
        await chat.press("escape")
        await chat.until(lambda: chat.app.screen is screen)
        assert server.posts == [] or all("chat" not in post.path for post in server.posts)
        server.plays(chat_reply("rea", "dy"))
        await chat.press("t")
        await chat.until(lambda: isinstance(chat.app.screen, ProposalScreen))
        await chat.press("enter")
        await chat.until(lambda: "It said: ready" in words(chat))


async def test_an_address_adds_the_models_of_its_server(open_chat: Open, opened: OpenSession, server: Loopback) -> None:
    async with open_chat(session=opened()) as chat:
        screen = await models(chat)
        await chat.press("a")
        await chat.until(lambda: isinstance(chat.app.screen, LineScreen))
        await chat.type("nonsense")
        await chat.press("enter")
        await chat.until(lambda: "does not name a model" in words(chat))
        await chat.press(*["backspace"] * len("nonsense"), *server.address, "enter")
        await chat.until(lambda: chat.app.screen is screen and "Added here" in seen(chat))
        assert screen.chosen and screen.chosen.label == f"openai:qwen3-4b@{server.address}/v1"


async def test_the_embedder_is_chosen_here(open_chat: Open, opened: OpenSession, tmp_path: Path) -> None:
    async with open_chat(session=opened(), size=(110, 44)) as chat:
        screen = await models(chat)
        assert "words only" in seen(chat)
        await chat.press("e")
        await chat.until(lambda: isinstance(chat.app.screen, LineScreen))
        await chat.type("ollama:nomic-embed-text")
        await chat.press("enter")
        await chat.until(lambda: chat.app.screen is screen and "from the next start" in words(chat))
        config = (tmp_path / "user-config" / "config.yaml").read_text(encoding="utf-8")
        assert "embedder: ollama:nomic-embed-text" in config


async def test_costs_of_this_conversation_and_of_today_are_shown(
    open_chat: Open, opened: OpenSession, server: Loopback
) -> None:
    prices = {"openai:*": ModelPrice(input=1_000.0, output=1_000.0)}
    settings = ModelSettings(prices=prices, daily_tokens=50_000)
    session = opened(model=f"openai:m@{server.address}/v1", models=settings)
    server.plays(chat_reply("In ", "May."))
    async with open_chat(session=session, size=(110, 44)) as chat:
        await chat.say("When?")
        await chat.quiet()
        await models(chat)
        assert any("this conversation" in line and "USD" in line for line in chat.seen)
        assert "of 50,000 tokens" in words(chat)


async def test_a_key_is_named_and_never_shown(open_chat: Open, opened: OpenSession) -> None:
    key = "sk-" + "a1B2c3D4" * 5
    async with open_chat(session=opened({"OPENAI_API_KEY": key}), size=(110, 44)) as chat:
        screen = await models(chat)
        await go_to(chat, screen, "openai:gpt")
        await chat.until(lambda: "Its key comes from OPENAI_API_KEY" in words(chat))
        assert "What you write is sent to another machine" in words(chat)
        await chat.press("end")
        await chat.until(lambda: "OPENAI_API_KEY" in words(chat))
        assert key not in seen(chat) and key[:12] not in repr(screen.contents)


async def test_a_probe_says_how_the_model_calls_tools(open_chat: Open, opened: OpenSession, server: Loopback) -> None:
    server.answers("/v1/chat/completions", chat_reply("Hello! How can I help?"))
    async with open_chat(session=opened(at(server)), size=(110, 44)) as chat:
        screen = await models(chat)
        await go_to(chat, screen, "通义千问-7b")
        await chat.press("p")
        await chat.until(lambda: "Tested: it calls no tools, answers a greeting with plain text" in words(chat))
        await chat.until(lambda: words(chat).count("Tested: it calls no tools") == 2)  # and among the model's facts


async def test_only_a_model_on_this_machine_is_probed(open_chat: Open, opened: OpenSession) -> None:
    async with open_chat(session=opened({"OPENAI_API_KEY": "k"}), size=(110, 44)) as chat:
        screen = await models(chat)
        await go_to(chat, screen, "openai:gpt")
        await chat.press("p")
        await chat.until(lambda: "so it was not tested" in words(chat))
