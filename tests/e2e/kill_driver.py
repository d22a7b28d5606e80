"""Talks in a workspace until it is killed. Run as a process: for each line on stdin it forks a child that talks.

A child's every line on stdout is JSON: {"pid"} first, then {"entry", "text"} for each message that the session said is
on disk. Forking from a process that has imported everything makes a life of 100 ms long enough to be interesting.
"""

import asyncio
import json
import os
import sys
import uuid
from pathlib import Path

from agent.config.config import Config
from agent.events import UserStored
from agent.session import Session
from foundation.paths import Workspace


async def talk(root: Path, *, too_early: bool) -> None:
    session = Session.open(Workspace(root), Config(model="offline"))
    await session.resume_latest()
    following = message()
    while True:
        text, following = following, message()
        if too_early:  # the control: a program that says “stored” of the message after this one
            say({"entry": "", "text": following})
        async for event in session.send(text):
            if isinstance(event, UserStored) and not too_early:
                say({"entry": event.entry, "text": text})


def message() -> str:
    return f"remember this: {uuid.uuid4()} " + "and much more besides, at length. " * 20


def say(value: object) -> None:
    os.write(1, json.dumps(value).encode() + b"\n")


def main() -> None:
    root = Path(sys.argv[1])
    say({"ready": True})
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            say({"pid": os.getpid()})
            asyncio.run(talk(root, too_early=sys.argv[2:] == ["too-early"]))
        _, status = os.waitpid(child, 0)
        say({"gone": child, "status": os.waitstatus_to_exitcode(status)})


if __name__ == "__main__":
    main()
