"""An extractive summary keeps what a person would miss, within its limit, and says where each line comes from."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from context.compaction.summary import SummaryEntry, summarise
from context.compaction.units import MOST_TURNS, units_of
from models.tokens import estimate

DAY = datetime(2026, 3, 14, tzinfo=UTC)


def said(n: int, text: str, *, asked: bool = True) -> SummaryEntry:
    return SummaryEntry(f"e_{n:04d}", "user" if asked else "assistant", asked, DAY, text)


TALK = [
    said(1, "Where shall we stay in Lisbon? The weather was nice."),
    said(2, "We decided to book Hotel Aurora for 3 nights at €420, from 2026-05-02.", asked=False),
    said(3, "Remind me to send the passport scan to ann@example.org."),
    said(4, "那我们决定坐CA1234去。记得带护照。"),
    said(5, "The script is in ~/trips/plan.py, commit 9fceb02a."),
]


def test_it_keeps_asks_decisions_open_ends_and_names() -> None:
    text = summarise(TALK, 400, estimate)
    assert "First asked: “Where shall we stay in Lisbon?" in text and "[e_0001]" in text
    assert "Last asked: “The script is in ~/trips/plan.py" in text
    assert "assistant: We decided to book Hotel Aurora" in text
    assert "决定坐CA1234去" in text
    assert "Remind me to send the passport scan" in text
    for fact in ("CA1234", "2026-05-02", "ann@example.org", "~/trips/plan.py", "9fceb02a", "€420"):
        assert fact in text


def test_answers_that_nothing_backs_take_a_small_share_beside_the_users_lines() -> None:
    own = [said(n, f"My locker at pool {n} has the code {4471 + n}.") for n in range(0, 40, 2)]
    answers = [said(n, f"Aqueduct {n} of Rome carried {n * 919} litres.", asked=False) for n in range(1, 40, 2)]
    talk = sorted((*own, *(replace(entry, unverified=True) for entry in answers)), key=lambda entry: entry.ref)
    lines = summarise(talk, 700, estimate).split("\n")
    share = sum(estimate(line) for line in lines if line.startswith("assistant:")) / 700
    assert 0 < share <= 0.2
    backed = summarise(sorted((*own, *answers), key=lambda entry: entry.ref), 700, estimate).split("\n")
    assert sum(estimate(line) for line in backed if line.startswith("assistant:")) / 700 > 0.3
    alone = summarise([replace(entry, unverified=True) for entry in answers], 700, estimate)
    assert alone.count("Aqueduct") > 10


def two(*texts: str) -> list[SummaryEntry]:
    """A talk of Caroline and Melanie, in turn."""
    names = ("Caroline", "Melanie")
    return [SummaryEntry(f"e_{n:04d}", names[n % 2], n % 2 == 0, DAY, text) for n, text in enumerate(texts)]


def spoken(text: str) -> str:
    """All lines but the heading and the day's."""
    return "\n".join(text.split("\n")[2:])


def test_names_that_are_only_addressed_and_exclamations_are_cut_off() -> None:
    text = spoken(
        summarise(
            two(
                "Hey Mel! Wow, Melanie, I adopted two kittens from the shelter in Porto.",
                "Thanks, Caroline! I baked a lemon cake for the school fair on Sunday, Caroline.",
                "I agree, Mel. 哇，太好了，我买了一辆二手自行车。",
            ),
            300,
            estimate,
        )
    )
    assert "Caroline: I adopted two kittens from the shelter in Porto." in text
    assert "Melanie: I baked a lemon cake for the school fair on Sunday." in text
    assert "agree" not in text and "哇" not in text and "我买了一辆二手自行车" in text
    assert "Mel!" not in text and "Mel." not in text


def test_a_question_stands_only_before_its_short_answer() -> None:
    text = spoken(
        summarise(
            two(
                "Where did you leave the harbour key?",
                "Behind the copper clock.",
                "What a lovely evening, isn't it, for a long walk along the river?",
                "Yesterday I finished my second novel about the lighthouse.",
            ),
            300,
            estimate,
        )
    )
    assert "Melanie: Caroline: Where did you leave the harbour key? — Behind the copper clock." in text
    assert "lovely evening" not in text


def test_a_pronoun_comes_with_the_sentence_of_its_noun_or_not_at_all() -> None:
    text = spoken(
        summarise(
            two(
                "It was painted by a famous sailor in Lisbon.",
                "My brother bought an old trawler in Bergen. It needs a new diesel engine before winter.",
            ),
            300,
            estimate,
        )
    )
    assert "famous sailor" not in text
    assert "bought an old trawler in Bergen. It needs a new diesel engine before winter." in text


def test_a_hundred_thousand_turns_are_bounded() -> None:
    assert len(list(units_of(two(*["I saw a heron near pier 7 today."] * (MOST_TURNS + 500)), 220))) <= MOST_TURNS


def test_the_same_turns_give_the_same_summary() -> None:
    assert summarise(TALK, 200, estimate) == summarise(list(TALK), 200, estimate)


def test_a_joined_summary_carries_what_the_earlier_one_asked_and_decided() -> None:
    before = summarise(TALK, 400, estimate)
    text = summarise([said(9, "And what about Porto?")], 300, estimate, before=[before])
    assert "Before that:" in text
    assert "Where shall we stay in Lisbon?" in text and "[e_0001]" in text
    assert "Hotel Aurora" in text and "CA1234" in text


def test_of_nothing_it_still_says_something() -> None:
    assert summarise([], 100, estimate) == "Earlier in this conversation."


lines = st.lists(st.text(max_size=300) | st.sampled_from([one.text for one in TALK]), max_size=20)


@given(lines, st.integers(60, 500), st.lists(st.text(max_size=200), max_size=2))
def test_it_stays_within_its_limit(texts: list[str], limit: int, before: list[str]) -> None:
    talk = [said(n, text, asked=n % 2 == 0) for n, text in enumerate(texts)]
    assert estimate(summarise(talk, limit, estimate, before=before)) <= limit + 8
