"""The commands /undo, /redo and /rewind on a real session."""

import errno
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.checkpoints.change import FileChange
from agent.commands import registry
from agent.commands.results import Choices, CommandFailed, Outcome, Proposal, SessionSwitched, TextResult
from agent.session import Session
from foundation.paths import Workspace
from tests.agent.sessions import open_session


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Session]:
    project = tmp_path / "project"
    project.mkdir()
    opened = open_session(workspace, tmp_path, project=(project,))
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
    assert "1 file restored, 1 deleted" in text
    assert "`more` deleted, because it was created then" in text
    assert "`notes` +0 −1" in text
    assert files(session) == {"notes": "one\n"}
    assert "2 files restored" in shown(await registry.run(session, "/redo"))
    assert files(session) == {"more": "x\n", "notes": "one\ntwo\n"}
    shown(await registry.run(session, "/undo"))
    shown(await carry_out(await registry.run(session, "/undo")))
    assert files(session) == {}
    assert "Nothing left to undo:" in shown(await registry.run(session, "/undo"))


async def test_undo_names_an_earlier_turn_and_asks(session: Session) -> None:
    await say(session, "Write the 茶 notes", notes="one\n")
    for text in ("thanks", "and now?"):
        await say(session, text)
    proposal = await registry.run(session, "/undo")
    assert isinstance(proposal, Proposal)
    assert proposal.title == "Undo the changes of an earlier turn"
    (name, which), *rows = proposal.rows
    assert name == "turn" and which.startswith("“Write the 茶 notes”, ") and "2 messages before your last one" in which
    assert rows == [("delete", "notes: deleted, because it was created then")]
    assert files(session) == {"notes": "one\n"}, "nothing is done before the answer"
    shown(await carry_out(proposal))
    assert files(session) == {}


async def test_undo_asks_where_the_person_edited_in_between(session: Session) -> None:
    await say(session, "first", notes="one\n", more="x\n")
    (session.project.root / "notes").write_text("mine\n")
    proposal = await registry.run(session, "/undo")
    assert isinstance(proposal, Proposal)
    assert proposal.rows == (
        ("keep", "notes: not restored, it was created by a tool and changed since"),
        ("delete", "more: deleted, because it was created then"),
    )
    assert files(session) == {"more": "x\n", "notes": "mine\n"}, "nothing is done before the answer"
    assert "1 file left as edited" in shown(await carry_out(proposal))
    assert files(session) == {"notes": "mine\n"}


async def test_a_conflict_says_where_the_other_version_is(session: Session) -> None:
    await say(session, "first", notes="one\n")
    await say(session, "second", notes="two\n")
    (session.project.root / "notes").write_text("mine\n")
    outcome = await registry.run(session, "/undo")
    text = shown(outcome)  # nothing is asked where no file can be restored
    assert isinstance(outcome, TextResult)
    assert (outcome.failed, outcome.counts) == (True, {"restored": 0, "merged": 0, "left": 1})
    assert "no file could be restored" in text
    place = text.split("The earlier version was saved as `")[1].split("`")[0]
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
        ("third", "no files changed after it"),
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


async def test_taking_a_rewind_of_both_back_restores_the_files_too(session: Session) -> None:
    await say(session, "first", notes="one\n")
    second = await say(session, "second", notes="two\n", more="x\n")
    outcome = await registry.run(session, f"/rewind {second} both")
    assert isinstance(outcome, SessionSwitched) and "including the files" in outcome.notice
    assert files(session) == {"notes": "one\n"}
    outcome = await registry.run(session, "/branch back")
    assert isinstance(outcome, SessionSwitched) and outcome.branch
    assert outcome.notice.endswith("2 files are restored to before the rewind.")
    assert files(session) == {"more": "x\n", "notes": "two\n"}
    assert [text for _, text in await session.branch.own_messages(9)] == ["second", "first"]
    outcome = await registry.run(session, f"/rewind {second} conversation")
    assert isinstance(outcome, SessionSwitched) and "Esc" not in outcome.notice
    outcome = await registry.run(session, "/branch back")
    assert isinstance(outcome, SessionSwitched) and "rewind" not in outcome.notice
    assert files(session) == {"more": "x\n", "notes": "two\n"}


async def test_files_that_were_edited_since_the_rewind_stay(session: Session) -> None:
    await say(session, "first", notes="one\n")
    second = await say(session, "second", notes="two\n")
    await registry.run(session, f"/rewind {second} both")
    (session.project.root / "notes").write_text("mine\n")
    outcome = await registry.run(session, "/branch back")
    assert isinstance(outcome, SessionSwitched) and "The files were not restored," in outcome.notice
    assert files(session) == {"notes": "mine\n"}


async def test_a_rewind_that_was_redone_by_hand_is_not_redone_again(session: Session) -> None:
    await say(session, "first", notes="one\n")
    second = await say(session, "second", notes="two\n")
    await registry.run(session, f"/rewind {second} both")
    await registry.run(session, "/redo")
    await carry_out(await registry.run(session, "/undo"))  # which is a newer reversal
    outcome = await registry.run(session, "/branch back")
    assert isinstance(outcome, SessionSwitched) and "The files stay" in outcome.notice
    assert files(session) == {"notes": "one\n"}


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


async def test_files_of_the_same_name_in_two_folders_are_told_apart(workspace: Workspace, tmp_path: Path) -> None:
    folders = (tmp_path / "project", tmp_path / "second")
    for folder in folders:
        folder.mkdir(exist_ok=True)
    session = open_session(workspace, tmp_path, project=folders)
    try:
        await say(session, "first")
        changes = [FileChange(folder=folder, path="notes", expected=None, new=b"1\n") for folder in folders]
        session.checkpoints.apply(changes, "e_result", label="write_file")
        text = shown(await registry.run(session, "/undo"))
        assert all(f"`{folder / 'notes'}` deleted" in text for folder in folders)
    finally:
        await session.close()


def damage_journal(session: Session, line: int) -> None:
    journal = session.checkpoints.folder / "journal.jsonl"
    lines = journal.read_bytes().split(b"\n")
    lines[line] = lines[line].replace(b"path", b"pbth").replace(b"end", b"enf")
    journal.write_bytes(b"\n".join(lines))


@pytest.mark.parametrize("line", [2, 3])
async def test_no_older_turn_is_taken_back_where_a_line_of_the_journal_cannot_be_read(
    session: Session, line: int
) -> None:
    first = await say(session, "first", notes="one\n")
    second = await say(session, "second", more="x\n")
    damage_journal(session, line)
    for command in ("/undo", "/redo", f"/rewind {first} files", f"/rewind {first} both", f"/rewind {second} files"):
        outcome = await registry.run(session, command)
        assert isinstance(outcome, CommandFailed), command
        assert "1 line of the checkpoint journal cannot be read" in outcome.error.message
    assert files(session) == {"more": "x\n", "notes": "one\n"}
    listed = await registry.run(session, "/rewind")
    assert isinstance(listed, Choices)
    assert "cannot be read" in listed.notes[0]
    offered = await registry.run(session, f"/rewind {first}")
    assert isinstance(offered, Choices)
    assert ([item.id for item in offered.items], "cannot be read" in offered.notes[0]) == (["conversation"], True)
    await say(session, "third", third="3\n")
    proposal = await registry.run(session, "/undo")
    assert isinstance(proposal, Proposal)
    assert "changes may be missing here" in dict(proposal.rows)["journal"]
    text = shown(await carry_out(proposal))
    assert "1 file deleted" in text
    assert "changes may be missing here" in text
    assert files(session) == {"more": "x\n", "notes": "one\n"}


async def test_undo_says_that_versions_without_a_journal_are_there(session: Session) -> None:
    await say(session, "first", notes="one\n")
    (session.checkpoints.folder / "journal.jsonl").unlink()
    assert "has no journal" in shown(await registry.run(session, "/undo"))
    (session.checkpoints.folder / "journal.jsonl").write_bytes(b"\0\xff garbage")
    assert isinstance(await registry.run(session, "/undo"), CommandFailed)


async def test_undo_goes_on_after_a_turn_of_which_nothing_can_be_restored(session: Session) -> None:
    await say(session, "first", notes="one\n")
    await say(session, "second", more="x\n")
    (session.project.root / "more").write_text("mine\n")
    assert "count as taken back" in shown(await registry.run(session, "/undo"))
    outcome = await carry_out(await registry.run(session, "/undo"))
    assert "1 file deleted" in shown(outcome)
    assert isinstance(outcome, TextResult)
    assert (outcome.failed, outcome.counts) == (False, {"restored": 1, "merged": 0, "left": 0})
    assert files(session) == {"more": "mine\n"}
    assert "Nothing left to undo:" in shown(await registry.run(session, "/undo"))


async def test_a_version_that_could_not_be_kept_is_named_in_the_checkpoint(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_full(*_: object) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    await say(session, "first", notes="one\n")
    await say(session, "second", notes="two\n", more="x\n")
    (session.project.root / "notes").write_text("mine\n")
    monkeypatch.setattr("agent.checkpoints.restore.keep_beside", is_full)
    text = shown(await carry_out(await registry.run(session, "/undo")))
    assert "1 file deleted, 1 file left as edited" in text
    assert "could not be saved next to it (No space left on device)" in text
    assert (session.checkpoints.folder / text.split("the zstd file `")[1].split("`")[0]).is_file()


async def test_a_rewind_of_both_is_told_without_markdown_and_a_backtick_does_not_end_a_name(session: Session) -> None:
    await say(session, "first")
    second = await say(session, "second", **{"no`tes": "one\n"})
    assert "`` no`tes `` deleted" in shown(await registry.run(session, "/undo"))
    shown(await registry.run(session, "/redo"))
    outcome = await registry.run(session, f"/rewind {second} both")
    assert isinstance(outcome, SessionSwitched)
    assert "- no`tes deleted, because it was created then" in outcome.notice


async def test_undo_of_a_new_file_says_that_it_is_deleted(session: Session) -> None:
    await say(session, "first", **{"新.py": "x\n", "out.py": "y\n"})
    text = shown(await registry.run(session, "/undo"))
    assert "2 files deleted" in text and "restored" not in text
