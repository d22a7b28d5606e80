"""A workspace's memory with a folder of files beside it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from foundation.paths import Workspace
from memory.knowledge import ocr
from memory.knowledge.knowledge import Knowledge
from memory.memory import Memory
from tests.fakes import FakeClock


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine loads for seconds; the tests that read pictures bring eyes of their own."""
    monkeypatch.setattr(ocr, "installed_ocr_reader", lambda *_: None)


@pytest.fixture
def memory(workspace: Workspace, clock: FakeClock) -> Iterator[Memory]:
    opened = Memory.open(workspace, clock)
    yield opened
    opened.close()


@pytest.fixture
def knowledge(memory: Memory) -> Knowledge:
    return memory.knowledge


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """notes/{transformers.md, bread.txt, contracts/lease.txt}"""
    folder = tmp_path / "notes"
    (folder / "contracts").mkdir(parents=True)
    (folder / "transformers.md").write_text(
        "# Attention\n\nTransformers weigh tokens by attention.\n\n## Cost\n\nIt is quadratic in length: 512 tokens "
        "give 262,144 scores.\n",
        "utf-8",
    )
    (folder / "bread.txt").write_text("Feed the sourdough starter at nine.\n", "utf-8")
    (folder / "contracts" / "lease.txt").write_text("The lease ends in May 2027. Rent is 900 EUR.\n", "utf-8")
    return folder
