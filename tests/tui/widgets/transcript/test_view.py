"""The transcript follows at its end, stays where the person reads, and is drawn once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection

from tui.themes.own import DARK, LIGHT, THEMES
from tui.widgets.transcript import view as view_module
from tui.widgets.transcript.items import MutedLine, UserItem, markdown_items
from tui.widgets.transcript.view import Transcript

LONG = "\n\n".join(f"Paragraph {number}. " + "some words that wrap " * 12 for number in range(60))


class FakeHost(App[None]):
    CSS = "Transcript {scrollbar-gutter: stable; height: 1fr; overflow-x: hidden}"

    def __init__(self) -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK

        self.has_new_below: list[bool] = []  # whether there is more below

    def compose(self) -> ComposeResult:
        yield Transcript()

    def on_transcript_new_below_changed(self, message: Transcript.NewBelowChanged) -> None:
        self.has_new_below.append(message.has_new)


def host_of(pilot: Pilot[None]) -> FakeHost:
    return pilot.app


@asynccontextmanager
async def shown(size: tuple[int, int] = (60, 20)) -> AsyncIterator[tuple[Transcript, Pilot[None]]]:
    app = FakeHost()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app.query_one(Transcript), pilot


def top_line(view: Transcript) -> str:
    return next(text for y in range(5) if (text := view.render_line(y).text.strip()))


async def streamed(view: Transcript, pilot: Pilot[None], text: str) -> None:
    for at in range(0, len(text), 400):
        view.feed(text[at : at + 400])
        await asyncio.sleep(0.001)
    view.end_stream()
    await pilot.pause()


async def test_it_follows_an_answer_at_its_end() -> None:
    async with shown() as (view, pilot):
        await streamed(view, pilot, LONG)
        assert view.scroll_y == view.max_scroll_y > 0
        assert "wrap" in view.render_line(view.size.height - 1).text


async def test_it_stays_where_the_person_reads_and_says_that_there_is_more() -> None:
    async with shown() as (view, pilot):
        await streamed(view, pilot, LONG)
        view.scroll_to(y=10, animate=False)
        await pilot.pause()
        before = [view.render_line(y).text for y in range(20)]
        await streamed(view, pilot, LONG)
        assert [view.render_line(y).text for y in range(20)] == before
        assert host_of(pilot).has_new_below == [True]
        view.follow_end()
        await pilot.pause()
        assert view.is_following
        assert host_of(pilot).has_new_below == [True, False]


async def test_scrolling_back_to_the_end_follows_again() -> None:
    async with shown() as (view, pilot):
        await streamed(view, pilot, LONG)
        view.scroll_to(y=10, animate=False)
        await pilot.pause()
        assert not view.is_following
        view.scroll_to(y=view.max_scroll_y, animate=False)
        await pilot.pause()
        assert view.is_following


async def test_a_stream_ends_in_the_same_lines_as_the_whole_text() -> None:
    text = "# Title\n\n- a\n- b\n\n```python\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd [x]."
    async with shown() as (view, pilot):
        for character in text:
            view.feed(character)
        await pilot.pause(0.12)
        view.end_stream()
        once = [strip.text for number in range(view.line_cache.total) if (strip := view.line_cache.line(number))]
        view.clear()
        view.add(*markdown_items(text))
        whole = [strip.text for number in range(view.line_cache.total) if (strip := view.line_cache.line(number))]
        assert once == whole


async def test_finished_blocks_are_rendered_once() -> None:
    made: list[object] = []
    async with shown() as (view, _):
        render = view.line_cache.render

        def counted(piece: object) -> object:
            made.append(piece)
            return render(piece)

        view.line_cache.render = counted
        for paragraph in LONG.split("\n\n"):
            view.feed(paragraph + "\n\n")
            view.advance()
        assert len(made) <= 2 * 60 + 2


async def test_resizing_keeps_the_line_that_is_being_read() -> None:
    async with shown() as (view, pilot):
        view.add(*markdown_items(LONG))
        await pilot.pause()
        view.scroll_to(y=60, animate=False)
        await pilot.pause()
        index, _ = view.line_cache.locate(round(view.scroll_y))
        for width in (40, 100, 60):
            await pilot.resize_terminal(width, 20)
            await pilot.pause(0.3)
            assert view.line_cache.locate(round(view.scroll_y))[0] == index
        assert all(view.line_cache.is_rendered(at) for at in range(len(view)))


async def test_resizing_at_the_end_stays_at_the_end() -> None:
    async with shown() as (view, pilot):
        view.add(*markdown_items(LONG))
        await pilot.resize_terminal(33, 12)
        await pilot.pause(0.3)
        assert view.scroll_y == view.max_scroll_y
        assert "Paragraph 59" in "".join(view.render_line(y).text for y in range(12))


async def test_older_pieces_come_in_above_without_moving_the_view() -> None:
    async with shown() as (view, pilot):
        view.add(*markdown_items(LONG))
        view.scroll_to(y=0, animate=False)
        await pilot.pause()
        before = top_line(view)
        view.insert_older([UserItem("older"), *markdown_items(LONG)])
        await pilot.pause()
        assert top_line(view) == before


async def test_lines_far_above_are_let_go_and_made_again_when_seen() -> None:
    old, view_module.MAX_CACHED_LINES = view_module.MAX_CACHED_LINES, 400
    try:
        async with shown() as (view, pilot):
            for _ in range(6):
                view.add(*markdown_items(LONG))
            assert view.line_cache.rendered < 1_200
            view.scroll_to(y=0, animate=False)
            await pilot.pause()
            assert "Paragraph 0" in top_line(view)
    finally:
        view_module.MAX_CACHED_LINES = old


async def test_a_long_command_leaves_room_for_what_comes_of_it() -> None:
    command = MutedLine("/archive " + "a folder of many words/" * 8)
    async with shown((45, 6)) as (view, pilot):
        view.add(command, *markdown_items("The receipt.\n\n" + LONG))
        view.show_from(command)
        await pilot.pause()
        rows = [view.render_line(y).text for y in range(6)]
        assert "words/" in rows[1]
        assert "The receipt." in rows[3]
        assert not view.is_following
        view.add(MutedLine("later"))
        await pilot.pause()
        assert [view.render_line(y).text for y in range(6)] == rows


async def test_a_short_receipt_below_a_long_command_is_followed() -> None:
    command = MutedLine("/archive " + "a folder of many words/" * 8)
    async with shown((45, 6)) as (view, pilot):
        view.add(command, *markdown_items("The receipt."))
        view.show_from(command)
        await pilot.pause()
        assert any("The receipt." in view.render_line(y).text for y in range(6))
        assert view.is_following


async def test_a_short_command_is_seen_whole_above_what_comes_of_it() -> None:
    command = MutedLine("/help")
    async with shown() as (view, pilot):
        view.add(*markdown_items(LONG), command, *markdown_items(LONG))
        view.show_from(command)
        await pilot.pause()
        assert "/help" in view.render_line(0).text


async def test_selected_text_comes_without_marks_and_margins() -> None:
    async with shown((140, 20)) as (view, _):
        view.add(UserItem("锅炉 question"), *markdown_items("The answer\n\nsecond"))
        text = view.get_selection(Selection(None, None))
        assert text == ("锅炉 question\n\nThe answer\n\nsecond", "\n")
        line = next(n for n in range(9) if "question" in view.line_cache.line(n).text)
        start = view.left_margin + 2 + 3
        found = view.get_selection(Selection(Offset(start, line), Offset(start + 4, line)))
        assert found == ("ques", "\n")


async def test_another_theme_draws_everything_anew() -> None:
    async with shown() as (view, pilot):
        view.add(MutedLine("muted"))
        before = view.line_cache.line(0)
        pilot.app.theme = LIGHT
        await pilot.pause(0.1)
        assert view.line_cache.line(0) != before
