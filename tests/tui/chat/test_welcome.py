"""The welcome, and the offer of a model: what a newcomer reads, from an empty start to the first answer."""

from types import SimpleNamespace
from typing import Any

import pytest
from rich.style import Style

from agent.services.model_offer import ModelOffer, detect_model
from models.chat.detect import DetectedModel, services
from models.chat.port import Profile
from models.prices import ModelPrice
from models.settings import ModelSettings
from tests.tui.conftest import Open
from tests.tui.fakes import FakeSession, answer
from tui.widgets.transcript.items import Welcome
from tui.widgets.transcript.styles import TranscriptStyles

LOOK = TranscriptStyles.of_theme({}, Style())
KEYS = {"ANTHROPIC_API_KEY": "sk-ant-nothing"}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("model", ["offline", "ollama:qwen3:4b"])
def test_the_welcome_is_six_lines_at_most_and_names_what_one_needs(model: str, first: bool) -> None:
    welcome = Welcome("~/notes", model, "~/code/陶器 🏺", "" if model == "offline" else "ask", first=first)
    lines = ["".join(segment.text for segment in line) for line in welcome.lines(78, LOOK)]
    assert len([line for line in lines if line.strip()]) <= 6
    text = "\n".join(lines)
    for word in ("F1", "Ctrl+P", "/model", "/import" if first else "/resume"):
        assert word in text


async def offered(models: list[DetectedModel], **settings: Any) -> ModelOffer:
    session: Any = FakeSession(lambda _: (), models=models, spec="offline")
    session.config = SimpleNamespace(environment=KEYS, models=ModelSettings(**settings))
    offer = await detect_model(session)
    assert offer
    return offer


async def test_a_key_is_offered_with_where_text_goes_and_what_it_costs() -> None:
    offer = await offered(services(KEYS, ModelSettings()))
    assert offer.text.startswith("ANTHROPIC_API_KEY is set: F2 switches to anthropic:")
    assert "sent to https://api.anthropic.com." in offer.text
    assert "no price is set (models.prices)" in offer.text and offer.text.endswith("Until then nothing is sent.")
    prices = {"anthropic:*": ModelPrice(input=3.0, output=15.0)}
    priced = await offered(services(KEYS, ModelSettings()), prices=prices)
    assert "A million tokens cost 3 USD read, 15 USD written." in priced.text


async def test_a_model_on_this_machine_is_offered_before_a_key() -> None:
    local = DetectedModel(
        spec="ollama:qwen3", profile=Profile(spec="ollama:qwen3", name="qwen3"), address="", provider="ollama"
    )
    offer = await offered([local, *services(KEYS, ModelSettings())])
    assert offer.spec == "ollama:qwen3"
    assert offer.text == "ollama:qwen3 is running on this machine. F2 switches to it, /model lists all 2 found."


async def test_one_key_takes_the_offer(open_chat: Open) -> None:
    local = DetectedModel(
        spec="ollama:qwen3", profile=Profile(spec="ollama:qwen3", name="qwen3"), address="", provider="ollama"
    )
    session = FakeSession(lambda text: answer(text), models=[local], spec="offline")
    async with open_chat(session=session) as chat:
        await chat.until(lambda: "F2 switches to it" in chat.text)
        await chat.press("f2")
        await chat.until(lambda: session.profile.spec == "ollama:qwen3")
