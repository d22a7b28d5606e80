"""The text around a hit says where more of its passage is left out."""

from pathlib import Path

import pytest

from agent.services.browse import BrowseRow
from agent.services.live_search import passage_context
from agent.session import Session
from foundation.paths import Workspace
from foundation.trust import Trust
from tests.agent.sessions import open_session, turn

TEXT = "; ".join(f"key {number} hangs behind door {number} 门" for number in range(60))


@pytest.mark.parametrize(
    ("word", "before", "after"), [("door 0 ", False, True), ("door 30 ", True, True), ("door 59 ", True, False)]
)
async def test_what_is_left_out_of_a_passage_is_marked(
    workspace: Workspace, tmp_path: Path, word: str, before: bool, after: bool
) -> None:
    session: Session = open_session(workspace, tmp_path)
    await turn(session, TEXT)
    (entry, _), *_ = await session.branch.own_messages(1)
    start = TEXT.index(word)
    row = BrowseRow(
        id=entry.id, entry=entry.seq, trust=Trust.EXACT, snippet=word, citation="", span=(start, start + len(word))
    )
    context = passage_context(session.memory, row)
    assert context.lead.startswith("… ") == before
    assert context.rest.endswith(" …") == after
    assert context.lead.removeprefix("… ") + word + context.rest.removesuffix(" …") in TEXT
    await session.close()


async def test_the_preview_of_a_long_note_is_marked_as_well(workspace: Workspace, tmp_path: Path) -> None:
    (workspace.root / "MEMORY.md").write_text(f"- {TEXT}\n", encoding="utf-8")
    session: Session = open_session(workspace, tmp_path)
    session.memory.hot.refresh()
    (note,) = session.memory.hot.notes()
    start = note.text.index("door 30 ")
    row = BrowseRow(
        id=note.id, kind="memory", trust=Trust.EXACT, snippet="door 30 ", citation="", span=(start, start + 8)
    )
    context = passage_context(session.memory, row)
    assert context.lead.startswith("… ") and context.rest.endswith(" …")
    await session.close()
