"""The exact tokens that stand beside a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.archive.cost.factsheet import LONGEST, factsheet

SAID = (
    "Ann Lee said on 14 March 2026 the ferry QF12 leaves at 09:40 from Lisbon, cost €1,250.50 (12 % more), see "
    "https://a.example/x?y=1. Commit 9f86d081884c7d65 in /srv/app/main.py broke load_config(), use v2.13.0-rc1 on "
    "port 8080, room B12, 5 km, order ORD-2291-X, 2026年3月14日 《红楼梦》"
)


def test_hashes_figures_paths_addresses_names_and_dates_are_found_in_their_order() -> None:
    assert factsheet(SAID) == (
        "Ann Lee",
        "14 March 2026",
        "QF12",
        "09:40",
        "Lisbon",
        "€1,250.50",
        "12 %",
        "https://a.example/x?y=1",
        "9f86d081884c7d65",
        "/srv/app/main.py",
        "load_config()",
        "v2.13.0-rc1",
        "8080",
        "B12",
        "5 km",
        "ORD-2291-X",
        "2026年3月14日",
        "《红楼梦》",
    )


def test_where_there_are_too_many_names_give_way_to_what_cannot_be_guessed() -> None:
    kept = factsheet(SAID, most=5)
    assert "Lisbon" not in kept
    assert {"9f86d081884c7d65", "https://a.example/x?y=1", "QF12", "ORD-2291-X"} <= set(kept)
    assert len(kept) == 5


@pytest.mark.parametrize(
    "kept_out",
    [
        "sk-proj-abcdefghijklmnopqrstuvwx0123456789ABCDEFGH",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    ],
)
def test_a_secret_is_never_on_a_sheet(kept_out: str) -> None:
    sheet = factsheet(f"The key is {kept_out} and the order ORD-2291-X.")
    assert "ORD-2291-X" in sheet
    assert not any(kept_out[:20] in token for token in sheet)


def test_private_words_and_the_marks_they_leave_are_never_on_a_sheet() -> None:
    sheet = factsheet("<private>the pin 4711 of Bob Ray</private> [private] [secret: github-pat] room B12")
    assert sheet == ("B12",)


@given(st.text(max_size=600), st.integers(0, 20))
def test_every_token_stands_in_the_text_once_in_order_and_within_the_budget(text: str, most: int) -> None:
    sheet = factsheet(text, most)
    assert len(sheet) <= most
    assert len(set(sheet)) == len(sheet)
    assert all(token in text and len(token) <= LONGEST for token in sheet)


def test_a_page_of_one_endless_line_is_read_in_time_linear_in_its_length() -> None:
    for line in ("a-" * 10_000, "1," * 10_000, "/a" * 10_000, "A1" * 10_000):
        factsheet(line)  # the suite's limit of time is the assertion: a pattern that ran away would pass it
