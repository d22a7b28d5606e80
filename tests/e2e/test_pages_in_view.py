"""Pages in view, as a real mlx_vlm.server receives them: a tiny Qwen3-VL in a process of its own."""

import base64
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from foundation.paths import Workspace
from memory.memory import Memory
from memory.pages.read.exact import PageReading, read_exact
from tests.e2e.conftest import Palimpsest
from tests.e2e.conversation import talk_jsonl
from tests.e2e.recording_proxy import RecordingProxy
from tests.scripted_vision_models import scripted_qwen3_vl

pytestmark = [
    pytest.mark.skipif(find_spec("mlx_vlm") is None, reason="mlx-vlm has no build for this platform"),
    pytest.mark.slow,
    pytest.mark.timeout(240),  # the server imports mlx-vlm: seconds on a busy machine
]

REPLY = "Nine grey herons stood by 白色 water."
MODEL = "Qwen3-VL-tiny"


@pytest.fixture(scope="module")
def seeing_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """mlx_vlm.server with the tiny model loaded: http://127.0.0.1:port."""
    folder = scripted_qwen3_vl(tmp_path_factory.mktemp("mlx-vlm") / MODEL, REPLY, context=32_768)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    here = {**os.environ, "HF_HUB_OFFLINE": "1", "MLX_DISABLE_COMPILE": "1", "HF_HOME": str(folder.parent)}
    command = [sys.executable, "-m", "mlx_vlm.server", "--host", "127.0.0.1", "--port", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([*command, "--model", str(folder)], env=here, **quiet)
    address = f"http://127.0.0.1:{port}"
    wait_until_healthy(address)
    yield address
    server.terminate()
    server.wait(20)


@pytest.fixture
def watched(seeing_server: str) -> Iterator[RecordingProxy]:
    with RecordingProxy(seeing_server) as proxy:
        yield proxy


def wait_until_healthy(address: str) -> None:
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    pytest.fail("mlx_vlm.server did not come up")


def loaded(address: str) -> str:
    """The name under which the server knows its model: the folder's path."""
    with urllib.request.urlopen(f"{address}/health", timeout=5) as answer:
        return str(json.loads(answer.read())["loaded_model"])


def pages(chat: dict[str, Any]) -> list[bytes]:
    """The PNGs in a request as it went over the wire, in their order."""
    urls = [
        part["image_url"]["url"]
        for message in chat["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]
    assert all(url.startswith("data:image/png;base64,") for url in urls)
    return [base64.b64decode(url.partition(",")[2], validate=True) for url in urls]


def said_on(page: PageReading) -> Iterator[tuple[str, str]]:
    """Each entry on a page: its id, and its words as the cells say them."""
    for n, head in enumerate(page.heads):
        assert head.head is not None
        end = page.heads[n + 1].begin - 1 if n + 1 < len(page.heads) else len(page.text)
        yield head.head.id, page.text[head.end : end]


def test_the_server_receives_the_very_pages_and_their_cells_say_what_was_said(
    palimpsest: Palimpsest, watched: RecordingProxy, tmp_path: Path
) -> None:
    (tmp_path / "talk.jsonl").write_text(talk_jsonl(300), encoding="utf-8")
    assert palimpsest("import", str(tmp_path / "talk.jsonl")).status == 0
    model = f"openai:{loaded(watched.upstream)}@{watched.address}/v1"
    settings = {"PALIMPSEST_MODELS_WINDOW": "8192", "PALIMPSEST_CONTEXT_RECALL": "false"}
    first = palimpsest("-p", "What did we talk about?", "-c", "--model", model, "--output-format", "json", **settings)
    assert first.status == 0, first.err
    assert first.json["text"] == REPLY
    second = palimpsest("-p", "And then?", "-c", "--model", model, "--output-format", "json", **settings)
    assert second.status == 0, second.err
    assert len(watched.chats) == 2

    received = pages(watched.chats[0])
    figures = first.json["context"]["pages"]
    assert figures["count"] == len(received) > 0
    assert figures["tokens"] < figures["stands_for"]
    memory = Memory.open(Workspace(tmp_path / "ws"))
    seen = 0
    for png in received:
        page = read_exact(png)
        assert page.trust.value == "exact"
        for ref, words in said_on(page):
            whole = memory.passage(memory.cold.find(ref)).text
            assert words == whole or (words.endswith("…") and whole.startswith(words[:-1]))
            seen += 1
    memory.close()
    assert seen >= 40

    assert pages(watched.chats[1]) == received  # another process, the very same bytes
    before, after = watched.chats[0]["messages"], watched.chats[1]["messages"]
    assert after[: len(before)] == before
    unchanged = second.json["context"]
    assert unchanged["unchanged_prefix_tokens"] == unchanged["previous_tokens"]


def test_the_server_counts_each_page_as_the_profile_does(
    watched: RecordingProxy,
) -> None:
    """Its usage, less the same words without pictures, is 32-pixel patches: the arithmetic that the gate goes by."""

    def counted(content: list[dict[str, Any]]) -> int:
        body = {"model": loaded(watched.upstream), "max_tokens": 1, "messages": [{"role": "user", "content": content}]}
        asked = urllib.request.Request(
            f"{watched.upstream}/v1/chat/completions",
            json.dumps(body).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return int(json.loads(answer.read())["usage"]["prompt_tokens"])

    words: dict[str, Any] = {"type": "text", "text": "Hello."}
    for side, tokens in ((512, 258), (640, 402)):
        held = BytesIO()
        Image.new("1", (side, side), 1).save(held, "PNG")
        uri = f"data:image/png;base64,{base64.b64encode(held.getvalue()).decode()}"
        picture = {"type": "image_url", "image_url": {"url": uri}}
        assert counted([picture, words]) - counted([words]) == tokens
