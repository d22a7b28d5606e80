"""Samples of attacks take some seconds each: their limit is longer than that of other tests."""

import os
from pathlib import Path

import pytest

HERE = f"{Path(__file__).parent}{os.sep}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if str(item.path).startswith(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.timeout(60))
