"""Cleaning by consent: what would leave and what would stay is shown, and nothing happens before the person says so."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import CommandFailed, OpenNamedScreen, Proposal, TextResult
from agent.session import Session
from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.records import EntryDraft, EntryKind
from memory.upkeep.state import read_state
from models.messages import Role
from tests.agent.sessions import open_session
from tests.fakes import FakeClock
from tests.tui.conftest import Chat, Open
from tui.overview.clean_screen import CleanScreen
from tui.passages.text_screen import TextScreen

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

Make = Callable[[], Session]


@pytest.fixture
def make(workspace: Workspace, tmp_path: Path) -> Make:
    """A session in which two conversations were not touched for 40 days, and one is pinned."""

    def opened() -> Session:
        session = open_session(workspace, tmp_path)
        if not session.memory.conversations.recent():
            for title, label in (("Ferry ⛴ 渡轮", ""), ("Island", ""), ("Warranty 保修", "pinned")):
                labels = [as_given(label)] if label else []
                conversation = session.memory.conversations.new(as_given(title), labels=labels)
                draft = EntryDraft(
                    conversation=conversation.seq,
                    parent=None,
                    kind=EntryKind.MESSAGE,
                    role=Role.USER,
                    text=as_given(f"{title} leaves at nine. " * 50),
                )
                session.memory.conversations.append(draft)
        session.clock = FakeClock(datetime.now(UTC) + timedelta(days=40))
        return session

    return opened


def seen(chat: Chat) -> str:
    return "\n".join(chat.seen)


async def opened(chat: Chat) -> None:
    chat.screen.queue.add("/clean")
    await chat.until(lambda: isinstance(chat.app.screen, CleanScreen) and chat.app.screen.is_read)


async def test_what_would_leave_and_what_would_stay_is_listed_with_figures(make: Make, open_chat: Open) -> None:
    async with open_chat(session=make(), size=(80, 24)) as chat:
        await opened(chat)
        assert "2 to archive · 1 not archived · untouched for 30 days" in seen(chat)
        assert "Would be archived: " in seen(chat)
        assert "Warranty 保修 · pinned" in seen(chat)
        await chat.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, TextScreen) and "leaves at nine" in seen(chat))
        await chat.press("escape")
        await chat.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)
        assert chat.session.memory.vault.archives() == [], "nothing was done"


async def test_a_archives_them_says_so_and_undo_brings_them_back(make: Make, open_chat: Open) -> None:
    async with open_chat(session=make(), size=(120, 30)) as chat:
        await opened(chat)
        await chat.press("a")
        await chat.until(lambda: "2 conversations (2 entries) that nobody touched are on" in " ".join(chat.seen))
        assert len(chat.session.memory.vault.archives()) == 2
        chat.screen.queue.add("/clean --undo")
        await chat.until(lambda: "Undone: the text of 2 conversations" in " ".join(chat.seen))
        assert chat.session.memory.vault.archives() == []


async def test_n_leaves_one_alone_for_good_and_again_takes_that_back(make: Make, open_chat: Open) -> None:
    async with open_chat(session=make(), size=(80, 24)) as chat:
        await opened(chat)
        await chat.press("n")
        await chat.until(lambda: "1 to archive · 2 not archived" in seen(chat))
        await chat.press("n")
        await chat.until(lambda: "2 to archive · 1 not archived" in seen(chat))
        await chat.press("end", "n")
        await chat.until(lambda: "It is not archived anyway: pinned." in seen(chat))


async def test_l_proposes_nothing_for_a_month(make: Make, open_chat: Open) -> None:
    async with open_chat(session=make(), size=(80, 24)) as chat:
        await opened(chat)
        await chat.press("l")
        await chat.until(lambda: "No more reminders before" in seen(chat))
        assert read_state(chat.session.workspace).not_before_ms


async def test_a_face_without_screens_lists_it_and_takes_the_same_answers(make: Make) -> None:
    session = make()
    listed = await registry.run(session, "/clean")
    assert isinstance(listed, OpenNamedScreen)
    text = await listed.printed()
    assert isinstance(text, TextResult)
    assert "2 conversations with" in text.markdown
    assert "kept: Warranty 保修" in text.markdown
    kept = await registry.run(session, "/clean --never Island")
    assert isinstance(kept, TextResult)
    proposal = await registry.run(session, "/clean --yes")
    assert isinstance(proposal, Proposal)
    done = await registry.carry_out(proposal, lambda _: None)
    assert isinstance(done, TextResult)
    assert done.markdown.startswith("1 conversation (1 entry)")
    refused = await registry.run(session, "/clean everything")
    assert isinstance(refused, CommandFailed)
    await session.close()


async def test_a_conversation_that_was_touched_meanwhile_is_not_archived(make: Make) -> None:
    session = make()
    proposal = await registry.run(session, "/clean --yes")
    assert isinstance(proposal, Proposal)
    for conversation in session.memory.conversations.recent():
        draft = EntryDraft(
            conversation=conversation.seq,
            parent=conversation.leaf,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=as_given("again"),
            time=datetime.now(UTC) + timedelta(days=39),  # by another device, whose clock is a day late
        )
        session.memory.conversations.append(draft)
    done = await registry.carry_out(proposal, lambda _: None)
    assert isinstance(done, TextResult)
    assert "nothing left" in done.markdown
    assert session.memory.vault.archives() == []
    await session.close()


async def test_news_of_upkeep_is_shown_while_nobody_types(make: Make, open_chat: Open) -> None:
    session = make()
    session.jobs.news.put("Memory is near its budget. 记忆 🙂")
    async with open_chat(session=session, size=(80, 24)) as chat:
        await chat.until(lambda: "Memory is near its budget. 记忆 🙂" in seen(chat))
    assert read_state(session.workspace).unshown == ()
