"""From the search on the screen to the place itself, into the prompt and back. The memory is real."""

import asyncio
from typing import Any

import pytest

from agent.session import Session
from context.checklist import Checklist, PlanStep, StepState
from foundation.privacy import as_given
from memory.memory import Memory
from tests.tui.fakes import REPORT, FakeSession, answer
from tests.tui.search.screen_state import BOILER, HARBOUR, field, searching, seen, talk
from tui.chat.controller import ChatController
from tui.chat.drafts import DELAY
from tui.chat.history_window import HistoryWindow
from tui.passages.screen import NoteScreen, PassageScreen
from tui.search.screen import SearchScreen

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


def first_seen(chat: Any) -> str:
    return next(line for line in chat.seen if line.strip())


async def test_enter_goes_to_the_place_even_far_up(open_chat: Any, session: Session) -> None:
    texts = [f"Remark number {number} about nothing." for number in range(400)]
    texts[90] = BOILER
    talk(session.memory, *texts)
    async with searching(open_chat, session, "boiler") as chat:
        await chat.press("enter")
        await chat.until(lambda: "▸ match: boiler" in chat.text)
        assert chat.app.screen is chat.screen
        assert session.conversation is not None
        assert session.conversation.title == "House"
        assert "Remark number 89" in seen(chat)
        assert "❯ The boiler is serviced" in seen(chat)
        assert "Remark number 399" not in chat.text
        assert "↓ more" in seen(chat)
        assert not chat.screen.transcript.is_following


async def test_from_a_place_one_scrolls_both_ways_and_returns_to_the_end(open_chat: Any, session: Session) -> None:
    texts = [f"Remark number {number} about nothing." for number in range(400)]
    texts[90] = BOILER
    talk(session.memory, *texts)
    async with searching(open_chat, session, "boiler") as chat:
        await chat.press("enter")
        await chat.until(lambda: "▸ match: boiler" in chat.text)
        assert "Remark number 79 " not in chat.text
        for _ in range(30):
            await chat.press("pageup")
        await chat.until(lambda: "Remark number 70 " in chat.text)
        for _ in range(60):
            await chat.press("pagedown")
            await chat.pilot.pause(0.02)
            if "Remark number 130 " in chat.text:
                break
        assert "Remark number 130 " in chat.text
        assert not chat.screen.transcript.is_following  # what came below did not take the view along
        numbers = [int(line.split("number ")[1].split()[0]) for line in chat.lines if "Remark number" in line]
        assert numbers == [n for n in range(numbers[0], numbers[-1] + 1) if n != 90]
        await chat.press("ctrl+end")
        await chat.until(lambda: "Remark number 399" in seen(chat))
        assert chat.screen.transcript.is_following
        assert "Remark number 130 " not in chat.text


async def test_a_message_from_a_place_is_said_at_the_end(open_chat: Any, session: Session) -> None:
    texts = [f"Remark number {number} about nothing." for number in range(100)]
    texts[10] = BOILER
    talk(session.memory, *texts)
    async with searching(open_chat, session, "boiler") as chat:
        await chat.press("enter")
        await chat.until(lambda: "▸ match" in chat.text)
        await chat.say("And then?")
        await chat.quiet()
        assert chat.lines.index("❯ And then?") > max(
            number for number, line in enumerate(chat.lines) if "Remark number 99" in line
        )


async def test_a_place_on_another_branch_is_shown_with_its_own_answers(open_chat: Any, session: Session) -> None:
    trunk = talk(session.memory, "One", "Two", "Three", "Four")
    into = trunk[0].conversation_seq
    talk(session.memory, BOILER, "Noted, on the old branch.", parent=trunk[1].seq, into=into)
    talk(session.memory, HARBOUR, "Noted, on the new one.", parent=trunk[1].seq, into=into)
    leaf = session.memory.cold.conversation_at(into).leaf
    async with searching(open_chat, session, "boiler") as chat:
        await chat.press("enter")
        await chat.until(lambda: "▸ match" in chat.text)
        assert "Noted, on the old branch." in chat.text
        assert "This is on another branch" in chat.text
        assert HARBOUR not in chat.text
        assert "Three" not in chat.text
        assert session.memory.cold.conversation_at(into).leaf == leaf  # looking changes nothing
        await chat.press("ctrl+end")
        await chat.until(lambda: HARBOUR in chat.text)
        assert BOILER not in chat.text


async def test_an_archived_place_is_read_back_from_its_page(open_chat: Any, session: Session) -> None:
    entries = talk(session.memory, *[f"{n}: nothing of note. " * 20 for n in range(30)], "The zeppelin lands at noon.")
    session.memory.vault.archive_entries(entries, label="House")
    assert session.memory.cold.entry(entries[30].seq).text is None
    async with searching(open_chat, session, "zeppelin") as chat:
        await chat.press("enter")
        await chat.until(lambda: "❯ The zeppelin lands at noon." in seen(chat))


async def test_a_note_is_shown_in_its_file_at_its_line(open_chat: Any, session: Session) -> None:
    with (session.workspace.root / "MEMORY.md").open("a", encoding="utf-8") as file:
        file.write(
            "\n" + "\n".join(f"- fact {number} 事实" for number in range(200)) + "\n\n## Boiler\n\nIt is green.\n"
        )
    async with searching(open_chat, session, "kind:note boiler green") as chat:
        await chat.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, NoteScreen) and "It is green." in seen(chat))
        assert "MEMORY.md · line" in seen(chat)
        assert any(line.strip().startswith("▸") and "It is green." in line for line in chat.seen)
        assert "fact 199" in seen(chat)
        assert "fact 3 " not in seen(chat)
        await chat.press("i")
        assert "MEMORY.md#L" in chat.screen.prompt.text


async def test_a_page_is_shown_as_recall_shows_it(open_chat: Any, session: Session) -> None:
    (page,) = session.memory.vault.archive_text(as_given(BOILER), label="A letter").pages
    async with searching(open_chat, session, "boiler") as chat:
        await chat.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, PassageScreen) and "read from its pixels" in seen(chat))
        assert page.id in seen(chat)


async def test_what_is_written_stays_with_its_conversation(open_chat: Any, session: Session) -> None:
    talk(session.memory, BOILER, title="House")
    talk(session.memory, HARBOUR, title="Harbour")
    await session.resume("Harbour")
    async with open_chat(session=session) as chat:
        await chat.insert("half a thought")
        await chat.press("f3")
        await chat.until(lambda: isinstance(chat.app.screen, SearchScreen))
        await field(chat, "boiler")
        await chat.press("enter")
        await chat.until(lambda: "▸ match" in chat.text and chat.screen.is_idle)
        assert chat.screen.prompt.text == ""
        await asyncio.sleep(0.6)  # what is kept a moment after the last key is kept by now
        await chat.say("/resume Harbour")
        await chat.until(lambda: chat.screen.prompt.text == "half a thought")


async def test_what_was_written_returns_by_a_command_however_long_the_way(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(session.memory, BOILER, title="House")
    talk(session.memory, HARBOUR, title="Harbour")
    show = ChatController.show_newest

    async def slow(controller: ChatController) -> None:
        await asyncio.sleep(DELAY + 0.3)  # the prompt, empty since Enter, is kept on the way
        await show(controller)

    monkeypatch.setattr(ChatController, "show_newest", slow)
    await session.resume("Harbour")
    async with open_chat(session=session) as chat:
        await chat.insert("half a thought")
        chat.screen.draft_keeper.stash()
        await session.resume("House")
        await chat.screen.draft_keeper.restore()
        await chat.say("/resume Harbour")
        await chat.until(lambda: chat.screen.prompt.text == "half a thought")


async def test_what_was_written_where_one_goes_returns_however_long_the_way(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(session.memory, BOILER, title="House")
    talk(session.memory, HARBOUR, title="Harbour")
    place = HistoryWindow.show_around

    async def slow(*given: Any, **named: Any) -> None:
        await asyncio.sleep(DELAY + 0.3)  # what is kept a moment after the last key comes due on the way
        await place(*given, **named)

    monkeypatch.setattr(HistoryWindow, "show_around", slow)
    await session.resume("House")
    async with open_chat(session=session) as chat:
        await chat.type("of the house")
        chat.screen.draft_keeper.stash()
        await session.resume("Harbour")
        await chat.screen.draft_keeper.restore()
        await chat.type("of the harbour")
        for word, text in (("boiler", "of the house"), ("harbour", "of the harbour")):
            await chat.press("f3")
            await chat.until(lambda: isinstance(chat.app.screen, SearchScreen))
            await field(chat, word)
            await chat.press("enter")
            await chat.until(lambda word=word: f"match: {word}" in chat.text and chat.screen.is_idle)
            assert chat.screen.prompt.text == text


async def test_the_draft_stays_where_one_goes_within_the_conversation(open_chat: Any, session: Session) -> None:
    talk(session.memory, BOILER, HARBOUR)
    await session.resume("House")
    async with open_chat(session=session) as chat:
        await chat.insert("half a thought")
        await chat.press("f3")
        await chat.until(lambda: isinstance(chat.app.screen, SearchScreen))
        await field(chat, "boiler")
        await chat.press("enter")
        await chat.until(lambda: "▸ match" in chat.text)
        assert chat.screen.prompt.text == "half a thought"


async def test_escape_leaves_the_draft_as_it_was(open_chat: Any, session: Session) -> None:
    talk(session.memory, BOILER)
    async with open_chat(session=session) as chat:
        await chat.type("half a")
        for key in ("ctrl+shift+f", "f3"):
            await chat.press(key)
            await chat.until(lambda: isinstance(chat.app.screen, SearchScreen))
            await chat.type("boiler")
            await chat.press("escape")
            await chat.until(lambda: chat.app.screen is chat.screen)
        await chat.type(" thought")
        assert chat.screen.prompt.text == "half a thought"


async def test_a_citation_goes_into_the_prompt_where_one_writes(open_chat: Any, session: Session) -> None:
    entry, _ = talk(session.memory, BOILER, HARBOUR)
    async with open_chat(session=session) as chat:
        await chat.insert("As said in ")
        await chat.press("f3")
        await chat.until(lambda: isinstance(chat.app.screen, SearchScreen))
        await field(chat, "boiler")
        await chat.press("ctrl+y")
        await chat.until(lambda: chat.app.screen is chat.screen)
        assert chat.screen.prompt.text == f"As said in [House · Ann · 2026-03-14 · {entry.id}] "


async def test_while_an_answer_comes_one_searches_but_goes_nowhere(open_chat: Any, memory: Memory) -> None:
    talk(memory, BOILER)
    hold = asyncio.Event()
    events = answer("The first words. And the rest.")
    fake = FakeSession(lambda _: [*events[:5], hold, *events[5:]])
    fake.memory = memory
    async with open_chat(session=fake, notifications=True) as chat:
        await chat.say("go")
        await chat.until(lambda: "The first" in chat.text)
        await chat.press("f3")
        await chat.until(lambda: isinstance(chat.app.screen, SearchScreen))
        await field(chat, "boiler")
        await chat.press("enter")
        await chat.pilot.pause(0.2)
        assert isinstance(chat.app.screen, SearchScreen)
        await chat.until(lambda: "An answer is in progress" in "\n".join(chat.seen))
        await chat.press("ctrl+y")
        assert "[House" in chat.screen.prompt.text
        hold.set()
        await chat.quiet()
        assert "◆ The first words. And the rest." in chat.lines


async def test_title_plan_and_figures_follow_to_the_other_conversation(open_chat: Any, session: Session) -> None:
    talk(session.memory, BOILER, title="House 房子 🏺")
    elsewhere = talk(session.memory, "Nothing here.", title="Elsewhere")
    session.switch_to(session.memory.conversations.find(elsewhere[0].conversation))
    async with searching(open_chat, session, "boiler", size=(200, 50)) as chat:
        chat.screen.controller.show_title()
        view = chat.screen._view  # noqa: SLF001 - the port that a turn writes to
        view.update_plan(Checklist((PlanStep("a step of elsewhere", StepState.DOING),)))
        view.show_report(REPORT)
        await chat.press("enter")
        await chat.until(lambda: "▸ match: boiler" in chat.text)
        await chat.quiet()
        assert "House 房子 🏺" in first_seen(chat)
        assert "a step of elsewhere" not in seen(chat)
        assert "42.0 %" not in seen(chat)
        assert f"Back to “Elsewhere”: /resume {elsewhere[0].conversation}" in chat.text
