"""Each implementation of a port, the fakes among them, has every method that the port declares."""

import inspect
from typing import Any

import pytest

from agent.background.jobs import MirrorJob, ReindexJob, RepackJob, VectorJob
from agent.background.scheduler import BackgroundJob
from foundation.text.analysis import Analyser
from memory.archive.packs.pack_cache import CachedStorage
from memory.archive.packs.s3 import S3Storage
from memory.archive.packs.ssh import SshStorage
from memory.archive.packs.storage import LocalStorage, Storage
from memory.records import WorkspaceAnalyser
from models.chat.anthropic.provider import Anthropic
from models.chat.mlx.provider import MlxText
from models.chat.offline.provider import Offline
from models.chat.openai.provider import OpenAICompatible
from models.chat.port import ChatModel, TokenCounter
from models.embed.mlx import MlxEmbedder
from models.embed.onnx import OnnxEmbedder
from models.embed.port import Embedder
from models.embed.server import ServerEmbedder
from models.ocr.deepseek import DeepSeek
from models.ocr.port import OcrEngine
from models.ocr.rapidocr import RapidOcr
from models.ocr.server import VisionServer
from models.ocr.tesseract import Tesseract
from models.tokens import Estimate, Tokenizer
from tests.agent.background.test_scheduler import FakeJob
from tests.memory.archive.ocr_fakes import FakeEngine
from tests.memory.archive.repair.test_check import FakeStorage
from tests.memory.cold.drafts import FakeAnalyser
from tests.memory.search.vectors.fake_embedder import FakeEmbedder

PORTS: dict[type, tuple[type, ...]] = {
    BackgroundJob: (MirrorJob, RepackJob, ReindexJob, VectorJob, FakeJob),
    ChatModel: (Anthropic, MlxText, Offline, OpenAICompatible),
    Embedder: (MlxEmbedder, OnnxEmbedder, ServerEmbedder, FakeEmbedder),
    OcrEngine: (DeepSeek, RapidOcr, VisionServer, Tesseract, FakeEngine),
    Storage: (LocalStorage, CachedStorage, S3Storage, SshStorage, FakeStorage),
    TokenCounter: (Estimate, Tokenizer),
    WorkspaceAnalyser: (Analyser, FakeAnalyser),
}


def members(port: type) -> dict[str, Any]:
    """The public members that a port declares, its own and those of the ports it extends."""
    return {
        name: member
        for base in reversed(port.__mro__)
        if getattr(base, "_is_protocol", False)
        for name, member in vars(base).items()
        if (name == "__call__" and "__call__" in vars(base)) or not name.startswith("_")
    }


def lacking(implementation: type, port: type) -> list[str]:
    """The members that an implementation lacks, or that cannot be called as the port says."""
    assigned = "\n".join(inspect.getsource(base) for base in implementation.__mro__ if base is not object)
    found: list[str] = []
    for name, member in members(port).items():
        own = getattr(implementation, name, None)
        if isinstance(member, property):
            if own is None and f"self.{name} = " not in assigned and f"self.{name}: " not in assigned:
                found.append(name)
        elif not callable(own) or not _takes(own, member):
            found.append(f"{name}()")
    return found


def _takes(own: Any, declared: Any) -> bool:
    """Whether a method can be called with what the port's takes: positions by position, names by name."""
    parameters = inspect.signature(declared).parameters.values()
    positional = [each for each in parameters if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    named = {each.name: None for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY}
    try:
        inspect.signature(own).bind(*positional, **named)
    except TypeError:
        return False
    return True


@pytest.mark.parametrize(
    ("implementation", "port"), [(one, port) for port, several in PORTS.items() for one in several]
)
def test_an_implementation_has_what_its_port_declares(implementation: type, port: type) -> None:
    assert lacking(implementation, port) == []


def test_the_control_lacks_it() -> None:
    class Counter:
        name = "words"

        def count(self) -> int:
            return 0

    assert lacking(Counter, TokenCounter) == ["count()", "learn()"]
    assert lacking(Estimate, Embedder) == ["remote", "embed()", "close()"]
