"""Real servers with scripted models: llama.cpp in this process, mlx_vlm in one of its own. Fixtures for a conftest:

from tests.servers import llama_server, scripted_llama, vision_server  # noqa: F401
"""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.scripted_models import CHATML, conversing_gguf, scripted_gguf
from tests.scripted_vision_models import scripted_qwen3_vl

REPLY = "The lighthouse keeper counted seven white ships, 白色 sails and a 🐋 before dawn."


@dataclass(frozen=True)
class LlamaServer:
    """Where it is, and what it always says."""

    address: str  # http://127.0.0.1:port, without /v1
    reply: str
    model: str

    @property
    def spec(self) -> str:
        return f"openai:scripted@{self.address}/v1"


Scripted = Callable[..., LlamaServer]


@pytest.fixture(scope="session")
def scripted_llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scripted]:
    """Starts a server: `scripted_llama(reply, context=4096, template=CHATML)`. They end with the session.

    With `rules` in place of a reply the model converses and calls tools (tests/scripted_models.py).
    """
    xllamacpp = pytest.importorskip("xllamacpp", reason="llama.cpp in process: no wheel for this platform")
    running: list[Any] = []

    def start(
        reply: str = REPLY,
        *,
        context: int = 4096,
        template: str = CHATML,
        rules: Sequence[tuple[str, str]] = (),
    ) -> LlamaServer:
        path = tmp_path_factory.mktemp("gguf") / "scripted.gguf"
        if rules:
            conversing_gguf(path, rules, context=context)
        else:
            scripted_gguf(path, reply, context=context, template=template)
        server = start_llama(xllamacpp, path, context)
        running.append(server)
        return LlamaServer(server.listening_address, reply, str(path))

    yield start
    running.clear()


@pytest.fixture(scope="session")
def llama_server(scripted_llama: Scripted) -> LlamaServer:
    """One server for the whole session, which says REPLY."""
    return scripted_llama()


def start_llama(xllamacpp: Any, path: Path, context: int) -> Any:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.use_jinja = True
    parameters.warmup = False
    for threads in (parameters.cpuparams, parameters.cpuparams_batch):
        threads.n_threads = 1  # several would wait for one another by spinning
    parameters.verbosity = -1
    return xllamacpp.Server(parameters)


SEEN = "A grey heron stands by 白色 water: https://herons.example/7f3a9c21."


@pytest.fixture(scope="session")
def vision_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaServer]:
    """mlx_vlm.server with a tiny Qwen3-VL that sees pictures and says SEEN to any of them. `spec` asks it."""
    pytest.importorskip("mlx_vlm", reason="mlx-vlm has no build for this platform")
    folder = scripted_qwen3_vl(tmp_path_factory.mktemp("vision") / "heron", SEEN)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlx_vlm.server", "--host", "127.0.0.1", "--port", str(port)]
    here = {**os.environ, "HF_HUB_OFFLINE": "1", "MLX_DISABLE_COMPILE": "1", "HF_HOME": str(folder.parent)}
    log = (folder.parent / "server.log").open("wb")
    server = subprocess.Popen([*command, "--model", str(folder)], env=here, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/health", server)
        yield SpecServer(address, SEEN, str(folder))
    finally:
        server.terminate()
        server.wait(20)
        log.close()


class SpecServer(LlamaServer):
    """A server that goes by the model's own folder."""

    @property
    def spec(self) -> str:
        return f"openai:{self.model}@{self.address}/v1"


def _wait_for(url: str, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(600):
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with {server.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=1) as reply:
                if reply.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(url)
