"""`provider:name[@address]`, where a key may go, and what a name alone tells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.errors import Misuse
from models.chat.open import open_model
from models.chat.port import ImageRule
from models.chat.spec import ModelSpec, address_of, key_of, parse_spec
from models.settings import ModelSettings


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("offline", ModelSpec("offline", "offline")),
        ("openai:gpt-4.1", ModelSpec("openai", "gpt-4.1")),
        ("openai:qwen3@http://127.0.0.1:8080/v1", ModelSpec("openai", "qwen3", "http://127.0.0.1:8080/v1")),
        ("openai:org/m@2024", ModelSpec("openai", "org/m@2024")),
        ("openai:a@b@http://[::1]:80/v1", ModelSpec("openai", "a@b", "http://[::1]:80/v1")),
        ("ollama:llama3.2:3b", ModelSpec("ollama", "llama3.2:3b")),
        ("ollama:llama3.2@box.local:11434", ModelSpec("ollama", "llama3.2", "box.local:11434")),
        ("llamacpp:any@localhost", ModelSpec("llamacpp", "any", "localhost")),
        ("mlx:/models/a@b", ModelSpec("mlx", "/models/a@b")),
        ("openai:m@127.0.0.1:18765/v1", ModelSpec("openai", "m", "127.0.0.1:18765/v1")),
        ("openai:m@HTTP://127.0.0.1:8080/v1", ModelSpec("openai", "m", "http://127.0.0.1:8080/v1")),
        ("openai:m@word@https://api.openai.com/v1", ModelSpec("openai", "m@word", "https://api.openai.com/v1")),
        (" mlx:mlx-community/Qwen3-4B-4bit ", ModelSpec("mlx", "mlx-community/Qwen3-4B-4bit")),
    ],
)
def test_a_spec_is_taken_apart(text: str, spec: ModelSpec) -> None:
    assert parse_spec(text) == spec
    assert parse_spec(str(spec)) == spec


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gpt-4",
        "openai",
        "openai:",
        "ollama: ",
        "nobody:x",
        "offline:x",
        "mlx:",
        "openai:x@http://h:99999/v1",
        "openai:x@http://",
    ],
)
def test_what_names_no_model_is_a_misuse_with_a_sentence(text: str) -> None:
    with pytest.raises(Misuse) as raised:
        parse_spec(text)
    assert raised.value.message
    assert raised.value.hint


@pytest.mark.parametrize(
    "address",
    [
        "",
        "htp://127.0.0.1:8080/v1",
        "file:///etc/passwd",
        "http:/127.0.0.1/v1",
        "http//127.0.0.1/v1",
        "http:127.0.0.1:8080",
        "http://",
        "http://:8080/v1",
        "http://a b/v1",
        "http://127.0.0.1\\v1",
        "127.0.0.1:80 80/v1",
        "127.0.0.1:port/v1",
        "[::1/v1",
        "box",
        "/v1",
    ],
)
@pytest.mark.parametrize("provider", ["openai", "anthropic", "ollama"])
def test_a_mistyped_address_is_a_misuse_and_never_the_providers_own_server(provider: str, address: str) -> None:
    with pytest.raises(Misuse):
        parse_spec(f"{provider}:m@{address}")


def test_a_key_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(Misuse) as raised:
        parse_spec("openai:x@https://me:sk-secret@host/v1")
    assert "sk-secret" not in raised.value.message + raised.value.hint


@given(st.text(max_size=40))
def test_any_text_is_a_spec_or_a_misuse(text: str) -> None:
    try:
        spec = parse_spec(text)
    except Misuse:
        return
    assert parse_spec(str(spec)) == spec


@pytest.mark.parametrize(
    ("text", "env", "address"),
    [
        ("openai:m", {}, "https://api.openai.com/v1"),
        ("openai:m", {"OPENAI_BASE_URL": "https://llm.example/api/v1/"}, "https://llm.example/api/v1"),
        ("openai:m@http://127.0.0.1:8080", {}, "http://127.0.0.1:8080/v1"),
        ("openai:m@llm.example", {}, "https://llm.example/v1"),
        ("ollama:m", {}, "http://127.0.0.1:11434/v1"),
        ("ollama:m", {"OLLAMA_HOST": "0.0.0.0:11500"}, "http://127.0.0.1:11500/v1"),
        ("ollama:m", {"OLLAMA_HOST": "box"}, "http://box:11434/v1"),
        ("lmstudio:m", {}, "http://127.0.0.1:1234/v1"),
        ("llamacpp:m", {}, "http://127.0.0.1:8080/v1"),
        ("llamacpp:m@http://[::1]:9/", {}, "http://[::1]:9/v1"),
        ("anthropic:m", {}, "https://api.anthropic.com"),
        ("anthropic:m@http://127.0.0.1:9/", {}, "http://127.0.0.1:9"),
    ],
)
def test_where_a_model_is(text: str, env: dict[str, str], address: str) -> None:
    assert address_of(parse_spec(text), env) == address


KEYS = {"OPENAI_API_KEY": "for-openai", "ANTHROPIC_API_KEY": "for-anthropic"}


@pytest.mark.parametrize(
    ("text", "more", "key"),
    [
        ("openai:m", {}, "for-openai"),
        ("openai:m@https://api.openai.com/v1", {}, "for-openai"),
        ("openai:m@http://127.0.0.1:8080/v1", {}, "for-openai"),
        ("openai:m@https://elsewhere.example/v1", {}, ""),
        ("openai:m@https://elsewhere.example/v1", {"OPENAI_BASE_URL": "https://elsewhere.example/v1"}, "for-openai"),
        ("openai:m@https://elsewhere.example/v1", {"PALIMPSEST_OPENAI_KEY": "ours"}, "ours"),
        ("anthropic:m", {}, "for-anthropic"),
        ("anthropic:m@https://elsewhere.example", {}, ""),
        ("ollama:m", {}, ""),
        ("ollama:m", {"PALIMPSEST_OLLAMA_KEY": "ours"}, "ours"),
        ("lmstudio:m", {}, ""),
    ],
)
def test_a_key_for_one_company_is_not_shown_to_another(text: str, more: dict[str, str], key: str) -> None:
    assert key_of(parse_spec(text), KEYS | more) == key


@pytest.mark.parametrize(
    ("text", "window", "known", "remote", "images"),
    [
        ("offline", 8192, True, False, ImageRule.NONE),
        ("ollama:llama3.2", 4096, False, False, ImageRule.NONE),
        ("openai:gpt-4o", 128_000, True, True, ImageRule.OPENAI_TILES),
        ("openai:gpt-4o@http://127.0.0.1:8080/v1", 8192, False, False, ImageRule.NONE),
        ("anthropic:claude-sonnet-4-5", 200_000, True, True, ImageRule.ANTHROPIC),
        ("llamacpp:m@http://192.168.1.5:8080", 8192, False, True, ImageRule.NONE),
    ],
)
def test_what_a_name_alone_tells(text: str, window: int, known: bool, remote: bool, images: ImageRule) -> None:
    profile = open_model(text, settings=ModelSettings(), env={}).profile
    assert (profile.window, profile.window_known, profile.remote, profile.images) == (window, known, remote, images)
    assert profile.spec == text
