"""Two readers compared, and what one alone is not trusted with."""

import pytest

from memory.pages.read.ocr.pages import differing_lines, uncertain_lines


def test_readers_that_agree_differ_nowhere() -> None:
    assert differing_lines("one\n\ntwo  words", "one\ntwo words\n") == ()
    assert differing_lines("ﬁne，白", "fine,白") == ()


def test_a_line_that_differs_is_named_and_no_other() -> None:
    assert differing_lines("one\ntwo\nthree", "one\ntvvo\nthree") == (2,)
    assert differing_lines("one\ntwo\nthree", "three") == (1, 2)
    assert differing_lines("one", "") == (1,)


@pytest.mark.parametrize(
    "line",
    [
        "commit 9491691a",
        "see https://a.example/b",
        "IBAN 12345678",
        "open memory/pages/render/page.py",
        "x = f(y)",
        "Ann <ann@a.example>",
    ],
)
def test_what_counts_to_the_letter_is_in_doubt_however_sure_the_engine_is(line: str) -> None:
    assert uncertain_lines(f"hello\n{line}\nbye", (1.0, 1.0, 1.0)) == (2,)


def test_what_the_engine_is_unsure_of_is_in_doubt() -> None:
    assert uncertain_lines("the ferry\nleaves at 09:40", (0.99, 0.7)) == (2,)
    assert uncertain_lines("the ferry leaves") == ()
