"""/branch and /rewind to messages from before a compaction, and from before and after its undo."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import SessionSwitched
from agent.events import UserStored
from agent.session import Session
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import asked, only, open_session, turn
from tests.loopback import Loopback, chat, varied

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


class BranchedTalk:
    """Six turns, of which the older ones were archived."""

    def __init__(self, session: Session, server: Loopback) -> None:
        self.session = session
        self.server = server
        self.questions: list[str] = []  # ids of the messages

    async def say(self, text: str) -> list[str]:
        """Sends it; what the model was sent."""
        self.questions.append(only(await turn(self.session, text), UserStored).entry)
        return [str(message["content"]) for message in asked(self.server)[-1].json["messages"]]

    async def go_back(self, command: str, question: int) -> None:
        rest = " conversation" if command == "rewind" else ""
        outcome = await registry.run(self.session, f"/{command} {self.questions[question]}{rest}")
        assert isinstance(outcome, SessionSwitched), outcome


@pytest.fixture
async def branched(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[BranchedTalk]:
    server.answers_all(lambda _: chat("Fine. " + varied("More of the garden. ", 80)))
    models = ModelSettings(window=20_000, tools=False, retries=0)
    session = open_session(workspace, tmp_path, server, models=models)
    held = BranchedTalk(session, server)
    for number in range(6):
        await held.say(f"Question {number}")
    assert await session.compaction.run() is not None
    yield held
    await session.close()


def questions_in(sent: list[str]) -> list[int]:
    return [n for n in range(10) if any(text.rstrip().endswith(f"Question {n}") for text in sent)]


def has_summary(sent: list[str]) -> bool:
    return any("palimpsest-summary" in text for text in sent)


@pytest.mark.parametrize("command", ["branch", "rewind"])
async def test_a_message_before_the_compaction_has_its_turns_whole(branched: BranchedTalk, command: str) -> None:
    await branched.go_back(command, 2)
    sent = await branched.say("Another way")
    assert questions_in(sent) == [0, 1] and not has_summary(sent)


@pytest.mark.parametrize("command", ["branch", "rewind"])
async def test_a_message_after_the_compaction_keeps_its_summary(branched: BranchedTalk, command: str) -> None:
    first = await branched.say("Question 6")
    await branched.say("Question 7")
    await branched.go_back(command, 7)
    sent = await branched.say("Another way")
    assert has_summary(sent) and sent[: len(first) - 1] == first[:-1] and 7 not in questions_in(sent)


@pytest.mark.parametrize("command", ["branch", "rewind"])
async def test_across_an_undo_both_sides_are_as_they_were(branched: BranchedTalk, command: str) -> None:
    await branched.say("Question 6")
    await branched.session.compaction.undo()
    whole = await branched.say("Question 7")
    assert questions_in(whole) == [0, 1, 2, 3, 4, 5, 6, 7] and not has_summary(whole)
    await branched.go_back(command, 7)  # after the undo: all turns are in view
    sent = await branched.say("Another way")
    assert questions_in(sent) == [0, 1, 2, 3, 4, 5, 6] and not has_summary(sent)
    await branched.go_back(command, 6)  # between the compaction and its undo: the summary stands
    assert has_summary(await branched.say("A third way"))
    await branched.go_back(command, 1)  # before both
    sent = await branched.say("A fourth way")
    assert questions_in(sent) == [0] and not has_summary(sent)
