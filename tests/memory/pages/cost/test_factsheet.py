"""The exact tokens that stand beside a page."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.privacy import Cleared, TextSource, clear
from memory.pages.cost import factsheet as sheets
from memory.pages.cost.factsheet import LONGEST, exact_tokens, factsheet

TEXTS = Path(__file__).parents[1] / "data" / "factsheets"
GOLDEN = json.loads((TEXTS / "golden.json").read_text("utf-8"))
"""What one pattern of all kinds at each place found in these texts (tokens in order, and weights), but for names."""

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


def test_a_page_of_plain_words_takes_no_longer_than_another() -> None:
    """Each of its places was searched to the page's end: a second for one page, and hours for a file of them."""
    words = "plain words without any mark that goes on for as long as a page does\n" * 400
    exact_tokens("")  # what is made once is made
    began = time.process_time()
    assert exact_tokens(words) == []
    assert exact_tokens(SAID + "\n" + words) == exact_tokens(SAID)
    assert time.process_time() - began < 0.5


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


@pytest.mark.parametrize("name", GOLDEN)
def test_what_is_leapt_over_holds_no_token(name: str) -> None:
    found = [exact for exact in exact_tokens((TEXTS / f"{name}.txt").read_text("utf-8")) if exact.kind != "name"]
    assert [[each.token, each.weight] for each in found if 2 <= len(each.token) <= LONGEST] == [
        [token, weight] for token, weight in GOLDEN[name].items()
    ]


@given(st.lists(st.sampled_from(("the ", "boiler, ", "(was) ", "fine.\n", "like ", "锅炉，", "x = ")), max_size=40))
def test_plain_words_around_it_neither_hide_a_token_nor_make_one(words: list[str]) -> None:
    around = "".join(words)
    assert factsheet(around) == ()
    for token in ("9f86d081884c7d65", "a@b.example", "/srv/app/x", "load()", "v2.13.0", "-5 °C", "ORD-1", "$ 5", "a_b"):
        assert factsheet(f"{around} {token} {around}") == (token,)


def test_a_word_that_only_begins_a_sentence_is_no_name() -> None:
    said = "Awesome! Nice to hear. Thanks for that, Lately I've slept. Maybe. Wow Awesome! Visited it twice."
    assert factsheet(said) == ()


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("We saw Lisbon today.", ("Lisbon",)),
        ("Melanie came. I like Melanie.", ("Melanie",)),
        ("Ann Lee came.", ("Ann Lee",)),
        ("Hey Melanie! Thanks Bob.", ("Melanie", "Bob")),
        ("Did Caroline call? Lately I've asked Bob.", ("Caroline", "Bob")),
        ("Will Caroline come? I asked Will.", ("Caroline", "Will")),
        ("The Bank of England said so.", ("Bank of England",)),
        ("Perhaps it was Ann’s turn.", ("Ann",)),
    ],
)
def test_a_name_stands_within_a_sentence_or_is_several_words(said: str, names: tuple[str, ...]) -> None:
    assert factsheet(said) == names


def test_a_name_stands_where_it_first_appears_though_only_later_words_prove_it() -> None:
    assert factsheet("Melanie sent ORD-1. We know Melanie.") == ("Melanie", "ORD-1")


def test_a_page_takes_few_milliseconds() -> None:
    text = (TEXTS / "code.txt").read_text("utf-8")
    took: list[float] = []
    for _ in range(7):
        began = time.process_time()
        exact_tokens(text)
        took.append(time.process_time() - began)
    assert min(took) < 0.003  # 0.001 on a core of its own; one pattern at each place took 0.005


def test_what_was_read_is_forgotten_when_it_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noted(text: str, source: TextSource) -> Cleared:
        read.append(text)
        return clear(text, source)

    monkeypatch.setattr(sheets, "clear", noted)
    for _ in range(2):
        factsheet("The ferry QF12.")
    sheets.clear_cache()
    factsheet("The ferry QF12.")
    assert len(read) == 2
