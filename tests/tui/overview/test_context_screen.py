"""The context screen: layers, zones, parts, what was left out; exact texts; figures that agree with the status bar."""

from typing import Any
from unittest.mock import AsyncMock

from msgspec import structs

from agent.commands.tables import savings_sentences
from context.report import PageUsage, archive_of
from tests.tui.conftest import Chat, Open
from tests.tui.fakes import REPORT
from tui.overview.context_screen import ContextScreen
from tui.passages.text_screen import TextScreen


async def opened(chat: Chat) -> ContextScreen:
    chat.screen.queue.add("/context")
    await chat.until(lambda: isinstance(chat.app.screen, ContextScreen) and chat.app.screen.chosen)
    screen = chat.app.screen
    assert isinstance(screen, ContextScreen)
    return screen


async def test_layers_parts_and_what_was_left_out_are_listed_with_percents_of_the_window(open_chat: Open) -> None:
    async with open_chat(size=(80, 40)) as chat:
        await opened(chat)
        seen = "\n".join(chat.seen)
        assert "4,300/10,240 tokens, 42.0 %" in seen
        assert any("conversation" in line and "█" in line and "1,650   16.1 %" in line for line in chat.seen)
        assert any("A system.yaml +" in line for line in chat.seen)
        assert any("summary 1: over its share" in line for line in chat.seen)


async def test_a_tick_and_a_sentence_show_where_older_turns_leave(open_chat: Open, monkeypatch: Any) -> None:
    report = structs.replace(REPORT, compacts_at=5_120)
    async with open_chat(size=(200, 50)) as chat:
        monkeypatch.setattr(chat.session, "context_report", AsyncMock(return_value=report))
        screen = await opened(chat)
        row = next(line for line in chat.seen if "request · compacts at 50.0 %" in line)
        assert "4,300   42.0 %" in row
        bar = row[row.index("█") :]
        assert bar.index("│") == 15, "half of 30 cells"
        assert "Above 5,120 tokens" in (screen.chosen.detail if screen.chosen else "")


async def test_a_part_opens_to_its_exact_text_and_esc_leads_back(open_chat: Open) -> None:
    async with open_chat(size=(80, 40)) as chat:
        screen = await opened(chat)
        while "recalled 2" not in (screen.chosen.label if screen.chosen else ""):
            await chat.press("down")
        await chat.until(lambda: "it is search result 1 for the message, 61 %" in "".join(chat.seen))
        await chat.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, TextScreen))
        await chat.until(lambda: any("The boiler is serviced in May." in line for line in chat.seen))
        await chat.press("escape", "escape")
        await chat.until(lambda: chat.app.screen is chat.screen)


async def test_the_status_bar_shows_the_same_figures(open_chat: Open, monkeypatch: Any) -> None:
    report = structs.replace(REPORT, total_tokens=5_120)
    async with open_chat(size=(80, 40)) as chat:
        await chat.say("hello")
        await chat.quiet()
        monkeypatch.setattr(chat.session, "context_report", AsyncMock(return_value=report))
        await opened(chat)
        assert any("5,120/10,240 tokens, 50.0 %" in line for line in chat.seen)
        await chat.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)
        assert any("context 50.0 %" in line for line in chat.seen)


async def test_savings_of_pages_and_archive_are_told_apart(open_chat: Open, monkeypatch: Any) -> None:
    pages = PageUsage(3, 1_500, 4_100)
    report = structs.replace(REPORT, pages=pages, archive=archive_of(9_000, pages))
    async with open_chat(size=(80, 40)) as chat:
        monkeypatch.setattr(chat.session, "context_report", AsyncMock(return_value=report))
        screen = await opened(chat)
        labels = [row.label for row in screen.contents.rows]
        assert len(savings_sentences(report)) == 2
        assert set(savings_sentences(report)) <= set(labels)


async def test_figures_are_whole_beside_the_scrollbar(open_chat: Open) -> None:
    for size in ((80, 16), (120, 16), (200, 16)):
        async with open_chat(size=size) as chat:
            await opened(chat)
            assert any("610    6.0 %" in line for line in chat.seen), size
            assert not any("…" in line[-6:] for line in chat.seen if "%" in line and "Context" not in line), size
