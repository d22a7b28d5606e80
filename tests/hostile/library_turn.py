"""One turn through the library in a process of its own: `python -m tests.hostile.library_turn ROOM MODEL ANSWER_MB`."""

import asyncio
import json
import sys
from pathlib import Path

from agent.config.config import Config
from agent.events import TextDelta, TurnFailed
from agent.session import Session
from foundation.paths import Workspace
from models.limits import StreamLimits
from models.settings import ModelSettings


async def turn(room: Path, model: str, answer_mb: float) -> dict[str, object]:
    """How many characters were given out, and what the turn ended with."""
    limits = StreamLimits(answer_mb=answer_mb)
    session = Session.open(Workspace(room), Config(model=model, models=ModelSettings(limits=limits)))
    characters, ended = 0, ""
    async for event in session.send("Repeat it."):
        if isinstance(event, TextDelta):
            characters += len(event.text)
        elif isinstance(event, TurnFailed):
            ended = event.message
    await session.close()
    return {"characters": characters, "ended": ended}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(turn(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])))))
