"""Background checks while the chat is open: edited files of the workspace, and a local model for a new user."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from foundation.errors import PalimpsestError
from tui.widgets.transcript.items import MutedLine, notice_line
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:
    from agent.session import Session

PERIOD: Final = 1.0  # seconds between two checks; each is a few calls of stat


async def watch_files(session: "Session", is_idle: Callable[[], bool], transcript: Transcript) -> None:
    """Reports edited files until it is cancelled. Does nothing during a turn, which checks the files itself."""
    reported = ""  # the last error, shown once
    while True:
        await asyncio.sleep(PERIOD)
        if not is_idle():
            continue
        try:
            notices = await asyncio.to_thread(session.context.reload)
        except (PalimpsestError, OSError) as error:
            if str(error) != reported:
                reported = str(error)
                transcript.add(MutedLine(reported, tone="warning"))
            continue
        reported = ""
        if notices:
            transcript.add(*[notice_line(notice.level, str(notice)) for notice in notices])


class ModelOffer(Struct, frozen=True):
    """A local model that was detected, and the sentence that offers it."""

    spec: str
    text: str


async def detect_model(session: "Session") -> ModelOffer | None:
    """Detects models once; None where a model is in use already, or none is available."""
    if session.profile.spec != "offline":
        return None
    models = [model for model in await session.models() if model.spec != "offline"]
    if not models or session.profile.spec != "offline":
        return None
    first = models[0]
    location = "another machine" if first.profile.remote else "this machine"
    others = f", /model lists all {len(models)} found" if len(models) > 1 else ""
    return ModelOffer(first.spec, f"{first.spec} answers on {location}. F2 speaks to it{others}.")
