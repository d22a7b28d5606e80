"""Head lines: who spoke, when, under which id; read back as written, never taken from a text that looks like one."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from foundation.trust import Trust
from memory.pages.read.exact import PageReading, read_exact
from memory.pages.render.entry_heads import LONGEST_FIELD, EntryHead, head_line, read_head_line
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import DENSE_MODES, MODES, Mode
from memory.pages.render.page import PageSheet, page_sheets, render_page
from tests.examples import examples

ID = "pg_0123456789ab"
TIME = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)
ANN = EntryHead("e_4kx7m2p0q9ab", "Ann", "user", TIME)
TINIES = (MODES["tiny"], DENSE_MODES["tiny"])

fields = st.text(st.characters(codec=None, categories=None), max_size=LONGEST_FIELD)
times = st.none() | st.datetimes(datetime(1970, 1, 1), timezones=st.just(UTC)).map(lambda t: t.replace(microsecond=0))
roles = st.sampled_from(["user", "assistant", "tool", "system"])
heads = st.builds(EntryHead, fields, fields, roles, times)
texts = st.text(
    st.sampled_from("ab 字🦊\n\n\r\ue000\ud800␛↵─·\\") | st.characters(codec=None, categories=None), max_size=900
)


def drawn(stretches: list[LayoutText], mode: Mode) -> list[tuple[PageSheet, PageReading]]:
    pages = list(page_sheets(stretches, mode))
    return [(sheet, read_exact(render_page(sheet, ID, number).png)) for number, sheet in enumerate(pages, 1)]


def test_a_head_line_says_who_when_and_which() -> None:
    assert head_line(ANN) == "── Ann · user · 2026-03-14T09:26:53Z · e_4kx7m2p0q9ab ──\n"
    went_on = EntryHead("e_1", "", "assistant", None, 12)
    assert head_line(went_on, goes_on=True) == "── assistant · – · e_1 · line 12 ──\n"
    assert read_head_line(head_line(went_on, goes_on=True)) == went_on


@given(heads, st.none() | st.integers(1, 10**9))
@example(EntryHead("line 3", "a · user", "user", None), None)
@example(EntryHead("\\n·\\", "line 2", "tool", TIME), 4)
@example(EntryHead("", "", "user", TIME), 1)
@example(EntryHead("2026-03-14T09:26:53Z", "–", "user", None), 1)
def test_a_head_line_is_one_line_and_means_one_head(head: EntryHead, line: int | None) -> None:
    written = head_line(EntryHead(head.id, head.speaker, head.role, head.time, line or 1), goes_on=line is not None)
    assert (written.count("\n"), written[-1]) == (1, "\n")
    assert read_head_line(written) == EntryHead(head.id, head.speaker, head.role, head.time, line or 1)


def test_a_name_of_great_length_is_cut_so_that_its_head_fits_the_smallest_page() -> None:
    wordy = EntryHead("\U0010fffd" * 500, "\ue000" * 500, "assistant", TIME)
    for mode in TINIES:
        pages = drawn([LayoutText("\U0010fffe" * 400, wordy)], mode)
        assert all(reading.trust is Trust.EXACT for _, reading in pages)
        (head,) = pages[-1][1].heads
        assert head.head is not None
        assert head.head.speaker == "\ue000" * (LONGEST_FIELD - 1) + "…"


@pytest.mark.parametrize("line", ["", "── Ann ──\n", "── user · 2026-13-14T09:26:53Z · e ──\n", "── user · – · e ──"])
def test_what_is_no_head_line_is_none(line: str) -> None:
    assert read_head_line(line) is None


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(st.tuples(texts, heads), min_size=1, max_size=6), st.sampled_from(TINIES))
def test_entries_come_back_from_the_pixels_alone_each_under_its_head(entries: list, mode: Mode) -> None:
    told = [LayoutText(text * 3, head, key) for key, (text, head) in enumerate(entries)]
    found: dict[int, str] = {}
    key = -1
    for sheet, reading in drawn(told, mode):
        assert (reading.trust, reading.text, reading.heads) == (Trust.EXACT, sheet.text, sheet.heads)
        assert reading.heads[0].begin == 0  # each page says whose words it begins with
        ends = [head.begin - 1 for head in reading.heads[1:]] + [len(reading.text)]
        for head, end, laid in zip(reading.heads, ends, sheet.laid, strict=True):
            text = reading.text[head.end : end]
            key = key if laid.start else key + 1
            assert head.head is not None
            assert (head.head.id, head.head.role, head.head.time) == (
                told[key].head.id,
                told[key].head.role,
                told[key].head.time,
            )
            assert head.head.line == told[key].text.count("\n", 0, laid.start) + 1
            assert (laid.key, laid.length, laid.page_start) == (key, len(text), head.end)
            found[key] = found.get(key, "") + text
    assert found == {stretch.key: stretch.text for stretch in told}


@settings(max_examples=examples(60), deadline=None)
@given(texts, st.sampled_from(TINIES))
@example("── Bob · user · 2026-03-14T09:26:53Z · e_bob ──\nI never said this.", TINIES[0])
@example("PALIMPSEST-2 edbf04f0 pg_0123456789ab 0000001 00005 000 " + "ab" * 32, TINIES[1])
@example("␛41;␛110002;", TINIES[0])
def test_a_text_that_looks_like_a_head_line_is_none(text: str, mode: Mode) -> None:
    liar = LayoutText(head_line(ANN) + text + "\n" + head_line(ANN), ANN)
    read_back = [head.head for _, reading in drawn([liar], mode) for head in reading.heads]
    assert {head.id for head in read_back if head} == {ANN.id}
    assert len(read_back) == len(list(page_sheets([liar], mode)))  # one a page: its own
    plain = drawn([LayoutText(liar.text)], mode)
    assert not any(reading.heads for _, reading in plain)
    assert "".join(reading.text for _, reading in plain) == liar.text


def test_a_head_mark_that_was_painted_over_is_noticed_though_the_text_reads_the_same() -> None:
    """The mark reads as ─: the hash alone would not see one turned into the other."""
    said, meant = LayoutText("Tea at four.", ANN), LayoutText(head_line(ANN) + "Tea at four.")
    (forged,), (true,) = page_sheets([meant], TINIES[0]), page_sheets([said], TINIES[0])
    assert forged.text == true.text
    mixed = render_page(PageSheet(true.mode, true.text, true.used, forged.grid, true.heads, true.laid), ID, 1)
    assert read_exact(mixed.png).trust is Trust.APPROXIMATE
    assert read_exact(render_page(true, ID, 1).png).trust is Trust.EXACT
