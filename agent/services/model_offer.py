"""Offers a model of a server on this machine, or of a service whose key is set, where none is configured."""

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from agent.session import Session
    from models.chat.detect import DetectedModel


class ModelOffer(Struct, frozen=True):
    """A model that was detected, and the sentence that offers it."""

    spec: str
    text: str


async def detect_model(session: "Session", key: str = "F2") -> ModelOffer | None:
    """Detects models once; None where a model is in use already, or none is available.

    `key` is what takes the offer; `{spec}` in it is the model.
    """
    if session.profile.spec != "offline":
        return None
    models = [model for model in await session.models() if model.spec != "offline"]
    if not models or session.profile.spec != "offline":
        return None
    first = models[0]
    others = f", /model lists all {len(models)} found" if len(models) > 1 else ""
    key = key.format(spec=first.spec)
    if not first.profile.remote:
        return ModelOffer(first.spec, f"{first.spec} is running on this machine. {key} switches to it{others}.")
    return ModelOffer(first.spec, _service_offer(session, first, f"{key} switches to {first.spec}{others}"))


def _service_offer(session: "Session", model: "DetectedModel", taken_by: str) -> str:
    """The offer of a service whose key is set: where text would go, and what it costs."""
    from agent.services.models_view import price_sentence
    from models.chat.spec import key_variable, parse_spec

    variable = key_variable(parse_spec(model.spec), session.config.environment)
    return (
        f"{variable or 'A key'} is set: {taken_by}. Your messages will then be sent to {model.address}. "
        f"{price_sentence(model.profile, session.config.models)} Until then nothing is sent."
    )
