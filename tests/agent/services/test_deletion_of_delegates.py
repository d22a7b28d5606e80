"""The conversations of delegated questions are deleted with the conversation that they were delegated in."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent.session import Session
from agent.turn import store as turn_store
from agent.turn.store import StoredTurn
from foundation.paths import Workspace
from memory.archive.lifecycle.deletion import ConversationDeleter
from memory.memory import Memory
from models.settings import ModelSettings
from tests.agent.conftest import Run
from tests.agent.sessions import calls, open_session, turn
from tests.hostile.canaries import Canaries
from tests.loopback import Loopback, chat

pytestmark = pytest.mark.timeout(60)

WORDS: dict[str, str] = dict.fromkeys(("zqferry", "zqharbour", "zqquestion"), "its words")


@pytest.fixture
def session(root: Path, tmp_path: Path, server: Loopback) -> Session:
    project = tmp_path / "project"
    project.mkdir()
    (project / "ferries.txt").write_text("The zqferry leaves at noon.\n" * 9)
    return open_session(
        Workspace(root), tmp_path, server, models=ModelSettings(window=16_000, retries=0), project=(project,)
    )


async def delegated(session: Session, server: Loopback, *, killed: bool = False) -> tuple[str, str]:
    """Two conversations, in each of which a question was delegated; killed: the first before its result is stored."""
    ids: list[str] = []
    for words in ("zqharbour", "the pier"):
        session.new()
        server.plays(
            calls("delegate", question=f"zqquestion: where is {words}?" if words == "zqharbour" else "Where is it?"),
            *([calls("read_file", path="ferries.txt")] if words == "zqharbour" else []),
            chat(f"It is at {words}, they say."),
            *([] if killed and words == "zqharbour" else [chat(f"At {words}, then.")]),
        )
        await turn(session, "Where?")
        assert session.conversation is not None
        ids.append(session.conversation.id)
    await session.close()
    return ids[0], ids[1]


def purposes(run: Run) -> list[str]:
    return [row["key"] for row in json.loads(run("--json", "stats").out)["spending"]["purposes"]]


def courses(root: Path) -> list[str]:
    memory = Memory.open(Workspace(root))
    try:
        memory.recover()
        return [conversation.title for conversation in memory.cold.conversations(kind="delegate")]
    finally:
        memory.close()


@pytest.mark.parametrize("how", ["answered", "killed", "by an earlier build"])
async def test_no_byte_of_a_delegated_question_stays(
    run: Run, root: Path, session: Session, server: Loopback, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    canaries = Canaries(0)
    canaries.doors.update(WORDS)
    if how == "killed":  # its answer is stored in its own conversation alone
        stored = StoredTurn.tool_result

        def breaks(turn: StoredTurn, call: Any, output: Any, *more: Any) -> Any:
            if "zqharbour" in str(output) and "its whole course" in str(output):
                raise OSError(5, "gone")
            return stored(turn, call, output, *more)

        monkeypatch.setattr(StoredTurn, "tool_result", breaks)
    if how == "by an earlier build":
        monkeypatch.setattr(turn_store, "DELEGATED_IN", "another")
    ours, other = await delegated(session, server, killed=how == "killed")
    assert "zqharbour" in run("search", "zqharbour").out
    said = run("conversations", "delete", "--yes", ours)
    assert (said.status, "may hold" in said.err) == (0, False), said.err
    assert canaries.found_in(root) == {}
    assert courses(root) == ["Delegated: Where is it?"], "that of the other conversation stays"
    assert "zqharbour" not in run("search", "zqharbour").out
    assert "delegate" in purposes(run)
    assert run("conversations", "delete", "--yes", other).status == 0
    assert purposes(run) == []
    assert courses(root) == []
    assert run("check").status == 0


async def test_a_deletion_that_is_cut_short_takes_the_delegated_questions_too(
    run: Run, root: Path, session: Session, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, _ = await delegated(session, server)
    ran: list[object] = []
    whole = ConversationDeleter.run_deletion

    def killed_after_one(deleter: ConversationDeleter, deletion: Any) -> Any:
        if ran:
            raise KeyboardInterrupt
        ran.append(deletion)
        return whole(deleter, deletion)

    with monkeypatch.context() as patched:
        patched.setattr(ConversationDeleter, "run_deletion", killed_after_one)
        run("conversations", "delete", "--yes", ours)
    assert ran
    assert courses(root) == ["Delegated: Where is it?"], "the next opening finishes it"
