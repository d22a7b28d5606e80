"""What the tests of models share: a real llama.cpp server, a scripted one on loopback, and short waits."""

from collections.abc import Iterator

import pytest

from models.settings import ModelSettings
from tests.loopback import Loopback
from tests.servers import llama_server, scripted_llama, vision_server  # noqa: F401 (fixtures)


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    with Loopback() as server:
        yield server


@pytest.fixture
def hasty() -> ModelSettings:
    """Settings that do not make a test wait."""
    return ModelSettings(
        connect_timeout=2, first_byte_timeout=2, stall_timeout=0.3, retries=2, retry_wait=0.01, longest_wait=0.5
    )
