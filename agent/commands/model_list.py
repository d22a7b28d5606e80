"""The models that can be chosen: found on this machine, used before, or offline; and how to get one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agent.commands.results import Choice, Choices
from agent.services.model_states import ANSWERS, is_address, model_states, models_at
from models.chat.port import Profile

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session

TITLE = "Models"
OFFLINE = Choice("offline", "offline", "no language model: quotes from memory")
HOW_TO_GET_ONE = (
    "No model is running on this machine. To get one:",
    "Ollama (ollama.com): ollama pull qwen3:4b, then /model",
    "LM Studio (lmstudio.ai): load a model, start its server (Developer), then /model",
    "llama.cpp: llama-server -m MODEL.gguf --port 8080, then /model",
    "MLX on Apple silicon: hf download mlx-community/Qwen3-4B-4bit, then /model mlx:mlx-community/Qwen3-4B-4bit",
    "a service: /model openai:gpt-4.1 or /model anthropic:claude-sonnet-4-5, which asks for the key",
    "or enter an address above: http://HOST:PORT/v1",
)


async def model_choices(session: Session) -> Choices:
    """The models to choose from: those found first, then those used before, each with whether it answers."""
    found = {model.spec: model.profile for model in await session.models()}
    current = session.profile
    used = await asyncio.to_thread(lambda: session.models_used.specs)
    earlier = [spec for spec in dict.fromkeys((current.spec, *used)) if spec not in found and spec != "offline"]
    states, offered = await model_states(session.config, earlier, current.spec)
    items = [Choice(spec, spec, _detail(profile, current.spec, spec in used)) for spec, profile in found.items()]
    for spec in earlier:
        parts = ("in use" if spec == current.spec else "used before", states[spec])
        items.append(Choice(spec, spec, " · ".join(part for part in parts if part)))
    items += [  # the other models of the server in use, whose address was typed
        Choice(model.spec, model.spec, _detail(model.profile, current.spec))
        for model in offered
        if model.spec not in {item.id for item in items} and model.provider != "llamacpp"  # answers to any name
    ]
    items.sort(key=lambda item: item.id != current.spec)
    in_use = " · in use" if current.spec == "offline" else ""
    items.append(Choice(OFFLINE.id, OFFLINE.label, OFFLINE.detail + in_use))
    return Choices(
        TITLE,
        tuple(items),
        "/model",
        notes=() if found or ANSWERS in states.values() else HOW_TO_GET_ONE,
        takes_text=True,
    )


async def model_at(session: Session, text: str) -> str | Choices:
    """The spec that `text` names: itself, or the one model of the server at an address; a list where it has several.

    Raises Misuse where no server answers there.
    """
    if not is_address(text):
        return text
    models = await models_at(session.config, text)
    if len(models) == 1:
        return models[0].spec
    items = tuple(Choice(model.spec, model.spec, _detail(model.profile, session.profile.spec)) for model in models)
    return Choices(f"Models at {text.rstrip('/')}", items, "/model")


def _detail(profile: Profile, current: str, used: bool = False) -> str:
    parts = [
        f"window {profile.window:,}" if profile.window_known else "",
        "on another machine" if profile.remote else "",
    ]
    parts += ["in use"] if profile.spec == current else ["used before"] if used else []
    return " · ".join(part for part in parts if part)
