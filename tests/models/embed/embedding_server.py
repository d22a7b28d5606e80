"""A real llama.cpp server in this process that embeds by the mean of its hidden states."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def embedding_llama(gguf: Path) -> Iterator[str]:
    """Its address, without /v1."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="llama.cpp in process: no wheel for this platform")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(gguf)
    parameters.n_ctx = 2048
    parameters.n_parallel = 1
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.warmup = False
    for threads in (parameters.cpuparams, parameters.cpuparams_batch):
        threads.n_threads = 1  # several would wait for one another by spinning
    parameters.verbosity = -1
    parameters.embedding = True
    parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(parameters)
    yield server.listening_address
    del server
