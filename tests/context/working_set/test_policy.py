"""The working set of a window, and the line that stands for a result."""

import pytest
from msgspec.structs import replace

from context.assembly.budget import budget_for
from context.assembly.view import BranchView
from context.settings import ContextSettings
from context.working_set.policy import KEPT_RESULTS, LEAST_TOKENS, LINE_TOKENS, due_entries, working_set
from context.working_set.reductions import MOST_SHOWN, result_line
from foundation.trust import Citation, Trust
from memory.records import EntryKind
from models.messages import RecalledSpan, Role
from tests.context.compaction.test_plan import A, C, Q, T, entries

SETTINGS = ContextSettings()


@pytest.mark.parametrize(
    ("window", "tokens", "high"),
    [
        (131_072, 24_000, 24_000),
        (32_768, 24_000, 16_384),
        (16_384, 24_000, 8_192),
        (8_192, 24_000, 6_144),  # all of it: half of so little would be read anew too often
        (131_072, 0, 126_976),
        (131_072, 500, 2_250),  # the head and as much again as half of what was asked for
    ],
)
def test_a_request_aims_at_the_setting_at_half_of_the_window_or_at_all_of_a_small_one(
    window: int, tokens: int, high: int
) -> None:
    settings = ContextSettings(working_tokens=tokens)
    working = working_set(budget_for(window, settings), settings, 2_000, BranchView(), {})
    assert working.high == high
    assert 2_000 < working.low < working.fold < working.high


@pytest.mark.parametrize(("what", "high"), [((Q, A, C, T), 12_000), ((Q, A, Q, A), 24_000), ((C, T, Q, A), 24_000)])
def test_a_view_full_of_what_tools_showed_aims_at_half(what: tuple[str, ...], high: int) -> None:
    tokens = {1: 1_000, 2: 1_000, 3: 1_000, 4: 1_001}
    view = BranchView((), entries(*what))
    assert working_set(budget_for(131_072, SETTINGS), SETTINGS, 2_000, view, tokens).high == high


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("import os\n\n\ndef keel():\n    pass\n\n\nclass Ship:\n    def sail(self): ...\n", "keel, Ship, sail"),
        ("collected 9 items\n\nE   ValueError: no wind\n1 failed\n", "E ValueError: no wind … 1 failed"),
        ("[exit 2 after 0.1 s]\nls: nope\n", "[exit 2 after 0.1 s]"),
        ("\n\n  一行文字，说明船期。\n第二行\n", "一行文字，说明船期。"),
        ("", ""),
        ("x" * 10_000, "x" * MOST_SHOWN + "…"),
    ],
)
def test_a_line_has_the_size_the_reference_and_what_was_shown(text: str, shown: str) -> None:
    (entry,) = entries(T)
    line = str(result_line(entry, text))
    assert f"{len(text):,} characters" in line
    assert f"recall {entry.id} brings" in line
    assert line.endswith(f" It showed: {shown}]" if shown else "brings them.]")
    assert "\n" not in line


def test_all_results_but_the_newest_that_were_answered_are_due() -> None:
    view = BranchView((), entries(Q, C, T, C, T, C, T, C, T, C))
    results = [entry.seq for entry in view.entries if entry.kind is EntryKind.TOOL_RESULT]
    due = due_entries(view, dict.fromkeys(results, 1_000))
    assert due == dict.fromkeys(results[:-KEPT_RESULTS], 1_000 - LINE_TOKENS)


def test_a_result_that_a_line_hardly_shortens_stays() -> None:
    view = BranchView((), entries(Q, C, T, C, T, C, T, C, T, C))
    results = [entry.seq for entry in view.entries if entry.kind is EntryKind.TOOL_RESULT]
    edge = LINE_TOKENS + LEAST_TOKENS
    due = due_entries(view, {results[0]: edge, results[1]: edge + 1})
    assert list(due) == [results[1]]
    assert due_entries(replace(view, reduced=frozenset(results)), dict.fromkeys(results, 1_000)) == {}


def test_the_newest_message_keeps_what_was_recalled_for_it() -> None:
    span = RecalledSpan("The boiler. " * 100, Citation(kind="entry", ref="e_1"), Trust.EXACT)
    said = tuple(replace(entry, sent=(span,)) if entry.role is Role.USER else entry for entry in entries(Q, A, Q, A, A))
    questions = [entry.seq for entry in said if entry.role is Role.USER]
    assert list(due_entries(BranchView((), said), {})) == questions[:1]
