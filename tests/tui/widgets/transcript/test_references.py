"""A link by reference is shown with its URL, wherever in the answer its definition is."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.style import Style

from tests.examples import examples
from tests.tui.widgets.transcript.test_view import shown
from tui.widgets.transcript.items import AnswerStream, TranscriptItem, markdown_items
from tui.widgets.transcript.styles import TranscriptStyles

LOOK = TranscriptStyles.of_theme({}, Style())
LINES = ["See [the kiln][k] and [K].", "[k]: https://e.org/1", "[k]: https://e.org/2", "[s]: <a b>", "- an [item][s]"]
LINES += ["", "", "```", "| [a][k] | b |", "|---|---|", "> [s]", "word " * 30, "[^1]: foot", "[x]: javascript:alert(1)"]


def texts(items: list[TranscriptItem], width: int = 70) -> list[str]:
    rows = ["".join(part.text for part in line).strip() for item in items for line in item.lines(width, LOOK)]
    return [row.removeprefix("◆ ") for row in rows if row]


def lines_of(text: str) -> list[str]:
    return texts(markdown_items(text))


def test_a_definition_in_a_later_block_gives_the_link_its_url() -> None:
    text = "The kiln and [its maker][m], [M].\n\nMore.\n\n[m]: https://e.org/x 'Title'"
    assert lines_of(text) == [
        "The kiln and its maker (https://e.org/x), M (https://e.org/x).",
        "More.",
        "[m]: https://e.org/x 'Title'",
    ]


def test_a_definition_in_the_same_block_too() -> None:
    assert lines_of("- see [there][t]\n\n  [t]: https://e.org/t\n- and [there][T]") == [
        "• see there (https://e.org/t)",
        "[t]: https://e.org/t",
        "• and there (https://e.org/t)",
    ]


def test_of_two_definitions_the_first_holds() -> None:
    text = "[a][k]\n\n[k]: https://e.org/1\n\nMore.\n\n[K]: https://e.org/2\n\n[b][k]"
    assert [lines_of(text)[0], lines_of(text)[-1]] == ["a (https://e.org/1)", "b (https://e.org/1)"]


def test_in_tables_and_of_pictures() -> None:
    table = lines_of("| a |\n|---|\n| [c][m] |\n| ![pic][m] |\n\n[m]: https://e.org/x")
    assert table[-3:] == ["c (https://e.org/x)", "[image: pic] (https://e.org/x)", "[m]: https://e.org/x"]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "vbscript:x", "file:///etc/passwd", "data:text/html,x"])
def test_what_is_no_url_for_a_link_is_none_for_a_reference(url: str) -> None:
    assert lines_of(f"[here][h] and [here]({url})\n\n[h]: {url}")[0] == f"[here][h] and [here]({url})"


def test_code_footnotes_and_definitions_stay_text() -> None:
    text = (
        "A[^1], `[k]` and [q][q].\n\n[^1]: foot\n\n```\n[q]: https://in.code\n```\n\n[k]: https://e.org/k\n[l]: <x>\n"
    )
    assert lines_of(text) == [
        "A[^1], [k] and [q][q].",
        "[^1]: foot",
        "[q]: https://in.code",
        "[k]: https://e.org/k",
        "[l]: <x>",
    ]


def test_a_url_is_no_link_of_the_terminal() -> None:
    lines = [line for item in markdown_items("[a][b]\n\n[b]: https://e.org") for line in item.lines(60, LOOK)]
    assert not [part for line in lines for part in line if part.style and (part.style.link or part.style.meta)]


@given(st.lists(st.sampled_from(LINES), max_size=30).map("\n".join), st.lists(st.integers(0, 900), max_size=8))
@settings(max_examples=examples(200), deadline=None)
def test_a_stream_ends_as_the_whole_text_is_shown(text: str, cuts: list[int]) -> None:
    stream = AnswerStream()
    items: list[TranscriptItem] = []
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    for start, end in pairwise(places):
        stream.feed(text[start:end])
        finished, _ = stream.advance()
        items += finished
        _change(items, stream)
    items += stream.close()
    _change(items, stream)
    assert items == markdown_items(text)


def _change(items: list[TranscriptItem], stream: AnswerStream) -> None:
    for before, now in stream.take_changed():
        assert before != now, "nothing is drawn anew for nothing"
        (index,) = (number for number, item in enumerate(items) if item is before)
        items[index] = now


async def test_while_it_streams_the_earlier_block_is_shown_anew_once() -> None:
    async with shown() as (view, pilot):
        view.feed("See [the kiln][k].\n\n" + "Words.\n\n" * 5)
        view.advance()
        await pilot.pause()
        first = view.line_cache.items[0]
        assert "See [the kiln][k]." in view.render_line(1).text
        view.feed("[k]: https://e.o")
        view.advance()
        assert view.line_cache.items[0] is first, "the definition is not whole yet"
        view.feed("rg/k\n\nEnd\n")
        view.advance()
        await pilot.pause()
        linked = view.line_cache.items[0]
        assert "See the kiln (https://e.org/k)." in view.render_line(1).text
        view.feed("of it.\n\nAnd [again][k], [k].\n\n[k]: https://other\n\n")
        view.advance()
        assert view.line_cache.items[0] is linked
        view.end_stream()
        await pilot.pause()
        assert texts(list(view.line_cache.items))[-2:] == [
            "And again (https://e.org/k), k (https://e.org/k).",
            "[k]: https://other",
        ]


async def test_a_definition_at_the_end_changes_no_line_that_is_read() -> None:
    async with shown((60, 10)) as (view, pilot):
        view.feed("[" + "word " * 10 + "][k] before.\n\n" + "".join(f"Line {n}.\n\n" for n in range(30)))
        view.advance()
        await pilot.pause()
        view.scroll_to(y=20, animate=False, immediate=True)
        await pilot.pause()
        top = view.render_line(0).text
        view.feed("[k]: https://e.org/" + "long/" * 12)
        view.end_stream()
        await pilot.pause()
        assert len(view.line_cache.lines_of(0)) > 3
        assert view.render_line(0).text == top
