"""The figures of receipts: a chain from the request as it would have been sent to the one that the server gets."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agent.commands.tables import savings_sentences
from agent.events import Compacted, ContextOverflowed, ContextReady, ResultsReduced, ToolFinished
from agent.headless.event_json import event_object
from agent.session import Session
from context.settings import ContextSettings
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import calls, open_session, turn
from tests.loopback import Loopback, Received, Reply, chat, json_reply, varied

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long
FILES = 40


def write_files(workspace: Workspace) -> None:
    for number in range(FILES):
        lines = "".join(f"part {number} line {n} has the value {n * 7919 + number}\n" for n in range(150))
        (workspace.root / f"part{number}.txt").write_text(lines)


async def read_all(session: Session, server: Loopback) -> list[Any]:
    server.plays(*[calls("read_file", path=f"part{number}.txt") for number in range(FILES)], chat("Done."))
    return await turn(session, "Read every part.", permit=True)


def chains(seen: list[Any]) -> list[tuple[int, list[Any], int]]:
    """For each request that was changed: the tokens of the request before it, the receipts, and its own tokens."""
    found: list[tuple[int, list[Any], int]] = []
    last = 0
    receipts: list[Any] = []
    for event in seen:
        if isinstance(event, Compacted | ResultsReduced):
            receipts.append(event.receipt)
        elif isinstance(event, ContextReady):
            if receipts:
                found.append((last, receipts, event.report.total_tokens))
            last, receipts = event.report.total_tokens, []
    return found


async def test_the_figures_of_a_tool_loop_join_from_what_was_sent_to_what_is_sent(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    write_files(workspace)
    session = open_session(workspace, tmp_path, server, models=ModelSettings(window=32_768, tools=True, retries=0))
    seen = await read_all(session, server)
    changed = chains(seen)
    assert any(isinstance(event, Compacted) for event in seen)
    for before, receipts, after in changed:
        assert before < receipts[0].tokens_before < before + 2_000, "the request before, and a new result"
        assert receipts[-1].tokens_after == after
        assert all(one.tokens_after == two.tokens_before for one, two in pairwise(receipts))
        for receipt in receipts:
            assert f"{receipt.tokens_before:,} → {receipt.tokens_after:,} tokens" in receipt.text
    lines = [line for event in seen if (line := event_object(event)) and line["type"] == "compaction"]
    figures = [(r.tokens_before, r.tokens_after) for _, receipts, _ in changed for r in receipts]
    assert [(line["tokens_before"], line["tokens_after"]) for line in lines] == figures
    await session.close()


async def test_archive_memory_counts_what_results_had_before_they_were_reduced(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    write_files(workspace)
    session = open_session(workspace, tmp_path, server, models=ModelSettings(window=32_768, tools=True, retries=0))
    seen = await read_all(session, server)
    report = [event.report for event in seen if isinstance(event, ContextReady)][-1]
    shown = sum(isinstance(event, ToolFinished) for event in seen)
    left = sum(event.receipt.entries for event in seen if isinstance(event, Compacted)) // 2
    assert report.archive is not None and 10 < left < shown
    assert 1_000 * left < report.archive.out_of_view < 2_500 * left
    assert any(f"{report.archive.tokens:,} tokens of older messages," in line for line in savings_sentences(report))
    await session.close()


async def test_after_a_rejection_the_receipts_begin_with_what_was_rejected_and_later_ones_are_automatic(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    write_files(workspace)
    models, context = ModelSettings(window=60_000, tools=True, retries=0), ContextSettings(working_tokens=0)
    session = open_session(workspace, tmp_path, server, models=models, context=context)
    played, rejected = 0, 0

    def reply(received: Received) -> Reply:
        nonlocal played, rejected
        if not received.path.endswith("/chat/completions"):
            return json_reply({}, status=404)
        prompt = len(str(received.json)) // 4
        if prompt > 12_000:
            rejected += 1
            text = f"request ({prompt} tokens) exceeds the available context size (12000 tokens), try increasing it"
            return json_reply({"error": {"message": text}}, status=400)
        played += 1
        return calls("read_file", path=f"part{played}.txt") if played < FILES else chat("Done.")

    server.answers_all(reply)
    seen = await turn(session, "Read every part.", permit=True)
    (at,) = [n for n, event in enumerate(seen) if isinstance(event, ContextOverflowed)]
    later = chains(seen[at:])
    _, receipts, after = later[0]
    assert rejected == 1 and receipts[0].tokens_before == seen[at].prompt_tokens
    assert receipts[-1].tokens_after == after
    assert all(one.tokens_after == two.tokens_before for one, two in pairwise(receipts))
    causes = [event.receipt.cause for event in seen[at:] if isinstance(event, Compacted)]
    assert causes[0] == "overflow" and len(causes) > 1 and set(causes[1:]) == {"automatic"}
    await session.close()


async def test_a_compaction_by_hand_counts_the_tools_as_the_report_does(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    session = open_session(workspace, tmp_path, server, models=ModelSettings(window=32_768, tools=True, retries=0))
    server.answers_all(lambda _: chat(varied("The boiler is in the cellar. ", 60)))
    for number in range(6):
        await turn(session, f"Question {number}: " + "where is the pump? " * 40)
    report = await session.context_report()
    outlook = await session.compaction.preview()
    assert outlook is not None and abs(outlook.tokens_before - report.total_tokens) < 50
    receipt = await session.compaction.run()
    assert receipt is not None and receipt.tokens_before == outlook.tokens_before
    assert abs(receipt.tokens_after - (await session.context_report()).total_tokens) < 150
    await session.close()
