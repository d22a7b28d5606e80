"""Finding the models at hand: documented answers on loopback, a real llama.cpp, and no one at all."""

import socket
from collections.abc import Iterator

import pytest

from models.chat.detect import detect, probe_address, probe_window
from models.chat.open import open_model
from models.chat.openai.probe import has_vision_by_name
from models.chat.port import ImageRule
from models.settings import ModelSettings
from tests.loopback import Loopback, Received, Stall, http, json_reply
from tests.servers import LlamaServer

TAGS = {
    "models": [
        {"name": "llama3.2:latest", "model": "llama3.2:latest", "size": 2019393189, "details": {"family": "llama"}},
        {"name": "llava:7b", "model": "llava:7b", "size": 1, "details": {"family": "llama"}},
    ]
}
SHOW = {
    "parameters": 'num_ctx                        16384\nstop                           "<|eot_id|>"',
    "details": {"family": "llama", "parameter_size": "3.2B"},
    "model_info": {"general.architecture": "llama", "llama.context_length": 131072},
    "capabilities": ["completion", "tools", "vision"],
}
LMSTUDIO = {
    "object": "list",
    "data": [
        {"id": "text-embedding-nomic", "type": "embeddings", "state": "not-loaded", "max_context_length": 2048},
        {"id": "qwen3-8b", "object": "model", "type": "llm", "state": "not-loaded", "max_context_length": 40960},
        {
            "id": "qwen2-vl-7b-instruct",
            "object": "model",
            "type": "vlm",
            "arch": "qwen2_vl",
            "state": "loaded",
            "max_context_length": 32768,
            "loaded_context_length": 12000,
            "capabilities": ["tool_use"],
        },
    ],
}


@pytest.fixture
def nobody() -> Iterator[str]:
    """A port on which no one listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


def ollama(server: Loopback, *, loaded: int | None = None) -> None:
    server.answers("/api/tags", json_reply(TAGS))
    server.answers("/api/show", json_reply(SHOW))
    running = [{"name": "llama3.2:latest", "model": "llama3.2:latest", "context_length": loaded}] if loaded else []
    server.answers("/api/ps", json_reply({"models": running}))


async def test_ollama_tells_what_a_loaded_model_really_holds(loopback: Loopback) -> None:
    ollama(loopback, loaded=4096)
    found = await detect({"OLLAMA_HOST": loopback.address}, addresses={"lmstudio": "", "llamacpp": ""})
    first, second = found
    assert first.spec == "ollama:llama3.2:latest"
    assert (first.profile.window, first.profile.window_known) == (4096, True)
    assert first.profile.tools
    assert first.names == ("llama3.2:latest", "llava:7b")
    assert second.profile.window == 16384, "not loaded: what its Modelfile sets, not what it was trained for"
    assert second.profile.vision


async def test_ollama_that_sets_nothing_is_held_for_the_least(loopback: Loopback) -> None:
    ollama(loopback)
    loopback.answers("/api/show", json_reply(SHOW | {"parameters": ""}))
    profile = await probe_window(f"ollama:llama3.2@{loopback.address}", {})
    assert (profile.window, profile.window_known) == (4096, False)


async def test_lm_studio_tells_what_is_loaded(loopback: Loopback) -> None:
    loopback.answers("/api/v0/models", json_reply(LMSTUDIO))
    found = await detect({}, addresses={"ollama": "", "lmstudio": loopback.address, "llamacpp": ""})
    assert [one.provider for one in found] == ["lmstudio", "lmstudio"]
    first = found[0]
    assert first.spec == f"lmstudio:qwen2-vl-7b-instruct@{loopback.address}/v1"
    assert (first.profile.window, first.profile.images, first.profile.tools) == (12000, ImageRule.QWEN2, True)
    assert not found[1].profile.window_known, "what is not loaded has no window yet"
    assert "text-embedding-nomic" not in first.names


async def test_a_real_llama_server_is_found_with_its_window(llama_server: LlamaServer) -> None:
    found = await detect({}, addresses={"ollama": "", "lmstudio": "", "llamacpp": llama_server.address})
    assert len(found) == 1
    assert found[0].provider == "llamacpp"
    assert found[0].spec == f"llamacpp:scripted@{llama_server.address}/v1"
    assert (found[0].profile.window, found[0].profile.window_known) == (4096, True)
    assert open_model(found[0].spec, settings=ModelSettings(), env={}).profile.name == "scripted"


async def test_mlx_lms_server_is_told_from_llama_cpp(loopback: Loopback) -> None:
    rows = [{"id": "mlx-community/Qwen3-4B-4bit", "object": "model", "created": 1}]
    loopback.answers("/v1/models", json_reply({"object": "list", "data": rows}))
    found = await probe_address(loopback.address, {}, provider="llamacpp")
    assert [(one.provider, one.spec) for one in found] == [
        ("mlx_lm", f"openai:mlx-community/Qwen3-4B-4bit@{loopback.address}/v1")
    ]
    loopback.answers("/v1/models", http(b""))  # as it answers where the hub's cache folder is missing
    assert await probe_address(loopback.address, {}) == []
    loopback.answers("/health", json_reply({"status": "ok"}))
    assert (await probe_address(loopback.address, {}))[0].names == ("default_model",)


async def test_another_openai_server_may_tell_its_length(loopback: Loopback) -> None:
    rows = [{"id": "big", "object": "model", "owned_by": "vllm", "max_model_len": 32000}]
    loopback.answers("/v1/models", json_reply({"object": "list", "data": rows}))
    found = await probe_address(loopback.address, {})
    assert [(one.provider, one.profile.window) for one in found] == [("openai", 32000)]


async def test_no_one_and_nonsense_and_silence_are_answers_too(loopback: Loopback, nobody: str) -> None:
    with Loopback() as silent:
        for path in ("/api/tags", "/api/v0/models", "/v1/models", "/props"):
            silent.answers(path, [Stall()])
        loopback.answers("/api/tags", json_reply(["nonsense"]))
        addresses = {"ollama": loopback.address, "lmstudio": nobody, "llamacpp": silent.address}
        assert await detect({}, timeout=0.2, addresses=addresses) == []  # the silent one would be silent for ever


async def test_a_question_without_an_answer_does_not_hide_the_others(loopback: Loopback) -> None:
    loopback.answers("/api/tags", [Stall()])
    rows = [{"id": "big", "object": "model", "owned_by": "vllm"}]
    loopback.answers("/v1/models", json_reply({"object": "list", "data": rows}))
    found = await detect({}, timeout=0.4, addresses={"ollama": "", "lmstudio": "", "llamacpp": loopback.address})
    assert [one.names for one in found] == [("big",)]


async def test_keys_in_the_environment_are_offered_and_not_used(loopback: Loopback) -> None:
    env = {
        "ANTHROPIC_API_KEY": "a",
        "OPENAI_API_KEY": "o",
        "PALIMPSEST_DETECT": f"ollama={loopback.address},lmstudio=,llamacpp=",
    }
    found = await detect(env)
    assert [one.provider for one in found] == ["anthropic", "openai"]
    assert all(one.profile.remote for one in found)
    assert loopback.requests, "the local server was asked"
    assert not any(_carries_a_key(request) for request in loopback.requests)


def _carries_a_key(request: Received) -> bool:
    return "authorization" in request.headers or "x-api-key" in request.headers


async def test_detection_can_be_switched_off() -> None:
    assert await detect({"PALIMPSEST_DETECT": "off"}) == []


async def test_mlx_vlm_server_is_told_by_its_rows_and_says_its_window(loopback: Loopback) -> None:
    rows = [{"id": "mlx-community/Qwen3-VL-4B-4bit", "object": "model", "created": 1, "loaded": True}]
    loopback.answers("/v1/models", json_reply({"object": "list", "data": rows}))
    health = {"status": "healthy", "loaded_model": rows[0]["id"], "effective_context_limit": 20_000}
    loopback.answers("/health", json_reply(health))
    found = await probe_address(loopback.address, {}, provider="llamacpp")
    assert [one.provider for one in found] == ["mlx_vlm"]
    assert (found[0].profile.window, found[0].profile.images) == (20_000, ImageRule.QWEN3)


async def test_what_openrouter_says_a_model_takes_goes_before_its_name(loopback: Loopback) -> None:
    rows = [
        {"id": "a/some-model", "architecture": {"input_modalities": ["text", "image"]}, "owned_by": "a"},
        {"id": "b/qwen2.5-vl-text-only", "architecture": {"input_modalities": ["text"]}, "owned_by": "b"},
    ]
    loopback.answers("/v1/models", json_reply({"data": rows}))
    found = await probe_address(loopback.address, {}, provider="llamacpp")
    assert [one.profile.vision for one in found] == [True, False]


async def test_where_no_server_says_it_the_name_tells_who_sees(loopback: Loopback) -> None:
    rows = [{"id": name, "owned_by": "vllm"} for name in ("Qwen/Qwen2.5-VL-7B-Instruct", "Qwen/Qwen3-8B")]
    loopback.answers("/v1/models", json_reply({"data": rows}))
    found = await probe_address(loopback.address, {}, provider="llamacpp")
    assert [one.profile.images for one in found] == [ImageRule.QWEN2, ImageRule.NONE]


async def test_llama_cpp_with_a_projector_sees_as_its_file_is_called(loopback: Loopback) -> None:
    props = {
        "default_generation_settings": {"n_ctx": 9000},
        "model_path": "/models/Qwen3-VL-8B-Instruct-Q4_K_M.gguf",
        "modalities": {"vision": True, "audio": False},
    }
    loopback.answers("/props", json_reply(props))
    profile = await probe_window(f"openai:default@{loopback.address}/v1", {})
    assert (profile.images, profile.known_as) == (ImageRule.QWEN3, "Qwen3-VL-8B-Instruct-Q4_K_M.gguf")


@pytest.mark.parametrize(
    ("name", "sees"),
    [
        ("qwen2.5vl:7b", True),
        ("Qwen3-VL-8B-Instruct", True),
        ("llava:13b", True),
        ("gemma-3-4b-it", True),
        ("gemma-3-1b-it", None),
        ("qwen3-8b", None),
        ("llama3.2:latest", None),
        ("gpt-oss-20b", None),
    ],
)
def test_a_name_says_that_a_model_sees_or_nothing(name: str, sees: bool | None) -> None:
    assert has_vision_by_name(name) is sees
