from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.cold import ColdStore
from tests.fakes import FakeClock
from tests.memory.cold.drafts import open_store


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "state" / "cold.db"


@pytest.fixture
def cold(database: Path, clock: FakeClock) -> Iterator[ColdStore]:
    store = open_store(database, clock)
    yield store
    store.close()
