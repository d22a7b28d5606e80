"""`/forget` in a session: the plan is asked for, and neither the conversation nor the next request has the words."""

from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.forget import without_quotes
from agent.commands.results import Cancelled, CommandFailed, Proposal, SessionSwitched, TextResult
from foundation.paths import Workspace
from foundation.privacy import clear, cleared_fields
from memory.forget.scan import ScanResult
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.agent.conftest import Run
from tests.agent.sessions import open_session, turn
from tests.loopback import Loopback, chat
from tests.memory.forget.bytes_of import places_of

pytestmark = pytest.mark.timeout(60)


async def test_the_next_request_has_none_of_the_words(workspace: Workspace, tmp_path: Path, server: Loopback) -> None:
    session = open_session(workspace, tmp_path, server)
    server.plays(chat("Noted: zqbluefin it is."), chat("Yes."), chat("I do not know."))
    await turn(session, "The code of the door is zqbluefin-7731.")
    await turn(session, "Thank you.")
    outcome = await registry.run(session, "/forget zqbluefin")
    assert isinstance(outcome, Proposal)
    assert any("The code of the door" in sentence for _, sentence in outcome.rows)
    assert places_of(workspace.root, ["zqbluefin"]), "nothing goes before it is confirmed"
    done = await registry.carry_out(outcome, lambda _: None)
    assert isinstance(done, SessionSwitched)
    assert "no occurrences left in Palimpsest's files" in done.notice
    await turn(session, "What was the code?")
    request = server.requests[-1].body.decode()
    assert "zqbluefin" not in request
    assert "[forgotten]" in request
    assert "Thank you." in request
    await session.close()
    assert places_of(workspace.root, ["zqbluefin"]) == {}


@pytest.mark.parametrize("steps", [0, 1, 4, 10])
async def test_stopped_half_way_it_says_so_and_goes_on_later(
    workspace: Workspace, tmp_path: Path, server: Loopback, run: Run, root: Path, steps: int
) -> None:
    session = open_session(Workspace(root), tmp_path, server)
    server.plays(chat("Noted: zqbluefin it is."), chat("I do not know."))
    await turn(session, "The code of the door is zqbluefin-7731.")
    outcome = await registry.run(session, "/forget zqbluefin")
    assert isinstance(outcome, Proposal)

    def stop(done: int) -> None:
        if done > steps:
            raise Cancelled("The forgetting")

    stopped = await registry.carry_out(outcome, stop)
    assert isinstance(stopped, CommandFailed)
    assert "Stopped halfway" in stopped.error.message
    assert "continues it" in stopped.error.hint
    await session.close()
    run("forget")
    assert places_of(root, ["zqbluefin"]) == {}


async def test_where_words_are_left_the_open_conversation_is_taken_anew_too(
    workspace: Workspace, tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_session(workspace, tmp_path, server)
    server.plays(chat("Noted: zqbluefin it is."), chat("Yes."), chat("I do not know."))
    await turn(session, "The code of the door is zqbluefin-7731.")
    await turn(session, "Thank you.")
    await registry.run(session, "/rename The zqbluefin of the door")
    outcome = await registry.run(session, "/forget zqbluefin")
    assert isinstance(outcome, Proposal)
    assert session.conversation is not None
    assert "zqbluefin" in session.conversation.title
    monkeypatch.setattr("memory.forget.job.scan_workspace", lambda _: ScanResult(1, 1, ("MEMORY.md",)))
    failed = await registry.carry_out(outcome, lambda _: None)
    assert isinstance(failed, CommandFailed)
    assert "still in MEMORY.md" in failed.error.message
    assert "zqbluefin" not in session.conversation.title
    await turn(session, "What was the code?")
    request = server.requests[-1].body.decode()
    assert ("zqbluefin" in request, "[forgotten]" in request, "Thank you." in request) == (False, True, True)
    await session.close()


async def test_where_words_are_left_a_forgotten_conversation_is_left_for_a_new_one(
    workspace: Workspace, tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_session(workspace, tmp_path, server)
    server.plays(chat("Noted: zqbluefin it is."), chat("I do not know."))
    await turn(session, "The code of the door is zqbluefin-7731.")
    assert session.conversation is not None
    forgotten = session.conversation.id
    outcome = await registry.run(session, f"/forget {forgotten}")
    assert isinstance(outcome, Proposal)
    monkeypatch.setattr("memory.forget.job.scan_workspace", lambda _: ScanResult(1, 1, ("MEMORY.md",)))
    assert isinstance(await registry.carry_out(outcome, lambda _: None), CommandFailed)
    await turn(session, "What was the code?")
    assert session.conversation is not None
    assert session.conversation.id != forgotten
    assert "zqbluefin" not in server.requests[-1].body.decode()
    await session.close()


async def test_an_imported_conversation_of_that_id_is_named_as_what_stays(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    session = open_session(workspace, tmp_path, server)
    server.plays(chat("Noted."))
    await turn(session, "That was zqday.")
    talk = session.memory.cold.new_conversation(source=clear("diary"), id=clear("zqday"))
    session.memory.cold.append(
        EntryDraft(conversation=talk.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=clear("Sunny."))
    )
    outcome = await registry.run(session, "/forget zqday")
    assert isinstance(outcome, Proposal)
    (stays,) = [sentence for what, sentence in outcome.rows if what == "stays" and "The conversation of" in sentence]
    assert "forget --conversation zqday" in stays and "has 1 entry" in stays
    await session.close()


async def test_a_conversation_of_one_message_has_1_entry(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    session = open_session(workspace, tmp_path, server)
    talk = session.memory.cold.new_conversation(source=clear("diary"))
    session.memory.cold.append(
        EntryDraft(conversation=talk.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=clear("Sunny."))
    )
    outcome = await registry.run(session, f"/forget {talk.id}")
    assert isinstance(outcome, Proposal)
    assert [text for what, text in outcome.rows if what == "goes" and text.endswith("”, 1 entry")], outcome.rows
    await session.close()


async def test_what_is_not_there_is_said(workspace: Workspace, tmp_path: Path, server: Loopback) -> None:
    session = open_session(workspace, tmp_path, server)
    refused = await registry.run(session, "/forget zqnowhere")
    assert isinstance(refused, CommandFailed)
    assert "nothing contains this text" in refused.error.message
    assert isinstance(await registry.run(session, "/forget"), CommandFailed)
    await session.close()


def test_without_a_screen_it_must_be_confirmed(run: Run, root: Path) -> None:
    run("-p", "the code is zqbluefin")
    assert run("-p", "/forget zqbluefin").status == 2
    assert places_of(root, ["zqbluefin"])
    assert run("-p", "/forget zqbluefin --yes").status == 0
    assert places_of(root, ["zqbluefin"]) == {}


async def test_undo_says_that_the_checkpoint_is_gone(workspace: Workspace, tmp_path: Path, server: Loopback) -> None:
    session = open_session(workspace, tmp_path, server)
    server.plays(chat("Written."))
    await turn(session, "Write zqbluefin into a file.")
    assert session.conversation is not None
    calls = [{"id": "1", "name": "write_file", "arguments": '{"path": "a.txt", "content": "zqbluefin"}'}]
    seq = session.conversation.seq
    call = EntryDraft(
        conversation=seq,
        parent=session.conversation.leaf,
        kind=EntryKind.MESSAGE,
        role=Role.ASSISTANT,
        text=clear(""),
        meta=cleared_fields({"tool_calls": calls}),
    )
    result = EntryDraft(
        conversation=seq,
        parent=session.memory.conversations.append(call).seq,
        kind=EntryKind.TOOL_RESULT,
        role=Role.TOOL,
        text=clear("Wrote a.txt."),
        meta=cleared_fields({"call_id": "1", "name": "write_file", "failed": False}),
    )
    session.memory.conversations.append(result)
    undone = await registry.run(session, "/undo")
    assert isinstance(undone, TextResult)
    assert "but the checkpoints no longer exist" in undone.markdown
    await session.close()


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ('"the blue door"', "the blue door"),
        ("'zqbluefin'", "zqbluefin"),
        ("“the blue door”", "the blue door"),
        ("「蓝色的门」", "蓝色的门"),
        ('"one" and "two"', '"one" and "two"'),
        ('5"', '5"'),
        ('""', '""'),
        ("don't", "don't"),
    ],
)
def test_one_pair_of_quotation_marks_around_the_words_is_no_part_of_them(typed: str, words: str) -> None:
    assert without_quotes(typed) == words
