"""The slash commands on a real session: what they answer, and what they leave behind."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import (
    Cancelled,
    Choices,
    CommandFailed,
    Copy,
    OpenNamedScreen,
    OpenPicker,
    OpenSearch,
    Outcome,
    Proposal,
    SendMessage,
    SessionSwitched,
    TextResult,
)
from agent.session import Session
from foundation.paths import Workspace
from models.messages import Role
from tests.agent.conftest import Run
from tests.agent.sessions import open_session
from tests.loopback import Loopback


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path)
    yield opened
    await opened.close()


async def say(session: Session, text: str) -> None:
    async for _ in session.send(text):
        pass


def said(outcome: Outcome) -> str:
    assert isinstance(outcome, TextResult), outcome
    return outcome.markdown


async def printed(session: Session, line: str) -> Outcome:
    """What a command with a screen prints without one."""
    opened = await registry.run(session, line)
    assert isinstance(opened, OpenNamedScreen)
    return await opened.printed()


async def searched(session: Session, line: str) -> Outcome:
    """What a face without a screen prints."""
    found = await registry.run(session, line)
    assert isinstance(found, OpenSearch)
    return await found.printed()


async def test_what_is_remembered_is_found_and_recalled(session: Session) -> None:
    assert "MEMORY.md" in said(await registry.run(session, "/remember The cat is called Ada."))
    found = await searched(session, "/search cat")
    assert isinstance(found, Choices)
    opened = await registry.run(session, f"{found.command} {found.items[0].id}")
    assert isinstance(opened, OpenSearch)
    assert (opened.text, opened.whole) == (found.items[0].id, True)
    assert "Ada" in said(await opened.printed())
    assert "No results" in said(await searched(session, "/search zeppelin"))
    assert "No results" in said(await searched(session, "/search cat until:2020-01-01"))
    newest = await registry.run(session, "/recall")
    assert isinstance(newest, OpenSearch)
    assert newest.text == ""


async def test_conversations_are_begun_renamed_and_taken_up_again(session: Session) -> None:
    await say(session, "first words")
    first = session.conversation
    assert first is not None
    assert "Trip" in said(await registry.run(session, "/rename Trip"))
    assert isinstance(await registry.run(session, "/new Other things"), SessionSwitched)
    await say(session, "second words")
    assert session.conversation is not None
    assert session.conversation.title == "Other things"
    opened = await registry.run(session, "/resume")
    assert isinstance(opened, OpenPicker)
    listed = await opened.printed()
    assert isinstance(listed, Choices)
    assert [item.label for item in listed.items] == ["Other things", "Trip"]
    assert isinstance(await registry.run(session, f"/resume {first.id}"), SessionSwitched)
    assert session.conversation.id == first.id
    assert isinstance(await registry.run(session, "/resume nowhere"), CommandFailed)
    found = await registry.run(session, "/resume oth thing")  # words of a title
    assert isinstance(found, OpenPicker)
    assert found.query == "oth thing"


@pytest.mark.parametrize("name", ["n" * 300 + ".md", "missing/talk.md"])
async def test_an_export_that_cannot_be_written_says_so(session: Session, name: str) -> None:
    await say(session, "words to keep")
    failed = await registry.run(session, f"/export {name}")
    assert isinstance(failed, CommandFailed)
    assert failed.error.code != "internal"


async def test_a_conversation_is_exported_once_to_each_name(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "nothing" in said(await registry.run(session, "/export"))
    await say(session, "words to keep")
    assert "talk.md" in said(await registry.run(session, "/export talk.md"))
    assert "words to keep" in (tmp_path / "talk.md").read_text()
    assert isinstance(await registry.run(session, "/export talk.md"), CommandFailed)
    said(await registry.run(session, "/export talk.jsonl"))
    assert '"text": "words to keep"' in (tmp_path / "talk.jsonl").read_text()


async def test_a_file_is_archived_and_a_short_conversation_needs_none(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")  # a relative name begins where the person stands
    Path("letter.txt").write_text("Dear Ada, the boiler is fine.")
    pages: list[int] = []
    assert "pg_" in said(
        await registry.carry_out(sure(await registry.run(session, "/archive letter.txt")), pages.append)
    )
    assert pages == [0, 0, 1]  # looked over, drawn, proven
    await say(session, "hello")
    assert "would take as many" in said(await registry.run(session, "/archive"))
    assert isinstance(await registry.run(session, "/archive nowhere.txt"), CommandFailed)


async def test_archiving_says_first_what_it_will_do_and_does_that(session: Session) -> None:
    await talk_at_length(session)
    before = await session.branch.history(100)
    asked = await registry.run(session, "/archive Spring plans")
    assert isinstance(asked, Proposal)
    assert not asked.confirmed
    rows = dict(asked.rows)
    assert "older turns" in rows["leaves"]
    assert "page" in rows["becomes"]
    assert "newer turn" in rows["stays"]
    assert rows["label"] == "Spring plans"
    assert [entry.id for entry in await session.branch.history(100)] == [entry.id for entry in before]  # not done yet
    pages: list[int] = []
    told = said(await registry.carry_out(asked, pages.append))
    assert "Spring plans" in told
    assert pages[-1] == asked.pages
    (archive,) = session.memory.vault.archives()
    assert archive.pages == asked.pages
    assert f"{archive.text_tokens:,} tokens of their own text" in rows["leaves"]
    assert f"{archive.vision_tokens:,} vision tokens" in rows["becomes"]
    assert "read back and verified" in told
    assert f"{archive.text_tokens:,} tokens of text" in told
    assert [archive.label for archive in session.memory.vault.archives()] == ["Spring plans"]
    outlook = rows["request"]
    assert f"{outlook.partition(' ')[0]} →" in told  # before the same, afterwards no more than was said


async def test_a_cancelled_archive_lets_nothing_go(session: Session) -> None:
    await talk_at_length(session)
    asked = await registry.run(session, "/archive")
    assert isinstance(asked, Proposal)

    def cancel(_page: int) -> None:
        raise Cancelled("Archiving")

    outcome = await registry.carry_out(asked, cancel)
    assert isinstance(outcome, CommandFailed)
    assert outcome.error.code == "cancelled"
    assert session.memory.vault.archives() == []
    assert all(entry.text for entry in await session.branch.history(100))
    assert isinstance(await registry.run(session, "/archive"), Proposal)  # and it can be asked for again


@pytest.mark.parametrize("label", ["x" * 5000, "~nobody/there", "a\0b", "Trip to St. Ives", "v1.2"])
async def test_any_words_may_be_a_label(session: Session, label: str) -> None:
    outcome = await registry.run(session, f"/archive {label}")
    assert isinstance(outcome, CommandFailed)  # there is no conversation yet, and no file of that name is missed
    assert outcome.error.title == ("No such file" if "/" in label else "No conversation yet")


async def test_an_option_is_no_label(session: Session) -> None:
    await talk_at_length(session)
    for line in ("/archive --older-than 3y", "/archive --yes --dense", "/archive --nonsense"):
        outcome = await registry.run(session, line)
        assert isinstance(outcome, CommandFailed), outcome
        assert line.removeprefix("/archive ").removeprefix("--yes ").split()[0] in outcome.error.message
    assert "No archives yet" in said(await printed(session, "/archive --list"))
    said(await registry.carry_out(sure(await registry.run(session, "/archive Spring | plans --yes")), lambda _: None))
    (archive,) = session.memory.vault.archives()
    assert archive.label == "Spring | plans"
    listed = said(await printed(session, "/archive --list"))
    assert f"| {archive.text_tokens:,} | {archive.vision_tokens:,} | Spring \\| plans |" in listed


async def test_who_is_sure_is_not_asked(session: Session) -> None:
    await talk_at_length(session)
    assert sure(await registry.run(session, "/archive --yes")).pages


def sure(outcome: Outcome) -> Proposal:
    assert isinstance(outcome, Proposal), outcome
    assert outcome.confirmed
    return outcome


async def talk_at_length(session: Session) -> None:
    for number in range(6):
        await say(session, f"Bed {number}: " + "radishes in March, beans after the last frost, 四月种豆。 " * 20)


async def test_a_skill_is_listed_and_sent_with_a_message(session: Session) -> None:
    listed = await registry.run(session, "/skill")
    assert isinstance(listed, Choices)
    name = listed.items[0].id
    sent = await registry.run(session, f"/skill {name} these notes, please")
    assert sent == SendMessage("these notes, please", skill=name)
    unknown = await registry.run(session, "/skill none-such")
    assert isinstance(unknown, CommandFailed)
    assert name in unknown.error.hint


async def test_the_model_is_listed_and_changed(session: Session) -> None:
    listed = await printed(session, "/model")
    assert isinstance(listed, Choices)
    assert "in use" in listed.items[0].detail
    changed = await registry.run(session, "/model openai:x@http://127.0.0.1:9/v1")
    assert isinstance(changed, SessionSwitched)
    assert "nothing leaves this machine" in changed.notice
    assert isinstance(await registry.run(session, "/model nonsense"), CommandFailed)
    assert session.profile.name == "x"


async def test_the_window_is_told_once_its_server_was_asked(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    session = open_session(workspace, tmp_path, server)
    assert "window not known yet" in said(await registry.run(session, "/status"))
    await session.prepare_model()
    assert "window 8,192" in said(await registry.run(session, "/status"))
    await session.close()


async def test_the_context_and_the_status_are_told(session: Session) -> None:
    await say(session, "hello")
    shown = said(await registry.run(session, "/context what next?"))
    for layer in ("system", "project", "conversation", "message"):
        assert f"| {layer} |" in shown
    status = said(await registry.run(session, "/status"))
    assert "offline" in status and status.startswith("- workspace: ")
    assert (
        f"- project: `{session.project.root}`\n- mode: ask (reading is allowed; everything else needs confirmation)\n"
        in status
    )
    hit = await searched(session, "/search hello")
    assert isinstance(hit, Choices) and hit.items[0].detail.endswith(" · exact")


async def test_a_conversation_held_with_another_model_says_so(session: Session) -> None:
    await say(session, "hello")
    assert session.conversation is not None
    assert await session.restore_model() == ""
    await registry.run(session, "/model openai:x@http://127.0.0.1:9/v1")
    taken = await registry.run(session, f"/resume {session.conversation.id}")
    assert isinstance(taken, SessionSwitched)
    assert taken.notice.startswith("This conversation used offline; you are now using openai:x@")
    assert taken.notice.endswith("/model offline switches back.")


async def test_the_last_answer_is_copied_to_the_letter(session: Session) -> None:
    assert isinstance(await registry.run(session, "/copy"), TextResult)
    await say(session, "hello")
    copied = await registry.run(session, "/copy")
    assert isinstance(copied, Copy)
    assert copied.text == (await session.branch.answers(1))[0]


async def test_a_message_said_anew_begins_a_branch_and_the_old_course_stays(session: Session) -> None:
    await say(session, "The boat is blue.")
    await say(session, "The boat is called Thetis.")
    opened = await registry.run(session, "/branch")
    assert isinstance(opened, OpenPicker)
    listed = await opened.printed()
    assert isinstance(listed, Choices)
    assert [item.label for item in listed.items] == ["The boat is called Thetis.", "The boat is blue."]
    old = listed.items[0].id
    switched = await registry.run(session, f"/branch {old}")
    assert isinstance(switched, SessionSwitched)
    assert switched.prompt == "The boat is called Thetis."
    await say(session, "The boat is called Halcyon.")
    texts = [entry.text for entry in await session.branch.history() if entry.role is Role.USER]
    assert texts == ["The boat is blue.", "The boat is called Halcyon."]
    assert session.memory.cold.find(old).text == "The boat is called Thetis."
    await say(session, "What is the boat called?")
    assert session.report is not None
    sent = " ".join(message.text for message in session.report.messages)
    assert "The boat is blue." in sent
    assert "<palimpsest-recalled" in sent  # the other branch is out of view: memory, like any other talk


async def test_only_ones_own_messages_are_said_anew(session: Session) -> None:
    await say(session, "The boat is blue.")
    answer = (await session.branch.history())[-1]
    assert isinstance(await registry.run(session, f"/branch {answer.id}"), CommandFailed)
    assert isinstance(await registry.run(session, "/branch e_nowhere"), CommandFailed)


def test_the_list_of_commands_leaves_summaries_their_room_and_help_shows_a_usage_whole(run: Run) -> None:
    listed = run("-p", "/help").out
    assert "`/knowledge […]`" in listed
    assert all(len(line.split("|")[1].strip()) <= 32 for line in listed.splitlines() if line.startswith("| `"))
    assert "/knowledge [list | add PATH | importance PATTERN N]" in run("-p", "/help knowledge").out


async def test_rules_are_listed_and_added_as_on_the_command_line(session: Session) -> None:
    added = said(await registry.run(session, "/permissions add deny run_command(git push *)"))
    assert "deny run_command(git push *)" in added
    listed = said(await registry.run(session, "/permissions list"))
    assert "git push" in listed and listed == said(await printed(session, "/permissions"))
    assert isinstance(await registry.run(session, "/permissions add"), CommandFailed)


async def test_the_demonstration_of_the_readme_works_in_the_chat(session: Session) -> None:
    outcome = await registry.run(session, "/archive --demo")
    assert isinstance(outcome, TextResult)
    assert outcome.markdown.count("锅炉每年五月由汉森保养") == 2, "the text, and what was read back"
    assert "identical to the original" in outcome.markdown


def test_models_is_another_name_of_model() -> None:
    assert registry.find("/models") is registry.find("/model") is not None
