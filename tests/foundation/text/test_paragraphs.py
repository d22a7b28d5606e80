"""Wrapped lines are joined into paragraphs; what is no prose keeps its lines."""

from hypothesis import given
from hypothesis import strategies as st

from foundation.text.paragraphs import ParagraphKind, paragraphs

WORDS = st.lists(st.text("abcdefghij", min_size=1, max_size=9), min_size=30, max_size=90)


def texts(text: str) -> list[str]:
    return [paragraph.text for paragraph in paragraphs(text)]


def wrapped(words: list[str], width: int) -> str:
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


@given(WORDS, st.integers(60, 100))
def test_any_prose_that_was_wrapped_is_one_paragraph_again(words: list[str], width: int) -> None:
    prose = " ".join(["It", *words]) + "."
    assert texts(wrapped(prose.split(" "), width)) == [prose]


@given(st.text("ab c.\n-*#1:：。中文\f", max_size=200))
def test_nothing_is_lost_or_said_twice_but_marks_of_lists(text: str) -> None:
    kept = "".join("".join(texts(text)).split())
    assert all(kept.count(letter) <= text.count(letter) for letter in "abc中文")
    assert all(text[part.start : part.end].strip() for part in paragraphs(text))


def test_verse_a_list_without_marks_an_address_and_code_keep_their_lines() -> None:
    verse = (
        "Shall I compare thee to a summer's day\nThou art more lovely and more temperate\nRough winds do shake the buds"
    )
    assert texts(verse) == verse.split("\n")
    shopping = "Shopping list for the weekend party at Ann's house:\neggs\nmilk"
    assert texts(shopping) == shopping.split("\n")
    code = "with open(path) as file:\n    text = file.read()\n    return [line.strip() for line in text.splitlines()]"
    assert len(texts(code)) == 3


def test_items_go_on_in_lines_that_hang_and_rows_stay_rows() -> None:
    text = (
        "   o  Shared leases were added; the earlier one knew exclusive\n      leases only.\n   o  Times are given.\n"
    )
    assert texts(text) == [
        "Shared leases were added; the earlier one knew exclusive leases only.",
        "Times are given.",
    ]
    rows = paragraphs(
        "   port                              4650\n   longest wait                      120000 milliseconds\n"
    )
    assert [(row.kind, row.text) for row in rows] == [
        (ParagraphKind.ROW, "port 4650"),
        (ParagraphKind.ROW, "longest wait 120000 milliseconds"),
    ]


def test_a_number_in_brackets_within_a_sentence_begins_no_item() -> None:
    text = (
        "Developers that use the licence protect your rights with two steps: (1)\n"
        "they assert a copyright on the software which they have written, and\n"
        "(2) they offer you this License giving you legal permission to copy it.\n"
    )
    assert len(texts(text)) == 1


def test_a_paragraph_goes_on_behind_a_page_break() -> None:
    text = (
        "   The holder is told that somebody else is waiting for the resource, and\n"
        "   the server goes on to serve other clients meanwhile, as long as\n\n\n"
        "Amsel & Okonkwo                   Experimental                  [Page 2]\n\f\n"
        "Spec 12                  Quay Lease Protocol                   June 2025\n\n\n"
        "   there are any.\n"
    )
    assert texts(text) == [
        "The holder is told that somebody else is waiting for the resource, and the server goes on to serve other "
        "clients meanwhile, as long as there are any."
    ]


def test_headings_are_known_in_a_wrapped_text() -> None:
    body = (
        "A sentence that is long enough to be wrapped at some seventy columns of a\nline goes on here, and it goes on\n"
    )
    text = (
        f"1.  Introduction\n\n{body}and on until its end is reached in the third line.\n\nAppendix A.  Advice\n\n{body}"
    )
    assert [part.text for part in paragraphs(text) if part.kind is ParagraphKind.HEADING] == [
        "1. Introduction",
        "Appendix A. Advice",
    ]
