"""What is loaded before a model is asked: none of the heavy things."""

import subprocess
import sys

import pytest

HEAVY = (
    "httpx2",
    "httpcore2",
    "anyio",
    "mlx",
    "mlx_lm",
    "numpy",
    "transformers",
    "tokenizers",
    "PIL",
    "rapidocr",
    "onnxruntime",
    "mcp",
    "mcp_types",
    "pydantic",
)


def loaded_by(code: str) -> set[str]:
    check = f"{code}\nimport sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import models.chat.port, models.messages, models.tokens, models.settings, models.errors",
        "import models.chat.open, models.chat.detect, models.ocr.open",
        "from models.chat.open import open_model\nfrom models.settings import ModelSettings\n"
        "for spec in ('offline', 'openai:m', 'ollama:m', 'lmstudio:m', 'llamacpp:m', 'anthropic:m', 'mlx:m'):\n"
        "    open_model(spec, settings=ModelSettings(), env={})",
        "from models.embed.open import open_embedder\nfrom models.embed.settings import EmbedSettings\n"
        "from models.settings import ModelSettings\n"
        "for spec in ('none', 'openai:m', 'ollama:m', 'lmstudio:m', 'llamacpp:m'):\n"
        "    open_embedder(spec, settings=EmbedSettings(), models=ModelSettings(), env={})",
        "import agent.config.embedder, agent.config.settings, memory.search.embedding",
        "import agent.mcp.servers, agent.doctor.mcp_checks, agent.commands.registry",
        "from pathlib import Path\nfrom agent.mcp.open import open_servers\n"
        "from agent.mcp.settings import McpSettings\nfrom agent.tools.port import ToolSettings\n"
        "servers = open_servers(McpSettings(servers={'a': {'command': 'x'}}), ToolSettings(), {}, (Path('/'),))\n"
        "assert servers.is_configured",
    ],
    ids=[
        *("words", "faces", "every provider opened", "embedders opened", "embedding set"),
        *("MCP", "MCP servers configured"),
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_used(code: str) -> None:
    assert loaded_by(code) == set()


def test_the_check_itself_sees_what_is_loaded() -> None:
    assert "httpx2" in loaded_by("import httpx2")
