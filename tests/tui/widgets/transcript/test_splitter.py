"""Markdown is cut into blocks that never change again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tui.widgets.transcript.splitter import (
    CODE_LINES,
    MAX_LINE_CHARS,
    TABLE_ROWS,
    BlockKind,
    MarkdownBlock,
    MarkdownSplitter,
)

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

LINES = [
    *("# Title", "words and **more**", "- item", "  - nested", "1. one", "   inside", "```python", "```", "~~~", ""),
    *("| a | b |", "|---|---|", "| 1 | 2 |", "> quote", "    indented", "中文 句子。", "x" * 50, "`"),
    *("\x1b[31m", "[x]"),
]
MARKDOWN = st.lists(st.sampled_from(LINES), max_size=60).map("\n".join)


def split(text: str, *cuts: int) -> list[MarkdownBlock]:
    splitter = MarkdownSplitter()
    found: list[MarkdownBlock] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        found += splitter.feed(text[start:end])
    return [*found, *splitter.close()]


@given(MARKDOWN, st.lists(st.integers(0, 400), max_size=6))
@settings(max_examples=examples(300), deadline=None)
def test_the_blocks_do_not_depend_on_how_the_text_arrived(text: str, cuts: list[int]) -> None:
    places = sorted({min(cut, len(text)) for cut in cuts})
    assert split(text, *places) == split(text)


@given(MARKDOWN)
@settings(max_examples=examples(200), deadline=None)
def test_no_word_is_lost(text: str) -> None:
    shown = "".join(block.header + block.source + block.language for block in split(text))
    for mark in ("words", "Title", "item", "nested", "inside", "quote", "中文", "[x]", "x" * 50):
        assert shown.count(mark) == text.count(mark)


@given(MARKDOWN)
@settings(max_examples=examples(100), deadline=None)
def test_looking_at_the_tail_changes_nothing(text: str) -> None:
    splitter = MarkdownSplitter()
    found: list[MarkdownBlock] = []
    for character in text:
        found += splitter.feed(character)
        splitter.open_blocks()
    assert [*found, *splitter.close()] == split(text)


def test_what_is_open_stays_small_in_a_fence_that_never_closes() -> None:
    splitter = MarkdownSplitter()
    splitter.feed("```python\n")
    for number in range(2_000):
        splitter.feed(f"    value_{number} = {number}\n")
        assert sum(block.source.count("\n") for block in splitter.open_blocks()) <= 4 * CODE_LINES


def test_code_is_cut_at_a_calm_line_so_that_colours_hold() -> None:
    lines = [
        "def f():",
        '    """A string',
        "",
        "    that goes on",
        '    """',
        *["    pass"] * 20,
        "",
        "def g():",
        "    pass",
    ]
    first, *_ = split("```python\n" + "\n".join(lines * 2))
    assert first.source.count('"""') % 2 == 0
    assert first.source.splitlines()[-1] in {"    pass", ""}


def test_a_long_table_is_cut_and_keeps_its_columns() -> None:
    rows = [f"| row {number} | {number} |" for number in range(3 * TABLE_ROWS)]
    blocks = split("| name | n |\n|---|--:|\n" + "\n".join(rows))
    assert [block.kind for block in blocks] == [BlockKind.TABLE] * 3
    assert blocks[0].opens
    assert not blocks[1].opens
    assert blocks[1].sample == blocks[0].source
    assert blocks[1].header == "| name | n |\n|---|--:|"


def test_a_paragraph_without_end_is_cut_at_a_sentence() -> None:
    splitter = MarkdownSplitter()
    for _ in range(1_000):
        splitter.feed("These are **some** words of a sentence. ")
        assert sum(len(block.source) for block in splitter.open_blocks()) <= MAX_LINE_CHARS + 40
    assert all(block.source.endswith((".", ". ")) for block in splitter.close())


def test_code_inside_a_list_keeps_its_place_and_the_list_goes_on() -> None:
    one, code, two = split("1. first\n\n   ```python\n   x = 1\n   ```\n2. second\n")
    assert (one.source, two.source) == ("1. first", "2. second")
    assert (code.kind, code.source, code.indent, code.language) == (BlockKind.CODE, "x = 1", 3, "python")


def test_foreign_escapes_are_visible_in_every_block() -> None:
    blocks = split("\x1b]52;c;AAAA\x07\n\n```\x1b[31m\n\x1b[2J\n```\n\n| \x9b | b |\n|---|---|\n| \x1b | 2 |")
    everything = "".join(block.source + block.header + block.language for block in blocks)
    assert not {"\x1b", "\x07", "\x9b"} & set(everything)
    assert "␛" in everything


def test_a_line_end_split_between_two_pieces_is_one_line_end() -> None:
    assert split("one\r\ntwo", 4) == split("one\ntwo")
