"""`/retry` and `models test` on a real server: what is said of the answer above, and of the speed."""

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import SendMessage
from agent.config.config import Config
from agent.services.model_check import check_model
from agent.session import Session
from foundation.paths import Workspace
from tests.agent.sessions import environment_of, open_session, turn
from tests.loopback import Loopback, Reply, chat, chat_bytes, json_reply, stream


class ChatServer(Loopback):
    def plays(self, *replies: Reply) -> None:
        script = iter(replies)
        unknown = json_reply({"error": {"message": "unknown"}}, status=404)
        self.answers_all(lambda asked: next(script) if asked.path.endswith("/chat/completions") else unknown)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as opened:
        yield opened


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path, server: ChatServer) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path, server)
    yield opened
    await opened.close()


async def test_retry_speaks_of_an_answer_above_only_where_there_is_one(session: Session, server: ChatServer) -> None:
    server.plays(json_reply({"error": {"message": "No 锅炉 🙂"}}, status=400), chat("In May."))
    await turn(session, "when?")
    failed = await registry.run(session, "/retry")
    assert isinstance(failed, SendMessage)
    assert failed.notice == "Resending the last message."
    async for _ in session.send(failed.text, again=True):
        pass
    answered = await registry.run(session, "/retry")
    assert isinstance(answered, SendMessage)
    assert answered.notice == "Resending the last message; the answer above is kept on its own branch."


@pytest.mark.parametrize(("pieces", "has_speed"), [(("ready",), False), (tuple("ready 好"), True)])
async def test_no_speed_is_named_by_an_answer_of_one_piece(
    tmp_path: Path, server: ChatServer, pieces: tuple[str, ...], has_speed: bool
) -> None:
    whole = re.sub(rb'"completion_tokens": ?\d+', b'"completion_tokens": 9', chat_bytes(*pieces))
    server.plays(stream(whole))
    checked = await check_model(Config(environment=environment_of(tmp_path)), f"openai:m@{server.address}/v1")
    assert ("tokens a second" in checked.sentence) == has_speed
