"""Counts of chunks, and tokens by day."""

from datetime import date

from agent.services.trends import last_days, sparkline, trend_rows
from foundation.paths import Workspace
from foundation.privacy import Cleared
from memory.memory import Memory
from memory.records import CHUNK_ENTRIES, DayTokens, EntryDraft, EntryKind
from models.messages import Role
from tests.agent.conftest import Run
from tests.fakes import FakeClock


def test_a_bar_is_as_high_as_its_share() -> None:
    assert sparkline([0, 1, 4, 8]) == " ▁▄█"
    assert sparkline([]) == ""
    assert sparkline([0, 0]) == "  "
    assert sparkline([10**12]) == "█"


def test_days_without_entries_are_shown_as_such() -> None:
    shown = last_days([DayTokens("2026-03-12", 2, 40), DayTokens("2025-01-01", 9, 9)], date(2026, 3, 14), 4)
    assert [(day.day, day.tokens) for day in shown] == [
        ("2026-03-11", 0),
        ("2026-03-12", 40),
        ("2026-03-13", 0),
        ("2026-03-14", 0),
    ]
    assert trend_rows([DayTokens("2025-01-01", 9, 9)], date(2026, 3, 14)) == []


def test_messages_chunks_and_summaries_are_counted(workspace: Workspace, clock: FakeClock) -> None:
    memory = Memory.open(workspace, clock)
    try:
        for count in (CHUNK_ENTRIES + 1, 1):
            conversation = memory.conversations.new()
            for _ in range(count):
                memory.conversations.append(_draft(conversation.seq, EntryKind.MESSAGE))
            clock.advance(86_400)
        memory.conversations.append(_draft(conversation.seq, EntryKind.SUMMARY))
        figures = memory.statistics()
        assert (figures.messages, figures.chunks, figures.compressed_chunks) == (CHUNK_ENTRIES + 2, 3, 1)
        days = memory.tokens_by_day()
        assert [(day.entries, day.tokens, day.messages) for day in days] == [
            (CHUNK_ENTRIES + 1, 2 * (CHUNK_ENTRIES + 1), CHUNK_ENTRIES + 1),
            (1, 2, 1),
            (1, 2, 0),
        ]
        assert sum(day.messages for day in days) == figures.messages
    finally:
        memory.close()


def _draft(conversation: int, kind: EntryKind) -> EntryDraft:
    return EntryDraft(conversation=conversation, parent=None, kind=kind, role=Role.USER, text=Cleared("lantern"))


def test_on_the_command_line(run: Run) -> None:
    run("-p", "the brass key is under the third step")
    told = run("stats", "--json").json
    assert (told["messages"], told["chunks"], told["compressed_chunks"]) == (2, 1, 0)
    assert sum(day["entries"] for day in told["days"]) == 2
    said = run("stats").out
    assert "compressed chunks" in said
    assert "█" in said
    assert "█" in run("-p", "/stats").out


def test_the_quoter_without_a_model_counts_as_no_model(run: Run) -> None:
    run("-p", "the brass key is under the third step", "--model", "offline")
    figures = run("stats", "--json").json
    assert figures["entries"] == 2 and figures["models"] == []
    assert [day["prompt_tokens"] for day in figures["days"]] == [0]
