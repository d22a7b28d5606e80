"""A model on this machine, for someone whom none answers yet."""

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from agent.session import Session


class Offer(Struct, frozen=True):
    """A model that was found, and the line that tells of it."""

    spec: str
    told: str


async def model_offer(session: "Session") -> Offer | None:
    """Looks once; None where a model answers already, or where there is none to be found."""
    if session.profile.spec != "offline":
        return None
    found = [one for one in await session.models() if one.spec != "offline"]
    if not found or session.profile.spec != "offline":
        return None
    first = found[0]
    where = "another machine" if first.profile.remote else "this machine"
    rest = f", /model lists all {len(found)} found" if len(found) > 1 else ""
    return Offer(first.spec, f"{first.spec} answers on {where}. F2 speaks to it{rest}.")
