"""What a model's name, its server and the settings say of its size and abilities."""

import pytest

from models.chat.model_size import parameters_by_name
from models.chat.open import open_model
from models.chat.openai.probe import refine_profile
from models.chat.openai.provider import OpenAICompatible
from models.chat.port import ModelSize
from models.settings import ModelSettings, ProfileOverride
from tests.loopback import Loopback, json_reply
from tests.models.chat.events import request

SETTINGS = ModelSettings()


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("qwen2.5-coder-0.5b", 0.5),
        ("SmolLM2-135M-Instruct-Q4_K_M.gguf", 0.135),
        ("Qwen3-30B-A3B", 30),
        ("mixtral-8x7b", 56),
        ("llama3.2:1b", 1),
        ("mlx-community/Qwen3-4B-4bit", 4),
        ("Qwen2.5-7B-Instruct-1M", 7),
        ("gpt-4o-mini", None),
        ("claude-sonnet-4-5", None),
        ("gemma-3n-e4b", None),
        ("model-0b", None),
    ],
)
def test_a_size_is_read_from_the_name(name: str, billions: float | None) -> None:
    assert parameters_by_name(name) == billions


def size_of(spec: str, settings: ModelSettings = SETTINGS) -> ModelSize:
    return open_model(spec, settings=settings, env={}).profile.size


def test_a_model_is_small_up_to_some_4_billion_parameters() -> None:
    assert size_of("ollama:llama3.2:3b") is ModelSize.SMALL
    assert size_of("ollama:qwen3:8b") is ModelSize.LARGE
    assert size_of("llamacpp:default") is ModelSize.UNKNOWN


def llamacpp(temperature: float = 0.8, parameters: int = 494_032_768) -> tuple[tuple[str, dict[str, object]], ...]:
    props = {"default_generation_settings": {"n_ctx": 4096, "params": {"temperature": temperature}}}
    props |= {"chat_template_caps": {"supports_tools": True}, "model_path": "/m/Coder-Q4.gguf"}
    return ("/props", props), ("/v1/models", {"data": [{"id": "m", "meta": {"n_params": parameters}}]})


OLLAMA = {"model_info": {"general.parameter_count": 8_030_261_248}, "details": {}}


async def prepared(
    spec: str, *answers: tuple[str, dict[str, object]], settings: ModelSettings = SETTINGS
) -> OpenAICompatible:
    """The model of a server that gives these answers. `{}` in the spec is its address."""
    with Loopback() as server:
        for path, answer in answers:
            server.answers(path, json_reply(answer))
        model = open_model(spec.format(server.address), settings=settings, env={})
        assert isinstance(model, OpenAICompatible)
        await model.prepare()
        await model.close()
        return model


async def test_a_server_tells_the_parameters() -> None:
    small = await prepared("openai:m@{}", *llamacpp())
    assert small.profile.parameters_b == pytest.approx(0.494, abs=0.001)
    assert small.profile.is_small
    large = await prepared("ollama:llama@{}", ("/api/show", OLLAMA))
    assert large.profile.size is ModelSize.LARGE


async def test_settings_come_first_by_the_spec_the_name_or_the_file() -> None:
    for pattern in ("openai:m@*", "m", "Coder-*.gguf"):
        settings = ModelSettings(profiles={pattern: ProfileOverride(tools="text", small=False, system=False)})
        profile = (await prepared("openai:m@{}", *llamacpp(), settings=settings)).profile
        assert (profile.tools, profile.text_tools, profile.size) == (False, True, ModelSize.LARGE)
        assert not profile.system_role
    others = ModelSettings(profiles={"n": ProfileOverride(tools="text")}, tool_calls="native")
    assert (await prepared("openai:m@{}", *llamacpp(), settings=others)).profile.tools


def test_a_model_may_be_offered_no_tools() -> None:
    settings = ModelSettings(profiles={"tiny": ProfileOverride(tools="none")}, tool_calls="native")
    profile = open_model("llamacpp:tiny", settings=settings, env={}).profile
    assert not profile.calls_tools


async def test_a_small_local_model_is_sampled_calmly() -> None:
    model = await prepared("openai:m@{}", *llamacpp())
    asked = request(temperature=None)
    body = model.body(asked)
    assert b'"temperature":0.3,"top_p":0.9,"repeat_penalty":1.05' in body
    assert body == model.body(asked)


async def test_sampling_is_left_alone_where_somebody_chose_it() -> None:
    asked = request(temperature=None)
    chosen = await prepared("openai:m@{}", *llamacpp(), settings=ModelSettings(temperature=1.0))
    assert b'"temperature":1.0' in chosen.body(asked)
    assert b"top_p" not in chosen.body(asked)
    for untouched in (
        await prepared("openai:m@{}", *llamacpp(temperature=0.6)),  # llama-server --temp 0.6
        await prepared("openai:m@{}", *llamacpp(parameters=32_000_000_000)),
        await prepared("ollama:llama@{}", ("/api/show", OLLAMA)),
        await prepared("openai:m@{}"),  # of no known kind
    ):
        assert b"temperature" not in untouched.body(asked)
        assert b"top_p" not in untouched.body(asked)


def sampled(spec: str) -> bool:
    model = open_model(spec, settings=SETTINGS, env={})
    assert isinstance(model, OpenAICompatible)
    body = model.body(request(temperature=None))
    assert (b"temperature" in body) == (b"top_p" in body)
    return b"top_p" in body


@pytest.mark.parametrize("host", ["http://127.0.0.1:8000", "http://192.168.1.7:8000", "http://[::1]:8000", "gpu.local"])
def test_a_small_model_at_a_near_address_is_sampled_calmly_whatever_the_server(host: str) -> None:
    assert sampled(f"openai:tiny-1b@{host}")
    assert sampled(f"llamacpp:tiny-1b@{host}")
    assert not sampled(f"openai:qwen3-32b@{host}")
    assert not sampled(f"openai:gpt-5@{host}")  # a proxy for a model elsewhere


@pytest.mark.parametrize("spec", ["llamacpp:tiny-1b", "openai:tiny-1b"])
def test_a_public_server_gets_no_sampling(spec: str) -> None:
    assert not sampled(f"{spec}@https://models.example")
    assert not sampled(f"{spec}@http://93.184.216.34:8000")


async def test_system_text_begins_the_first_user_message_of_a_model_that_ignores_it() -> None:
    from models.messages import Tool, system

    given = ModelSettings(profiles={"m": ProfileOverride(system=False, tools="text")})
    model = await prepared("openai:m@{}", *llamacpp(), settings=given)
    tool = Tool("read_file", "Read a file.", {"type": "object", "properties": {}})
    body = model.body(request(system("Be brief."), "Hello?", tools=(tool,))).decode()
    assert '"role":"system"' not in body
    assert body.index("Be brief.") < body.index("read_file") < body.index("Hello?")


def test_a_profile_is_refined_by_the_name_of_the_file() -> None:
    from models.chat.openai.probe import ProbeResult

    known = open_model("llamacpp:default", settings=SETTINGS, env={}).profile
    refined = refine_profile(known, ProbeResult(server="llamacpp", known_as="Qwen2.5-1.5B-Q4.gguf"), SETTINGS)
    assert refined.parameters_b == 1.5
