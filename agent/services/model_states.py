"""What is known of models that were used before, and which models a server at an address has."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from agent.config.config import Config
from foundation.errors import Misuse, PalimpsestError
from models.chat.detect import DetectedModel, probe_address
from models.chat.mlx.files import find_folder
from models.chat.spec import ModelSpec, address_of, is_loopback, parse_spec

ANSWERS: Final = "it responds"
NO_ANSWER: Final = "no response"


def is_address(text: str) -> bool:
    """Whether the text is an address rather than a SPEC."""
    return text.startswith(("http://", "https://"))


async def models_at(config: Config, text: str) -> list[DetectedModel]:
    """The models of the server at this address. Raises Misuse where no server answers there."""
    address = text.rstrip("/")
    models = await probe_address(address, config.environment, settings=config.models)
    if not models and not address.endswith("/v1"):
        models = await probe_address(f"{address}/v1", config.environment, settings=config.models)
    if not models:
        raise Misuse(
            "No model there",
            f"No model server responds at {address}.",
            "Check that it is running and the address is right. To use a model without a check: openai:NAME@ADDRESS.",
        )
    return models


async def model_states(
    config: Config, specs: Sequence[str], current: str
) -> tuple[dict[str, str], Sequence[DetectedModel]]:
    """What is known of each model, by spec (`it answers`), and all models of the server of the `current` one.

    Servers on this machine are asked, and that of the current model; no other.
    """
    servers = await _probed(specs, current, config)
    states = {spec: await _state(spec, servers, config.environment) for spec in specs}
    return states, servers.get(_address(current, config.environment), ())


async def _probed(specs: Sequence[str], current: str, config: Config) -> dict[str, list[DetectedModel]]:
    """The models of the servers of these specs, by address."""
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
        return "on this machine" if folder else "its folder does not exist"
    return _server_state(model, address_of(model, environment), servers)


def _server_state(model: ModelSpec, address: str, answers: Mapping[str, list[DetectedModel]]) -> str:
    if address not in answers:
        return f"on another machine ({address}), not checked"
    if not answers[address]:
        return f"{NO_ANSWER} from {address}"
    names = answers[address][0].names
    return ANSWERS if not names or model.name in names else f"{address} responds but does not list it"


def _parsed(spec: str) -> ModelSpec | None:
    try:
        return parse_spec(spec)
    except PalimpsestError:
        return None
