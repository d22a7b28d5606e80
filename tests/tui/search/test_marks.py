"""A passage opens at the hit, with the words marked; what is counted is what is listed."""

from typing import Any

from agent.services.browse import BrowsePage, BrowseRow
from foundation.trust import Trust
from tui.passages.screen import marks_in_passage
from tui.search.controller import summary

TEXT = "One line.\nThe 锅炉 is serviced in May.\nAnother line."
SNIPPET = "The 锅炉 is serviced in May."


def row(**more: Any) -> BrowseRow:
    fields: dict[str, Any] = {"id": "e_1", "trust": Trust.EXACT, "snippet": SNIPPET, "citation": "[e_1]", **more}
    return BrowseRow(**fields)


def test_the_words_of_the_query_are_marked_where_they_are_in_the_passage() -> None:
    start = TEXT.index(SNIPPET)
    marks = marks_in_passage(row(marks=((4, 6), (22, 25)), span=(start, start + len(SNIPPET))), TEXT)
    assert [TEXT[first:last] for first, last in marks] == ["锅炉", "May"]


def test_a_recalled_part_is_marked_as_a_whole() -> None:
    assert [TEXT[first:last] for first, last in marks_in_passage(row(), TEXT)] == [SNIPPET]


def test_nothing_is_marked_where_the_passage_is_not_what_was_found() -> None:
    assert marks_in_passage(row(snippet="elsewhere"), TEXT) == []
    assert marks_in_passage(row(snippet=TEXT), TEXT) == []


def test_what_is_counted_is_what_is_listed() -> None:
    rows = tuple(row(id=f"e_{number}") for number in range(15))
    assert summary(BrowsePage(rows=rows, total=62, took_ms=3)) == "15 found · 3 ms"
    assert summary(BrowsePage(rows=rows, total=62, next=2, took_ms=3)) == "62 found · 3 ms"
