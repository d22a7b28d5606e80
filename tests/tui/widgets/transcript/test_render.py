"""Markdown as lines: what stands where, and what a terminal must never be given."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from tests.examples import examples
from tui.widgets.transcript.block import MAX_END_LINES, BlockExcerpt, BlockText
from tui.widgets.transcript.block import MAX_LINES as MAX_BLOCK_LINES
from tui.widgets.transcript.code import code_lines
from tui.widgets.transcript.items import MAX_LINES, UserItem
from tui.widgets.transcript.markdown import block_lines
from tui.widgets.transcript.splitter import MarkdownSplitter
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.tables import fit_widths

LOOK = TranscriptStyles.of_theme({}, Style())


def rendered(text: str, width: int = 40) -> list[str]:
    splitter = MarkdownSplitter()
    blocks = [*splitter.feed(text), *splitter.close()]
    return [
        "".join(part.text for part in line).rstrip() for block in blocks for line in block_lines(block, width, LOOK)
    ]


def test_html_is_text() -> None:
    assert rendered("a List<String> and <b>bold</b>\n\n<div>x</div>") == [
        "a List<String> and <b>bold</b>",
        "",
        "<div>x</div>",
    ]


def test_an_address_is_shown_and_never_a_link() -> None:
    splitter = MarkdownSplitter()
    (block,) = [*splitter.feed("[click](https://e.org/x) and ![pic](http://e.org/p.png)"), *splitter.close()]
    lines = block_lines(block, 80, LOOK)
    assert "".join(part.text for part in lines[0]) == "click (https://e.org/x) and [image: pic] (http://e.org/p.png)"
    assert not [part for line in lines for part in line if part.style and (part.style.link or part.style.meta)]


def test_square_brackets_are_no_markup() -> None:
    assert rendered("[red]x[/] [@click=app.quit]y[/] [[[") == ["[red]x[/] [@click=app.quit]y[/] [[["]


def test_a_line_break_in_a_paragraph_stays() -> None:
    assert rendered("one\ntwo") == ["one", "two"]


def test_footnotes_definitions_of_links_and_what_nothing_defines_are_text() -> None:
    text = "The kiln[^1] and [its maker][n].\n\n[^1]: foot\n[^2]: 脚注\n\n[m]: https://e.org/x"
    assert rendered(text) == [
        "The kiln[^1] and [its maker][n].",
        "",
        "[^1]: foot",
        "[^2]: 脚注",
        "",
        "[m]: https://e.org/x",
    ]


def test_lists_nest_and_numbers_go_on() -> None:
    assert rendered("9. nine\n10. ten\n    - deep") == ["9.  nine", "10. ten", "    • deep"]


def test_tasks_have_boxes() -> None:
    tasks = "- [x] done 锅炉\n- [ ] **to do** 🍵\n"
    tasks += "  - [X] within, and a line that goes on below\n- [y] none\n- plain\n\n1. [ ] first"
    assert rendered(tasks) == [
        "☑ done 锅炉",
        "☐ to do 🍵",
        "  ☑ within, and a line that goes on",
        "    below",
        "• [y] none",
        "• plain",
        "",
        "1. ☐ first",
    ]
    assert rendered("[x] no item\n\n- [x]\n- `[x]` code") == ["[x] no item", "", "• [x]", "• [x] code"]


@pytest.mark.parametrize("width", [20, 80, 200])
@pytest.mark.parametrize("depth", [9, 14, 30, 60, 140])
def test_no_level_of_a_list_or_of_quotes_vanishes(depth: int, width: int) -> None:
    items = [f"stufe{number}深" for number in range(depth)]
    nested = "\n".join("  " * number + f"- {item}" for number, item in enumerate(items))
    quoted = "\n>\n".join("> " * (number + 1) + item for number, item in enumerate(items))
    for text in (nested, quoted):
        seen = re.sub(r"[\s▎>]", "", "".join(rendered(text, width)))
        assert [item for item in items if item not in seen] == []


def test_a_diff_has_the_colours_of_our_own_differences_on_the_ground_of_the_code() -> None:
    colours = {"error-ink": "#ff0000", "good-ink": "#00ff00", "accent-ink": "#0000ff", "panel": "#222222"}
    look = TranscriptStyles.of_theme(colours, Style(bgcolor="#000000"))
    lines = code_lines("@@ -1 +1 @@\n- old 旧\n+ new 🆕\n same", "diff", 40, look, labelled=True)
    seen = {part.text.strip(): part.style for line in lines for part in line if part.text.strip() and part.style}
    for text, style in (("- old 旧", look.error), ("+ new 🆕", look.good), ("@@ -1 +1 @@", look.accent)):
        assert seen[text].color == style.color
    assert {part.style.bgcolor for line in lines for part in line if part.style} == {look.panel.bgcolor}


@pytest.mark.parametrize("diff", ["- old 旧\n+ new 🆕", "+ new 🆕\n- old 旧", " same\n- old 旧\n+ new 🆕"])
def test_the_last_line_of_a_diff_has_its_colour(diff: str) -> None:
    colours = {"error-ink": "#ff0000", "good-ink": "#00ff00", "panel": "#222222"}
    look = TranscriptStyles.of_theme(colours, Style(bgcolor="#000000"))
    lines = code_lines(diff, "diff", 40, look, labelled=False)
    assert len(lines) == diff.count("\n") + 1
    seen = {part.text.strip(): part.style for line in lines for part in line if part.text.strip() and part.style}
    assert (seen["- old 旧"].color, seen["+ new 🆕"].color) == (look.error.color, look.good.color)


@pytest.mark.parametrize(("lines", "shown"), [(MAX_BLOCK_LINES + 4, MAX_BLOCK_LINES + 4), (200, MAX_BLOCK_LINES)])
def test_an_open_block_hides_no_few_lines(lines: int, shown: int) -> None:
    excerpt = BlockExcerpt.of(BlockText("\n".join(f"行 {number}" for number in range(lines)), "diff"))
    assert len(excerpt.text.split("\n")) == shown
    assert bool(excerpt.note) == (shown < lines)
    end = BlockExcerpt.end_of(BlockText("\n".join("x" for _ in range(MAX_END_LINES + 2))))
    assert len(end.text.split("\n")) == MAX_END_LINES + 2 and not end.note


def test_a_table_aligns_wide_characters() -> None:
    head, rule, first, second = rendered("| 名前 | n |\n|---|--:|\n| 锅炉 | 1 |\n| ab | 20 |")
    assert (head, rule, first, second) == ("名前   n", "────  ──", "锅炉   1", "ab    20")


def test_a_table_too_wide_is_narrowed_fairly() -> None:
    assert fit_widths([3, 50, 50], 47) == [3, 20, 20]


def test_a_table_with_too_many_columns_becomes_short_lists() -> None:
    names = " | ".join(f"c{number}" for number in range(12))
    wide = " | ".join(["a long value here"] * 12)
    lines = rendered(f"| {names} |\n|{'---|' * 12}\n| {wide} |", 40)
    assert lines[0] == "c0: a long value here"
    assert max(map(cell_len, lines)) <= 40


@pytest.mark.parametrize("source", ["    | a | b |\n    |---|---|\n    | 1 | 2 |", "|\n-|", "| a | b |\n|---|\n| 1 |"])
def test_what_only_looks_like_a_table_is_drawn(source: str) -> None:
    lines = rendered(source)
    assert "".join(lines).replace(" ", "") == source.replace("\n", "").replace(" ", "")


def test_a_list_below_a_table_is_not_lost() -> None:
    lines = rendered("| a | b |\n|---|---|\n| 1 | 2 |\n- item | rest\n")
    assert lines[-1] == "• item | rest"


@pytest.mark.parametrize("width", [12, 20, 79, 200])
def test_no_line_is_wider_than_it_may_be(width: int) -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    for line in rendered(f"{text}\n\n```python\n{text}\n```\n\n- {text[:500]}\n\n> {text[:800]}", width):
        assert cell_len(line) <= width


@given(st.text(max_size=300), st.integers(12, 100))
@settings(max_examples=examples(300), deadline=None)
def test_any_text_can_be_drawn(text: str, width: int) -> None:
    for line in rendered(text, width):
        assert cell_len(line) <= width
        assert "\x1b" not in line


def test_the_middle_of_a_long_message_is_folded_and_counted() -> None:
    def shown(text: str) -> str:
        rows = UserItem(text).lines(80, LOOK)
        return "\n".join("".join(part.text for part in row).strip() for row in rows)

    lines = [f"第{n}行 🔑" for n in range(5000)]
    folded = shown("\n".join(lines)).splitlines()
    assert folded[1:] == [f"❯ {lines[0]}", *lines[1:3], "… 4,994 of 5,000 lines folded …", *lines[-3:]]
    assert "folded" not in shown("\n".join(lines[:MAX_LINES]))
    assert "… 14,000 of 20,000 characters folded …" in shown("灯" * 20_000)
