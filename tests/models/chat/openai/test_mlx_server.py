"""A real mlx_lm.server, in a process of its own: found, told from llama.cpp, and asked."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from models.chat.detect import DetectedModel, probe_address
from models.chat.port import AnswerEnd, StopReason
from models.settings import ModelSettings
from tests.models.chat.events import events_of, words
from tests.scripted_models import scripted_mlx_chat

pytestmark = [
    pytest.mark.skipif(find_spec("mlx_lm") is None, reason="mlx-lm has no build for this platform"),
    pytest.mark.slow,
    pytest.mark.timeout(180),  # the server imports mlx-lm: seconds on a busy machine
]

REPLY = "Nine grey herons stood by 白色 water."


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = scripted_mlx_chat(tmp_path_factory.mktemp("mlx-server") / "heron", REPLY)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlx_lm", "server", "--model", str(folder), "--port", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    here = {**os.environ, "HF_HUB_OFFLINE": "1", "MLX_DISABLE_COMPILE": "1", "HF_HOME": str(Path(folder).parent)}
    server = subprocess.Popen(command, env=here, **quiet)
    yield f"http://127.0.0.1:{port}"
    server.terminate()
    server.wait(20)


async def found_at(address: str) -> list[DetectedModel]:
    for _ in range(400):
        if found := await probe_address(address, {}, provider="llamacpp"):
            return found
        await asyncio.sleep(0.25)
    return []


async def test_it_is_found_and_answers(address: str) -> None:
    found = await found_at(address)
    assert [(one.provider, one.names) for one in found] == [("mlx_lm", ("default_model",))]
    events = await events_of(found[0].spec, ModelSettings(temperature=0.0))
    assert words(events) == REPLY
    assert events[-1] == AnswerEnd(StopReason.STOP)
