"""The models that can be chosen: found on this machine, used before, or offline; and how to get one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agent.commands.results import Choice, Choices
from foundation.errors import Misuse, PalimpsestError
from models.chat.detect import DetectedModel, probe_address
from models.chat.mlx.files import find_folder
from models.chat.port import Profile
from models.chat.spec import ModelSpec, address_of, is_loopback, parse_spec

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.config.config import Config
    from agent.session import Session

TITLE = "Models"
OFFLINE = Choice("offline", "offline", "no language model: quotes what is remembered")
_ANSWERS = "it answers"
HOW_TO_GET_ONE = (
    "No model answers on this machine. To get one:",
    "Ollama (ollama.com): ollama pull qwen3:4b, then /model",
    "LM Studio (lmstudio.ai): load a model, start its server (Developer), then /model",
    "llama.cpp: llama-server -m MODEL.gguf --port 8080, then /model",
    "MLX on Apple silicon: hf download mlx-community/Qwen3-4B-4bit, then /model mlx:mlx-community/Qwen3-4B-4bit",
    "a service: OPENAI_API_KEY or ANTHROPIC_API_KEY in the environment, then start again",
    "or type an address above: http://HOST:PORT/v1",
)


async def model_choices(session: Session) -> Choices:
    """The models to choose from: those found first, then those used before, each with whether it answers."""
    found = {model.spec: model.profile for model in await session.models()}
    current = session.profile
    used = await asyncio.to_thread(lambda: session.models_used.specs)
    earlier = [spec for spec in dict.fromkeys((current.spec, *used)) if spec not in found and spec != "offline"]
    servers = await _probed(earlier, current.spec, session.config)
    states = {spec: await _state(spec, servers, session.config.environment) for spec in earlier}
    items = [Choice(spec, spec, _detail(profile, current.spec, spec in used)) for spec, profile in found.items()]
    for spec in earlier:
        parts = ("in use" if spec == current.spec else "used before", states[spec])
        items.append(Choice(spec, spec, " · ".join(part for part in parts if part)))
    offered = servers.get(_address(current.spec, session.config.environment), ())
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
        notes=() if found or _ANSWERS in states.values() else HOW_TO_GET_ONE,
        takes_text=True,
    )


async def model_at(session: Session, text: str) -> str | Choices:
    """The spec that `text` names: itself, or the one model of the server at an address; a list where it has several.

    Raises Misuse where no server answers there.
    """
    if not text.startswith(("http://", "https://")):
        return text
    address = text.rstrip("/")
    models = await probe_address(address, session.config.environment, settings=session.config.models)
    if not models and not address.endswith("/v1"):
        models = await probe_address(f"{address}/v1", session.config.environment, settings=session.config.models)
    if not models:
        raise Misuse(
            "No model there",
            f"Nothing at {address} answers as a model server.",
            "Is it running, and is that its address? A SPEC names a model without a question: openai:NAME@ADDRESS.",
        )
    if len(models) == 1:
        return models[0].spec
    items = tuple(Choice(model.spec, model.spec, _detail(model.profile, session.profile.spec)) for model in models)
    return Choices(f"Models at {address}", items, "/model")


def _detail(profile: Profile, current: str, used: bool = False) -> str:
    parts = [f"window {profile.window:,}" if profile.window else "", "on another machine" if profile.remote else ""]
    parts += ["in use"] if profile.spec == current else ["used before"] if used else []
    return " · ".join(part for part in parts if part)


async def _probed(specs: Sequence[str], current: str, config: Config) -> dict[str, list[DetectedModel]]:
    """The models of the servers of these specs, by address: of those on this machine, and of the one in use."""
    addresses = {spec: _address(spec, config.environment) for spec in specs}
    asked = {at for spec, at in addresses.items() if at and (is_loopback(at) or (spec == current and "@" in spec))}
    answers = (probe_address(at, config.environment, settings=config.models) for at in sorted(asked))
    return dict(zip(sorted(asked), await asyncio.gather(*answers), strict=True))


def _address(spec: str, environment: Mapping[str, str]) -> str:
    """The address of the model's server; "" where it has none, or the spec is no longer one."""
    model = _parsed(spec)
    return address_of(model, environment) if model and model.provider not in {"mlx", "offline"} else ""


async def _state(spec: str, servers: Mapping[str, list[DetectedModel]], environment: Mapping[str, str]) -> str:
    """What is known of a model that was not found. Another machine is contacted only where its model is in use."""
    model = _parsed(spec)
    if model is None:
        return "cannot be used"
    if model.provider == "mlx":
        folder = await asyncio.to_thread(find_folder, model.name)
        return "on this machine" if folder else "its folder is not here"
    return _server_state(model, address_of(model, environment), servers)


def _server_state(model: ModelSpec, address: str, answers: Mapping[str, list[DetectedModel]]) -> str:
    if address not in answers:
        return f"on another machine ({address}), not asked"
    if not answers[address]:
        return f"no answer from {address}"
    names = answers[address][0].names
    return _ANSWERS if not names or model.name in names else f"{address} answers and does not list it"


def _parsed(spec: str) -> ModelSpec | None:
    try:
        return parse_spec(spec)
    except PalimpsestError:
        return None
