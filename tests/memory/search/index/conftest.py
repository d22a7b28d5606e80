"""Segments of a few entries."""

import pytest

from memory.search.index import index, maintenance


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "DUE", 5)
    monkeypatch.setattr(maintenance, "AT_ONCE", 7)
