"""Offers a model of a server on this machine where none is configured."""

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from agent.session import Session


class ModelOffer(Struct, frozen=True):
    """A local model that was detected, and the sentence that offers it."""

    spec: str
    text: str


async def detect_model(session: "Session", how: str = "F2 speaks to it") -> ModelOffer | None:
    """Detects models once; None where a model is in use already, or none is available.

    `how` says what takes the offer; `{spec}` is the model.
    """
    if session.profile.spec != "offline":
        return None
    models = [model for model in await session.models() if model.spec != "offline"]
    if not models or session.profile.spec != "offline":
        return None
    first = models[0]
    location = "another machine" if first.profile.remote else "this machine"
    others = f", /model lists all {len(models)} found" if len(models) > 1 else ""
    return ModelOffer(first.spec, f"{first.spec} answers on {location}. {how.format(spec=first.spec)}{others}.")
