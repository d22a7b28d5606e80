"""What the search shows of a result. The memory is real."""

import asyncio
from typing import Any

import pytest
from msgspec import structs
from textual import events
from textual.widgets import Input

import agent.services.live_search
from agent.session import Session
from memory.errors import Damaged
from tests.tui.search.screen_state import BOILER, HARBOUR, answered, field, searching, seen, talk
from tui.passages.screen import PassageScreen
from tui.search.screen import SearchScreen

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


async def test_what_is_alike_and_what_is_superseded_is_shown_as_such(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, newer, twin = talk(session.memory, "The gate code is 1111.", "The gate code is 2222.", "Gate: 1111.")
    seek = agent.services.live_search.find_rows

    def told(*asked: Any, **named: Any) -> Any:
        found = seek(*asked, **named)
        rows = tuple(
            structs.replace(row, superseded_by=newer.id, duplicates=(twin.id, "e_gone")) if row.id == old.id else row
            for row in found.rows
        )
        return structs.replace(found, rows=tuple(row for row in rows if row.id == old.id))

    monkeypatch.setattr("agent.services.live_search.find_rows", told)
    async with searching(open_chat, session, "gate code", size=(160, 40)) as chat:
        await chat.until(lambda: "superseded on 2026-03-14 by" in seen(chat))
        assert "superseded · House · 2026-03-14 · exact" in seen(chat)
        assert "+2 alike" in seen(chat)
        assert "2 similar" in seen(chat)
        assert "The same is said in" in seen(chat)
        assert f"House · Ann · 2026-03-14 · {twin.id}" in seen(chat)
        assert "and 1 more" in seen(chat)


async def test_a_key_shows_what_a_score_is_made_of_and_the_choice_stays(open_chat: Any, session: Session) -> None:
    talk(session.memory, BOILER, "Hansen sells boilers.", "My boiler is green.")
    async with searching(open_chat, session, "boiler") as chat:
        await chat.press("down")
        chosen = chat.app.screen.selected.id
        await chat.press("ctrl+s")
        await answered(chat)
        row = chat.app.screen.selected
        assert row.id == chosen
        assert row.parts
        assert all(name in seen(chat) for name in row.parts)
        await chat.press("ctrl+s")
        await answered(chat)
        assert not chat.app.screen.selected.parts


async def test_nothing_foreign_reaches_the_terminal_as_it_is(open_chat: Any, session: Session) -> None:
    evil = "boiler \x1b]52;c;QUJD\x07 \x9b31m \u202e [@click=app.quit]x[/] [/red"
    talk(session.memory, evil, evil, title=f"T {evil}")
    async with searching(open_chat, session, "boiler", size=(140, 40)) as chat:
        await chat.until(lambda: "assistant:" in seen(chat))
        assert not {"\x1b", "\x9b", "\u202e", "\x00"} & set(seen(chat))
        assert "[@click=app.quit]x[/]" in seen(chat)


async def test_a_very_long_title_leaves_room_for_what_stands_beside_it(open_chat: Any, session: Session) -> None:
    talk(session.memory, BOILER, title="标题 and a long title 🙂 " * 400)
    async with searching(open_chat, session, "boiler") as chat:
        line = next(line for line in chat.seen if "2026-03-14 · exact" in line)
        assert "Ann · 2026-03-14 · exact · " in line
        assert line.rstrip().endswith("%")
        await chat.pilot.resize_terminal(60, 20)
        await chat.until(lambda: any(line.rstrip().endswith("%") and len(line) < 60 for line in chat.seen))


async def test_a_damaged_neighbour_is_named_and_the_passage_stands(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    _first, second = talk(session.memory, BOILER, HARBOUR)
    passage = session.memory.passage

    def damaged(entry: Any) -> Any:
        if entry.seq == second.seq:
            raise Damaged("A page is damaged", "Page pg_1 does not match.", "")
        return passage(entry)

    async with searching(open_chat, session) as chat:
        monkeypatch.setattr(session.memory, "passage", damaged)
        await field(chat, "boiler")
        await chat.until(lambda: "[lost: Page pg_1 does not match.]" in seen(chat))
        assert "May by Hansen" in seen(chat)


async def test_the_passage_is_opened_whole(open_chat: Any, session: Session) -> None:
    talk(session.memory, BOILER)
    async with searching(open_chat, session, "boiler") as chat:
        await chat.press("ctrl+o")
        await chat.until(lambda: "exact, as it was stored" in seen(chat))
        await chat.press("escape")
        assert isinstance(chat.app.screen, SearchScreen)
        await chat.press("tab", "o")
        await chat.until(lambda: isinstance(chat.app.screen, PassageScreen))


async def test_an_id_names_its_passage(open_chat: Any, session: Session) -> None:
    entry, _ = talk(session.memory, BOILER, HARBOUR)
    async with searching(open_chat, session, entry.id) as chat:
        assert [row.snippet for row in chat.app.screen.rows] == [BOILER]
        await field(chat, f"[House · Ann · 2026-03-14 · {entry.id}]")
        assert [row.id for row in chat.app.screen.rows] == [entry.id]
        await chat.press("enter")
        await chat.until(lambda: "▸ match" in chat.text)


async def test_a_click_shows_a_row_and_a_second_goes_there(open_chat: Any, session: Session) -> None:
    talk(session.memory, BOILER, "My boiler is green.", "A boiler of copper.")
    async with searching(open_chat, session, "boiler") as chat:
        other = chat.app.screen.rows[1]
        await chat.pilot.click("#choices", offset=(5, 2))
        assert isinstance(chat.app.screen, SearchScreen)
        assert chat.app.screen.selected == chat.app.screen.previewed == other
        await chat.pilot.click("#choices", offset=(5, 2))
        await chat.until(lambda: "▸ match" in chat.text)


async def test_what_is_pasted_comes_in_visible_and_on_one_line(open_chat: Any, session: Session) -> None:
    async with searching(open_chat, session) as chat:
        chat.app.screen.query_one(Input).post_message(events.Paste("the \x1b]52;c;QUJD\x07\nboiler\t\u202e"))
        await chat.until(lambda: "boiler" in chat.app.screen.query_text)
        assert chat.app.screen.query_text == "the ␛]52;c;QUJD␇ boiler ⟨U+202E⟩"


async def test_the_passage_stands_in_view_however_long_what_was_said_before_it(
    open_chat: Any, session: Session
) -> None:
    talk(session.memory, "Long talk of nothing. " * 60, "And an answer to it. " * 60, BOILER, "After it. " * 60)
    async with searching(open_chat, session, "boiler") as chat:
        await chat.until(lambda: chat.app.screen.selected.key in chat.app.screen.contexts)
        await chat.until(lambda: seen(chat).count("The boiler is serviced in May") == 2)
        assert "Ann:" in seen(chat)
        await chat.press("ctrl+up", "ctrl+up")
        await chat.until(lambda: "answer to it" in seen(chat))


async def test_of_a_long_passage_the_words_that_were_asked_for_stand_in_view(open_chat: Any, session: Session) -> None:
    talk(session.memory, "Nothing of note so far. " * 30 + "The zeppelin lands at noon.")
    async with searching(open_chat, session, "zeppelin") as chat:
        await chat.until(lambda: chat.app.screen.selected.key in chat.app.screen.contexts)
        await chat.until(lambda: seen(chat).count("zeppelin lands at noon") == 2)


async def test_an_arrow_draws_the_preview_once_and_only_of_the_row_where_it_stays(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(session.memory, BOILER, "My boiler is green. 绿色的锅炉", "A boiler of copper.", "No boiler at all.")
    async with searching(open_chat, session, "boiler") as chat:
        screen = chat.app.screen
        await chat.until(lambda: screen.contexts)
        drawn: list[str] = []
        draw = SearchScreen._draw  # noqa: SLF001 - what is counted
        monkeypatch.setattr(
            SearchScreen, "_draw", lambda on, row, context: drawn.append(row.key) or draw(on, row, context)
        )
        screen.action_move(1)  # two presses of an arrow before the event loop is free
        screen.action_move(1)
        chosen = screen.selected
        await chat.until(lambda: chosen.key in screen.contexts and drawn)
        assert drawn == [chosen.key]
        await chat.press("up", "down")
        await chat.until(lambda: drawn[-1] == chosen.key and len(drawn) >= 2)
        assert len(drawn) <= 3, "what was read before is drawn at once"


async def test_a_context_that_is_long_in_coming_is_not_waited_for(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(session.memory, BOILER, "My boiler is green.")
    release = asyncio.Event()
    async with searching(open_chat, session, "boiler") as chat:
        screen = chat.app.screen
        await chat.until(lambda: screen.contexts)
        read = screen._controller.context  # noqa: SLF001 - what is held up

        async def slow(row: Any) -> Any:
            await release.wait()
            return await read(row)

        monkeypatch.setattr(screen._controller, "context", slow)  # noqa: SLF001 - as above
        screen.contexts.clear()
        await chat.press("down")
        chosen = screen.selected
        shown = screen.query_one("#search-passage")
        await chat.until(lambda: chosen.snippet in shown.content.plain)
        assert chosen.key not in screen.contexts
        release.set()
        await chat.until(lambda: chosen.key in screen.contexts)
