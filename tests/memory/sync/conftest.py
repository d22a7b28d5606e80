"""Three devices and a folder that they share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.memory.sync.devices import Laptop


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "shared"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Laptop]:
    device = Laptop(tmp_path / "desk" / "ws", "desk")
    yield device
    device.close()


@pytest.fixture
def laptop(tmp_path: Path) -> Iterator[Laptop]:
    device = Laptop(tmp_path / "laptop" / "ws", "laptop")
    yield device
    device.close()
