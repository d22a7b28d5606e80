"""A store for records."""

from collections.abc import Iterator

import pytest

from foundation.paths import Workspace
from foundation.text.analysis import Analyser
from memory.cold import ColdStore
from tests.fakes import FakeClock


@pytest.fixture
def cold(workspace: Workspace, clock: FakeClock) -> Iterator[ColdStore]:
    store = ColdStore.open(workspace.database, analyse=Analyser(workspace.entities_yaml), clock=clock)
    yield store
    store.close()
