"""What OCR read is in doubt, however sure the engine is, where one wrong letter looks right."""

import pytest

from memory.pages.read.ocr.pages import uncertain_lines


@pytest.mark.parametrize(
    "line",
    [
        "Pay to IBAN DE44 5001 0517 5407 3249 31",
        "GB29 NWBK 6016 1331 9268 19",
        "FR76 3000",
        "Total due: EUR 1,284.50",
        "it costs 12,50",
        "€ 9",
        "CHF 40",
        "总计：128元",
        "call +49 (0)30 901820",
        "(555) 867-5309",
        "card 4929 1234 5678 9012",
        "Pay by 14 April",
        "on 3rd March",
        "due May 7",
        "14.3.26",
        "2026-03-14",
        "03/14/2026",
        "2026年3月14日",
        "INVOICE 2026-118",
        "order AB-1234",
        "your code is X7K22P",
        "voucher k3j9x2",
        "flight LH1402",
        "C:\\Users",
        "open a/b/c",
        "commit 9491691a",
    ],
)
def test_what_counts_to_the_letter_is_in_doubt(line: str) -> None:
    assert uncertain_lines(f"hello\n{line}\nbye", (1.0, 1.0, 1.0)) == (2,)


@pytest.mark.parametrize(
    "line",
    [
        "the ferry leaves at noon",
        "Thank you, Harbour Office",
        "Gate B22",
        "at 10am on the 2nd floor",
        "we were 12 at table",
        "in 2026 it rained",
        "You may go now",
        "MARCH on",
        "今天天气很好，我们一起去公园散步。",
        "a well-known and/or half-read book",
        "It was 20 degrees, or 21.",
        "EUROPE 1 and USDA",
    ],
)
def test_other_words_are_not(line: str) -> None:
    assert uncertain_lines(line) == ()
