"""A session that talks and is observed by a model until it is killed; a line on stdout for each stored message."""

import asyncio
import json
import sys
from pathlib import Path

from agent.background import model_observation_job
from agent.events import UserStored
from agent.session import Session
from foundation.paths import Workspace
from memory.model_requests import ModelRequests
from memory.settings import ObserveSettings
from tests.agent.observations.model_observer import LONG, MODELS
from tests.agent.sessions import open_session

MOST_MESSAGES = 1_000


def opened(folder: Path, address: str) -> Session:
    """A session of the workspace below `folder`, with offline answers and an observing model at `address`."""
    model_observation_job.ENOUGH = 1  # type: ignore[misc]  # as the fixture `hurried`: a request for each turn
    model_observation_job.QUIET_S = 0.01
    observe = ObserveSettings(model=f"openai:noter@{address}/v1", tokens_a_day=100_000_000)
    return open_session(Workspace(folder / "workspace"), folder, models=MODELS, observe=observe)


async def live(folder: Path, address: str, life: str) -> None:
    session = opened(folder, address)
    session.begin_background()  # what an earlier life left
    if session.conversation is None:
        await session.resume_latest()
    for number in range(MOST_MESSAGES):
        async for event in session.send(f"{life}x{number} is the run. {LONG}"):
            if isinstance(event, UserStored):
                print(json.dumps(event.entry), flush=True)
        await session.background.idle()


def main() -> None:
    folder, address, life, guard = Path(sys.argv[1]), *sys.argv[2:5]
    if guard == "unreserved":
        ModelRequests.reserve = lambda *_: 1  # type: ignore[method-assign, assignment]  # the guard switched off
    asyncio.run(live(folder, address, life))


if __name__ == "__main__":
    main()
