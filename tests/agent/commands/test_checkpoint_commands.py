"""The commands /undo, /redo and /rewind on a real session."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.checkpoints.change import FileChange
from agent.commands import registry
from agent.commands.results import Choices, CommandFailed, Outcome, Proposal, SessionSwitched, TextResult
from agent.config.config import Config
from agent.config.workspaces import prepare_workspace
from agent.session import Session
from foundation.paths import Workspace


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Session]:
    environment = {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "user-config"), "PALIMPSEST_DETECT": "off"}
    prepare_workspace(workspace, environment)
    project = tmp_path / "project"
    project.mkdir()
    opened = Session.open(workspace, Config(environment=environment), project=(project,))
    yield opened
    await opened.close()


async def say(session: Session, text: str, **files: str) -> str:
    """Sends the message, then writes the files as a tool of its turn does; gives the message's id."""
    async for _ in session.send(text):
        pass
    for name, body in files.items():
        place = session.project.root / name
        expected = place.read_bytes() if place.exists() else None
        change = FileChange(folder=session.project.root, path=name, expected=expected, new=body.encode())
        session.checkpoints.apply([change], "e_result", label="write_file")
    return session.checkpoints.message


def files(session: Session) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(session.project.root.iterdir())}


def shown(outcome: Outcome) -> str:
    assert isinstance(outcome, TextResult), outcome
    return outcome.markdown


async def carry_out(outcome: Outcome) -> Outcome:
    assert isinstance(outcome, Proposal), outcome
    return await registry.carry_out(outcome, lambda _: None)


async def test_undo_shows_which_files_it_took_back_and_redo_makes_them_again(session: Session) -> None:
    await say(session, "first", notes="one\n")
    await say(session, "second", notes="one\ntwo\n", more="x\n")
    text = shown(await registry.run(session, "/undo"))
    assert "2 files restored" in text
    assert "`more` deleted, because it was made then" in text
    assert "`notes` +0 −1" in text
    assert files(session) == {"notes": "one\n"}
    assert "2 files restored" in shown(await registry.run(session, "/redo"))
    assert files(session) == {"more": "x\n", "notes": "one\ntwo\n"}
    for _ in range(2):
        shown(await registry.run(session, "/undo"))
    assert files(session) == {}
    assert "nothing to undo" in shown(await registry.run(session, "/undo"))


async def test_undo_asks_where_the_person_edited_in_between(session: Session) -> None:
    await say(session, "first", notes="one\n", more="x\n")
    (session.project.root / "notes").write_text("mine\n")
    proposal = await registry.run(session, "/undo")
    assert isinstance(proposal, Proposal)
    assert proposal.rows == (
        ("keep", "notes: stays as it is, it was made by a tool and changed since"),
        ("delete", "more: deleted, because it was made then"),
    )
    assert files(session) == {"more": "x\n", "notes": "mine\n"}, "nothing is done before the answer"
    assert "1 file left as edited" in shown(await carry_out(proposal))
    assert files(session) == {"notes": "mine\n"}


async def test_a_conflict_says_where_the_other_version_is(session: Session) -> None:
    await say(session, "first", notes="one\n")
    await say(session, "second", notes="two\n")
    (session.project.root / "notes").write_text("mine\n")
    text = shown(await carry_out(await registry.run(session, "/undo")))
    place = text.split("The version from before is `")[1].split("`")[0]
    assert Path(place).read_text() == "one\n"
    assert files(session) == {"notes": "mine\n"}


async def test_rewind_lists_the_messages_with_the_files_changed_since(session: Session) -> None:
    assert isinstance(await registry.run(session, "/rewind"), TextResult)
    first = await say(session, "first", notes="one\n")
    await say(session, "second", notes="two\n", more="x\n")
    await say(session, "third")
    choices = await registry.run(session, "/rewind")
    assert isinstance(choices, Choices)
    assert [(item.label, item.detail.partition(" · ")[2]) for item in choices.items] == [
        ("third", "no files changed since"),
        ("second", "2 files changed since"),
        ("first", "2 files changed since"),
    ]
    what = await registry.run(session, f"{choices.command} {first}")
    assert isinstance(what, Choices)
    assert [item.id for item in what.items] == ["both", "conversation", "files"]
    assert what.command == f"/rewind {first}"


async def test_rewind_restores_files_conversation_or_both(session: Session) -> None:
    await say(session, "first", notes="one\n")
    second = await say(session, "second", notes="two\n")
    third = await say(session, "third", more="x\n")
    outcome = await registry.run(session, f"/rewind {third} conversation")
    assert isinstance(outcome, SessionSwitched)
    assert outcome.prompt == "third"
    assert files(session) == {"more": "x\n", "notes": "two\n"}
    shown(await registry.run(session, f"/rewind {third} files"))
    assert files(session) == {"notes": "two\n"}
    assert [text for _, text in await session.branch.own_messages(9)] == ["second", "first"]
    outcome = await registry.run(session, f"/rewind {second} both")
    assert isinstance(outcome, SessionSwitched)
    assert (outcome.prompt, files(session)) == ("second", {"notes": "one\n"})
    assert [text for _, text in await session.branch.own_messages(9)] == ["first"]


async def test_rewind_takes_back_what_another_branch_changed_after_the_message(session: Session) -> None:
    first = await say(session, "first", notes="one\n")
    second = await say(session, "second", notes="two\n")
    await registry.run(session, f"/rewind {second} conversation")
    await say(session, "instead", more="x\n")
    await registry.run(session, f"/rewind {first} files")
    assert files(session) == {}


async def test_rewind_says_what_it_does_not_know(session: Session) -> None:
    first = await say(session, "first")
    assert isinstance(await registry.run(session, "/rewind e_nothing"), CommandFailed)
    assert isinstance(await registry.run(session, f"/rewind {first} all"), CommandFailed)
    assert "No file was changed" in shown(await registry.run(session, f"/rewind {first} files"))


async def test_undo_works_in_a_later_session(session: Session, workspace: Workspace) -> None:
    await say(session, "first", notes="one\n")
    project, config = session.project.root, session.config
    await session.close()
    later = Session.open(workspace, config, project=(project,))
    try:
        assert isinstance(await registry.run(later, "/undo"), CommandFailed)
        await later.resume_latest()
        shown(await registry.run(later, "/undo"))
        shown(await registry.run(later, "/redo"))
        shown(await registry.run(later, "/undo"))
        assert files(later) == {}
    finally:
        await later.close()


async def test_branch_and_rewind_are_commands_of_their_own(session: Session) -> None:
    assert registry.find("/rewind") is not registry.find("/branch")
    assert registry.find("/fork") is registry.find("/branch")
