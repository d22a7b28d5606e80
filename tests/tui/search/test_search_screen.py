"""The search on the screen: finding as one types, and looking around. The memory is real."""

import asyncio
import threading
import time
from typing import Any

import pytest
from msgspec import structs
from textual.widgets import Input, OptionList

import agent.services.live_search
from agent.session import Session
from foundation.privacy import clear
from memory.memory import Memory
from tests.tui.search.screen_state import BOILER, HARBOUR, answered, field, flat, searching, seen, talk
from tui.search.screen import SearchScreen

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


async def test_what_is_found_stands_with_title_who_day_trust_and_likelihood(open_chat: Any, session: Session) -> None:
    talk(session.memory, BOILER, HARBOUR)
    async with searching(open_chat, session, "boiler") as chat:
        await chat.until(lambda: "1 found" in seen(chat))
        assert "The boiler is serviced in May by Hansen." in seen(chat)
        assert "House · Ann · 2026-03-14 · exact · " in seen(chat)
        assert " %" in seen(chat)
        await chat.until(lambda: f"assistant: {HARBOUR}" in seen(chat))  # the turn after it


async def test_it_finds_as_one_types_and_lists_the_newest_before(open_chat: Any, session: Session) -> None:
    talk(session.memory, BOILER, HARBOUR)
    async with searching(open_chat, session) as chat:
        rows = chat.app.screen.rows
        assert [row.snippet for row in rows] == [HARBOUR, BOILER]
        await chat.type("boiler")
        await chat.until(lambda: len(chat.app.screen.rows) == 1)
        assert chat.app.screen.rows[0].snippet == BOILER


async def test_the_words_that_were_asked_for_are_marked(open_chat: Any, session: Session) -> None:
    talk(session.memory, BOILER)
    async with searching(open_chat, session, "boilers serviced") as chat:
        shown = chat.app.screen.query_one("#search-passage").content
        marked = [shown.plain[span.start : span.end] for span in shown.spans if "underline" in str(span.style)]
        assert marked == ["boiler", "serviced"]


async def test_of_what_is_typed_while_it_looks_only_the_last_is_looked_for(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(session.memory, BOILER, HARBOUR)
    asked: list[str] = []
    release = {text: threading.Event() for text in ("h", "boiler")}
    seek = agent.services.live_search.find_rows

    def slow(memory: Memory, text: str, *more: Any, **named: Any) -> Any:
        asked.append(text)
        if text:
            release[text].wait(20)
        return seek(memory, text.replace("h", "harbour"), *more, **named)

    monkeypatch.setattr("agent.services.live_search.find_rows", slow)
    async with searching(open_chat, session) as chat:
        await chat.type("h")
        await chat.until(lambda: "h" in asked)
        await chat.press("backspace")
        for letter in "boiler":
            async with asyncio.timeout(5):  # keys come while it looks
                await chat.press(letter)
            await asyncio.sleep(0.12)
        assert chat.app.screen.query_one(Input).value == "boiler"
        release["h"].set()
        await chat.until(lambda: "boiler" in asked)
        assert not chat.app.screen.is_up_to_date
        assert len(chat.app.screen.rows) == 2  # the answer to “h” came too late: what stood there stands
        release["boiler"].set()
        await answered(chat)
        assert asked == ["", "h", "boiler"]
        assert [row.snippet for row in chat.app.screen.rows] == [BOILER]


async def test_enter_while_it_looks_goes_to_the_best_when_it_is_there(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(session.memory, HARBOUR, BOILER)
    release = threading.Event()
    seek = agent.services.live_search.find_rows

    def slow(memory: Memory, text: str, *more: Any, **named: Any) -> Any:
        if text:
            release.wait(20)
        return seek(memory, text, *more, **named)

    monkeypatch.setattr("agent.services.live_search.find_rows", slow)
    async with searching(open_chat, session) as chat:
        await chat.type("harbour")
        await chat.press("enter")
        assert isinstance(chat.app.screen, SearchScreen)
        release.set()
        await chat.until(lambda: "▸ match: harbour" in chat.text)


async def test_while_the_index_is_built_it_finds_a_part_says_so_and_looks_again(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(session.memory, BOILER, "My boiler is green.", "A boiler of copper.")
    ready = threading.Event()
    seek = agent.services.live_search.find_rows

    def partly(*asked: Any, **named: Any) -> Any:
        found = seek(*asked, **named)
        return found if ready.is_set() else structs.replace(found, rows=found.rows[-2:], total=2, indexed=0.35)

    monkeypatch.setattr("agent.services.live_search.find_rows", partly)
    monkeypatch.setattr("tui.search.screen.INDEXING_RETRY_S", 0.05)
    async with searching(open_chat, session, "boiler") as chat:
        assert "2 found so far · 35 % of memory indexed" in seen(chat)
        await chat.press("down")
        chosen = chat.app.screen.selected.id
        ready.set()
        await chat.until(lambda: "3 found · " in seen(chat))
        assert chat.app.screen.selected.id == chosen
        assert len(chat.app.screen.rows) == 3


async def test_nothing_found_so_far_is_not_nothing(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    seek = agent.services.live_search.find_rows

    def empty(*asked: Any, **named: Any) -> Any:
        return structs.replace(seek(*asked, **named), rows=(), total=0, indexed=0.0)

    monkeypatch.setattr("agent.services.live_search.find_rows", empty)
    async with searching(open_chat, session, "boiler") as chat:
        assert "No results yet." in seen(chat)


async def test_filters_are_words_of_the_field(open_chat: Any, session: Session) -> None:
    talk(session.memory, BOILER)
    session.memory.hot.remember(clear("The boiler's valve is by the window."))
    async with searching(open_chat, session, "boiler") as chat:
        assert len(chat.app.screen.rows) == 2
        await field(chat, "kind:note boiler")
        assert [row.kind for row in chat.app.screen.rows] == ["memory"]
        await field(chat, "who:Ann boiler")
        assert [row.who for row in chat.app.screen.rows] == ["Ann"]
        await field(chat, "kind:nonsense boiler")
        assert "kind nonsense is not known. It can be message" in seen(chat)
        assert [row.who for row in chat.app.screen.rows] == ["Ann"]  # what stood there stands
        await field(chat, "boiler kind:")
        assert "kind: note, message" in seen(chat)
        assert len(chat.app.screen.rows) == 2


async def test_why_words_alone_were_looked_for_is_told(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(session.memory, BOILER)
    monkeypatch.setattr(session.memory.search.vectors, "trouble", "The embedder at 127.0.0.1:9 is not there.")
    async with searching(open_chat, session, "boiler") as chat:
        assert "The embedder at 127.0.0.1:9 is not there." in seen(chat)
        assert len(chat.app.screen.rows) == 1


async def test_nothing_found_says_what_may_help(open_chat: Any, session: Session) -> None:
    async with searching(open_chat, session) as chat:
        await field(chat, "kind:page")
        assert "No results with these filters." in seen(chat)
        await field(chat, "zeppelin")
        assert "No results for “zeppelin”. Another word" in seen(chat)
        await field(chat, '"zeppelin hangar"')
        assert "Without the quotes" in seen(chat)
        await field(chat, "zeppelin since:30d")
        assert "Try without the filters." in flat(chat)
        await chat.press("enter", "ctrl+y", "ctrl+o", "down", "ctrl+s")  # nothing to do it with
        assert isinstance(chat.app.screen, SearchScreen)


async def test_an_empty_memory_says_what_will_be_found(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in session.workspace.root.rglob("*.md"):
        path.write_text("")
    async with searching(open_chat, session) as chat:
        assert "No results yet." in seen(chat)


async def test_more_rows_come_as_one_goes_down_each_fetched_once(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(session.memory, *(f"The boiler's reading number {number} was {number * 37}." for number in range(100)))
    asked: list[int] = []
    seek = agent.services.live_search.find_rows

    def slow(memory: Memory, text: str, number: int = 1, **named: Any) -> Any:
        asked.append(number)
        time.sleep(1 if number == 2 else 0)
        return seek(memory, text, number, **named)

    monkeypatch.setattr("agent.services.live_search.find_rows", slow)
    async with searching(open_chat, session) as chat:
        screen = chat.app.screen
        assert len(screen.rows) == agent.services.live_search.ROWS
        for _ in range(6):
            await chat.press("pagedown", "up", "down", "up")
            await chat.until(lambda: not screen.is_fetching)
        await chat.press(*["pagedown"] * 6)
        assert len(screen.rows) >= 100
        assert screen.query_one(OptionList).option_count == len(screen.rows) == len(screen.spans)
        assert asked == sorted(set(asked))


async def test_a_defect_is_told_and_the_search_goes_on(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(session.memory, BOILER)

    def broken(*_: object, **__: object) -> None:
        raise ValueError("not this")

    async with searching(open_chat, session) as chat:
        with monkeypatch.context() as patched:
            patched.setattr("agent.services.live_search.find_rows", broken)
            await field(chat, "boiler")
            assert "ValueError: not this" in seen(chat)
        await field(chat, "boiler ")
        assert len(chat.app.screen.rows) == 1
        await chat.press("escape")
        assert chat.app.screen is chat.screen
