"""Sessions with a model that observes."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.background import model_observation_job
from agent.session import Session
from foundation.paths import Workspace
from memory.settings import ObserveSettings
from tests.agent.observations.model_observer import MODELS, Open
from tests.agent.sessions import open_session
from tests.loopback import Loopback
from tests.servers import Scripted, scripted_llama  # noqa: F401 (fixtures)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry is enough for a request, and nobody has to be quiet for long."""
    monkeypatch.setattr(model_observation_job, "ENOUGH", 1)
    monkeypatch.setattr(model_observation_job, "QUIET_S", 0.01)


@pytest.fixture
def observer(second_server: Loopback) -> Loopback:
    """The server of the model that observes."""
    return second_server


@pytest.fixture
async def opened(server: Loopback, observer: Loopback, workspace: Workspace, tmp_path: Path) -> AsyncIterator[Open]:
    sessions: list[Session] = []

    def open_with(**observe: Any) -> Session:
        spec = f"openai:noter@{observer.address}/v1"
        settings = ObserveSettings(**{"model": spec, **observe})
        sessions.append(open_session(workspace, tmp_path, server, models=MODELS, observe=settings))
        return sessions[-1]

    yield open_with
    for session in sessions:
        await session.close()
