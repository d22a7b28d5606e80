"""What the working set reduces is an event of the turn, and an object of stream-json and of the report."""

import json
from pathlib import Path

import pytest

from agent.events import Compacted, ContextReady, EpochChanged, ResultsReduced
from agent.headless.event_json import event_object
from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.cli.json_shapes import assert_in_shape
from tests.agent.sessions import calls, only, open_session, turn
from tests.loopback import Loopback, chat

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long
FILES = 11


async def test_reduced_results_are_an_event_with_each_entry(
    workspace: Workspace, server: Loopback, tmp_path: Path
) -> None:
    for number in range(FILES):
        (workspace.root / f"part{number}.txt").write_text(f"Line of part {number}, which is long enough.\n" * 120)
    models = ModelSettings(window=60_000, tools=True, retries=0)
    session = open_session(workspace, tmp_path, server, models=models)
    server.plays(*[calls("read_file", path=f"part{number}.txt") for number in range(FILES)], chat("Done."))
    seen = await turn(session, "Read every part.", permit=True)
    assert not any(isinstance(event, EpochChanged | Compacted) for event in seen)
    reduced = only(seen, ResultsReduced)
    reports = [event.report for event in seen if isinstance(event, ContextReady)]
    (at,) = [n for n, report in enumerate(reports) if report.total_tokens == reduced.receipt.tokens_after]
    assert reports[at - 1].total_tokens < reduced.receipt.tokens_before and not reports[at - 1].reduced
    assert reports[-1].reduced == reduced.receipt.reductions
    stored = {entry.id for entry in await session.branch.history(100)}
    assert {item.entry for item in reduced.receipt.reductions} <= stored
    assert {item.tool for item in reduced.receipt.reductions} == {"read_file"}
    line = event_object(reduced)
    assert line is not None and (line["type"], line["cause"]) == ("compaction", "working_set")
    assert line["reduced"][0]["before"] > 900 > 100 > line["reduced"][0]["after"]
    assert_in_shape("palimpsest", json.loads(json.dumps({"schema": 1, **line})))
    assert_in_shape("palimpsest context", json.loads(json.dumps({"schema": 1, **reports[-1].as_json()})))
    await session.close()
