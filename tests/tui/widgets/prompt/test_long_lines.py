"""A long line is wrapped and drawn as Textual does it, without the cost of the whole line at each key."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.document._document import Document
from textual.document._wrapped_document import WrappedDocument
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from tests.tui.conftest import Open
from tui.widgets.prompt import long_lines
from tui.widgets.prompt.long_lines import LineWrap, LongLineArea

TEXT = st.text(st.sampled_from("ab 锅\u0301👩‍🚀\t-"), max_size=90)
EDITS = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300), TEXT), max_size=8)


@given(TEXT, EDITS, st.integers(2, 12))
def test_a_line_is_wrapped_as_if_it_were_wrapped_anew(text: str, edits: list[tuple[int, int, str]], width: int) -> None:
    document = Document(text)
    wrapped = LineWrap(document, width, 4)
    for first, last, inserted in edits:
        length = len(document.get_line(0))
        begin, end = sorted((first % (length + 1), last % (length + 1)))
        result = document.replace_range((0, begin), (0, end), inserted)
        wrapped.wrap_range((0, begin), (0, end), result.end_location)
        anew = WrappedDocument(document, width, 4)
        assert wrapped.get_offsets(0) == anew.get_offsets(0)
        assert wrapped.get_sections(0) == anew.get_sections(0)
        assert wrapped.get_tab_widths(0) == anew.get_tab_widths(0)
        assert wrapped.height == anew.height


class OneArea(App[None]):
    def compose(self) -> ComposeResult:
        yield LongLineArea(soft_wrap=True, show_line_numbers=False, highlight_cursor_line=False)


@pytest.mark.parametrize(
    "text",
    [
        "(brackets) in (a line) of words " * 12,
        "锅炉什么时候保养 👩‍🚀" * 30,
        "solid" * 60 + " ",
        "one\ttab " * 40,
        "短\n" * 3,
    ],
    ids=["words", "Chinese", "one word", "tabs", "lines"],
)
async def test_each_row_is_drawn_as_textual_draws_it(text: str) -> None:
    app = OneArea()
    async with app.run_test(size=(41, 60)) as pilot:
        area = app.query_one(LongLineArea)
        area.cursor_blink = False
        area.text = text
        document = area.document
        assert isinstance(document, Document)
        area.focus()
        await pilot.pause()
        for start, end in [(0, 0), (10, 10), (9, 9), (30, 130), (130, 30), (len(text), len(text))]:
            area.selection = Selection(
                document.get_location_from_index(min(start, len(text))),
                document.get_location_from_index(min(end, len(text))),
            )
            await pilot.pause()
            for y in range(area.wrapped_document.height + 1):
                theirs = TextArea._render_line(area, y)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - what ours replaces
                ours = area._render_line(y)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - as above
                assert list(ours) == list(theirs)


async def test_a_key_does_not_wrap_the_whole_line(open_chat: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped: list[int] = []

    def counted(text: str, *asked: Any, **how: Any) -> list[int]:
        wrapped.append(len(text))
        return compute(text, *asked, **how)

    compute = long_lines.compute_wrap_offsets
    async with open_chat() as chat:
        await chat.insert("the quick brown fox " * 500)
        monkeypatch.setattr(long_lines, "compute_wrap_offsets", counted)
        monkeypatch.setattr("textual.document._wrapped_document.compute_wrap_offsets", counted)
        await chat.type("jumps over")
        assert max(wrapped) < 400
