"""An extractive summary keeps what a person would miss, within its limit, and says where each line comes from."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from context.compaction.summary import SummaryEntry, summarise
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
    assert "Decided:\n- assistant: We decided to book Hotel Aurora" in text
    assert "决定坐CA1234去" in text
    assert "Open:" in text and "Remind me to send the passport scan" in text
    spoken = next(line for line in text.split("\n") if line.startswith("Spoken of:"))
    for fact in ("CA1234", "2026-05-02", "ann@example.org", "~/trips/plan.py", "9fceb02a", "€420"):
        assert fact in spoken


def open_lines(text: str) -> list[str]:
    """The lines below `Open:`."""
    lines = text.partition("\nOpen:\n")[2].split("\n")
    return [line.removeprefix("- ") for line in lines if line.startswith("- ")]


def test_a_chinese_question_stays_open() -> None:
    talk = [
        said(1, "我们先看看地图。"),
        said(2, "渡轮几点从比雷埃夫斯出发？船票放在书房里！带护照；几点回家？"),
        said(3, "谢谢你的帮助。"),
    ]
    text = summarise(talk, 400, estimate)
    assert open_lines(text)[:2] == ["user: 渡轮几点从比雷埃夫斯出发？ [e_0002]", "user: 几点回家？ [e_0002]"]


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
