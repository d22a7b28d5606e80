"""What a person names at a compaction stays longest in its summary."""

from datetime import UTC, datetime

import pytest

from context.compaction.focus import FOCUS_PREFIX, Focus
from context.compaction.summary import SummaryEntry, summarise
from models.tokens import estimate
from tests.context.conversation import Talk

DAY = datetime(2026, 3, 14, tzinfo=UTC)
LIMIT = 200
CITIES = ("Lisbon", "Porto", "Bergen", "Oslo", "Turin", "Genoa", "Basel", "Graz")
CITIES_ZH = ("里斯本", "波尔图", "卑尔根", "奥斯陆", "都灵", "热那亚", "巴塞尔", "格拉茨")
TRIP = "Marianne booked hotel {city} for {n} nights at €{n}7 from 2026-05-{n}."
TRIP_ZH = "玛丽安在{city}订了{n}晚的酒店，价格是{n}7欧元，从2026年5月{n}日起。"
BOILER = "The boiler may make some noise on day {n}."
BOILER_ZH = "第{n}天锅炉也许会有一点声音。"


def talk_of(common: str, cities: tuple[str, ...], rare: str) -> list[SummaryEntry]:
    """Each second turn is about one thing, and the others are about another."""
    texts = [text for n, city in enumerate(cities, 10) for text in (common.format(n=n, city=city), rare.format(n=n))]
    return [SummaryEntry(f"e_{n:04d}", "Ann", n % 2 == 0, DAY, text) for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("common", "cities", "rare", "focus"),
    [
        (TRIP, CITIES, BOILER, "the boiler"),
        (TRIP_ZH, CITIES_ZH, BOILER_ZH, "锅炉"),
        (TRIP, CITIES, BOILER_ZH, "锅炉 声音"),
    ],
)
def test_lines_about_the_focus_come_first(common: str, cities: tuple[str, ...], rare: str, focus: str) -> None:
    talk = talk_of(common, cities, rare)

    def kept(text: str) -> int:
        return sum(rare.format(n=n) in text for n in range(10, 18))

    plain, focused = (summarise(talk, LIMIT, estimate, focus=words) for words in ("", focus))
    assert kept(focused) >= kept(plain) + 3
    assert estimate(focused) <= LIMIT


def test_figures_on_lines_about_the_focus_come_before_others() -> None:
    padding = "words that fill the line up to where it is cut, and some more of them after that, " * 4
    lines = [f"Bed {n}: {padding} https://example.org/garden/{n % 20}" for n in range(40)]
    lines.insert(20, f"The boiler: {padding} https://example.org/boiler/7")
    talk = [SummaryEntry(f"e_{n:04d}", "Ann", by_user=False, time=DAY, text=line) for n, line in enumerate(lines)]
    assert "https://example.org/boiler/7" not in summarise(talk, LIMIT, estimate)
    assert "https://example.org/boiler/7" in summarise(talk, LIMIT, estimate, focus="boiler")


def test_a_focus_of_words_that_say_nothing_is_looked_for_as_it_stands() -> None:
    assert Focus("the") and not Focus("") and not Focus("…")
    assert Focus("Parsers").matches("the parser fails") and not Focus("parser").matches("the lexer fails")
    assert Focus("the parser").factor({"parser": 1.0}) == Focus("parser").factor({"parser": 1.0}) > 1


def fill(talk: Talk, turns: int, since: int = 0) -> None:
    for n in range(since, since + turns):
        about = BOILER if n % 5 == 0 else TRIP
        talk.send(f"Question {n}?", " ".join(about.format(n=10 + n + k, city=CITIES[n % 8]) for k in range(6)))


def test_the_summary_and_the_receipt_name_the_focus(talk: Talk) -> None:
    fill(talk, 20)
    receipt = talk.compact("the boiler\n")
    assert receipt is not None and receipt.focus == "the boiler" and receipt.focus_lines
    assert f"has {receipt.focus_lines} line about “the boiler”" in receipt.text
    summary = talk.memory.cold.entry(receipt.summary_seq)
    assert f"\n{FOCUS_PREFIX}the boiler\n" in talk.memory.passage(summary).text


def test_nothing_about_the_focus_is_said(talk: Talk) -> None:
    fill(talk, 20)
    receipt = talk.compact("zeppelins")
    assert receipt is not None and receipt.focus_lines == 0
    assert "These turns do not mention “zeppelins”." in receipt.text


def test_a_summary_that_replaces_one_keeps_its_focus(small_talk: Talk) -> None:
    fill(small_talk, 12)
    first = small_talk.compact("the boiler")
    assert first is not None
    focuses: list[str] = []
    for n in range(12, 60):
        fill(small_talk, 1, n)
        focuses = [receipt.focus for receipt in small_talk.receipts if receipt.summary_seq > first.summary_seq]
        if "the boiler" in focuses:
            break
    assert "the boiler" in focuses


def test_private_words_of_a_focus_are_not_kept(talk: Talk) -> None:
    fill(talk, 20)
    receipt = talk.compact("the boiler <private>of aunt Zork</private>")
    assert receipt is not None and "Zork" not in receipt.text
    assert "Zork" not in talk.memory.passage(talk.memory.cold.entry(receipt.summary_seq)).text
