"""A real llama.cpp server in this process, with a scripted model. Fixtures to import into a conftest:

from tests.servers import llama_server, scripted_llama  # noqa: F401
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.scripted_models import CHATML, scripted_gguf

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
    """Starts a server: `scripted_llama(reply, context=4096, template=CHATML)`. They end with the session."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="llama.cpp in process: no wheel for this platform")
    running: list[Any] = []

    def start(reply: str = REPLY, *, context: int = 4096, template: str = CHATML) -> LlamaServer:
        path = scripted_gguf(
            tmp_path_factory.mktemp("gguf") / "scripted.gguf", reply, context=context, template=template
        )
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
    parameters.verbosity = -1
    return xllamacpp.Server(parameters)
