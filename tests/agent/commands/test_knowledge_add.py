"""`/knowledge add` in the chat: counted file by file, and stopped between two."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.commands import registry
from agent.commands.results import Cancelled, Proposal, TextResult
from agent.session import Session
from foundation.paths import Workspace
from memory.knowledge import ocr
from tests.agent.sessions import open_session
from tui.chat.background import PageProgress


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path)
    yield opened
    await opened.close()


def no_sight(*_: object) -> None:
    """No engine reads words here."""


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "installed_ocr_reader", no_sight)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for n in range(4):
        (folder / f"{n}.txt").write_text(f"Number {n} of the harbour.\n")
    (folder / ".hidden").write_text("no")
    return folder


async def proposed(session: Session, notes: Path) -> Proposal:
    outcome = await registry.run(session, f"/knowledge add '{notes}'")
    assert isinstance(outcome, Proposal), outcome
    return outcome


async def test_files_are_counted_as_they_are_added(session: Session, notes: Path) -> None:
    asked = await proposed(session, notes)
    assert (asked.confirmed, asked.activity, asked.pages, asked.unit) == (True, "adding files", 4, "file")
    assert session.memory.knowledge.memories(400) == []  # nothing is done yet
    counted = list[int]()
    told = await registry.carry_out(asked, counted.append)
    assert counted == [0, 1, 2, 3, 4]
    assert isinstance(told, TextResult)
    assert told.markdown.startswith("4 added, 1 passed over.")


async def test_what_was_added_stays_when_it_is_stopped(session: Session, notes: Path) -> None:
    def stop(done: int) -> None:
        if done == 2:
            raise Cancelled("Adding files")

    told = await registry.carry_out(await proposed(session, notes), stop)
    assert told == TextResult("Stopped: 2 files were added. Run the same command again to continue.")
    assert len(session.memory.knowledge.memories(400)) == 2


class FakeBar:
    def __init__(self) -> None:
        self.activities = list[str]()

    def update_info(self, *, doing: str) -> None:
        self.activities.append(doing)


async def test_the_status_bar_counts_files_as_files() -> None:
    bar: Any = FakeBar()
    count = PageProgress(bar, "adding files", 30, "file")
    count(12)
    await asyncio.sleep(0)
    count.cancel()
    assert bar.activities == [
        "adding files · about 30 files · Esc cancels",
        "adding files · file 12 of about 30 · Esc cancels",
        "adding files · stopping at the next file",
    ]
