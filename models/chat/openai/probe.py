"""Probes a server: its kind, its models, and the real window of one of them.

Every query goes through a `JsonFetcher`, which never raises; what a server does not report stays None.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, cast

import msgspec
from msgspec import Struct

from foundation.bounded_json import Json
from models.chat.model_size import override_for, parameters_by_name
from models.chat.port import ImageRule, Profile
from models.settings import ModelSettings

LLAMA_TEMPERATURE = 0.8  # llama.cpp's own default
LARGEST_WINDOW = 1_000_000_000  # tokens
_WINDOW_NAMES = (
    "max_model_len",  # vLLM, SGLang
    "context_length",  # OpenRouter, Together, SGLang
    "context_window",  # Groq
    "context_size",  # Novita
    "inputTokenLimit",  # Gemini's own list
    "max_context_window_tokens",  # GitHub Copilot, among the limits of the capabilities
    "loaded_context_length",
    "max_context_length",  # Mistral
    "n_ctx",  # llama.cpp
    "max_input_tokens",  # LiteLLM
    "max_total_tokens",  # TGI
    "max_total_num_tokens",  # SGLang: of its cache
    "max_seq_len",
)


class JsonFetcher(Protocol):
    """Fetches a URL by GET, or by POST with a body: a JSON object, {} for a 200 without one, or None."""

    def __call__(self, url: str, body: Json | None = None) -> Awaitable[Json | None]: ...


class ProbeResult(Struct, frozen=True, kw_only=True):
    """The report of a server. None: not reported."""

    server: str = ""  # llamacpp | ollama | lmstudio | mlx_lm | mlx_vlm | ""
    known_as: str = ""  # what the server calls the model itself
    window: int | None = None
    most: int | None = None  # what the model was trained for: the window may be smaller
    likely: int | None = None  # the window if nothing smaller is in force, which the server did not say
    vision: bool | None = None
    tools: bool | None = None
    system_role: bool | None = None
    parameters_b: float | None = None  # billions of parameters
    sets_sampling: bool = False  # whether the server's owner, or the model's file, chose the sampling
    slots: int | None = None


async def probe_server(address: str, model: str, ask: JsonFetcher) -> ProbeResult:
    """Probes the server at `address` (with its /v1) for `model`, as each known kind in turn; the first that answers
    counts."""
    root = address.removesuffix("/v1")
    probes: tuple[Callable[[str, str, JsonFetcher], Awaitable[ProbeResult | None]], ...] = (
        _llamacpp,
        _lmstudio,
        _ollama,
    )
    for result in await asyncio.gather(*(kind(root, model, ask) for kind in probes)):
        if result is not None:
            return result
    return await _any_other(address, model, ask)


async def _llamacpp(root: str, model: str, ask: JsonFetcher) -> ProbeResult | None:
    """llama.cpp: GET /props has n_ctx of a slot, modalities and what the chat template can do; /v1/models the size."""
    props = await ask(f"{root}/props")
    if props is None or "default_generation_settings" not in props:
        return None
    rows = _list((await ask(f"{root}/v1/models") or {}).get("data"))
    temperature = _object(_object(props["default_generation_settings"]).get("params")).get("temperature")
    caps = _object(props.get("chat_template_caps"))
    modalities = _object(props.get("modalities"))
    return ProbeResult(
        server="llamacpp",
        window=_count(_object(props["default_generation_settings"]).get("n_ctx")) or _count(props.get("n_ctx")),
        vision=_flag(modalities.get("vision")),
        tools=_flag(caps.get("supports_tools")),
        system_role=_flag(caps.get("supports_system_role")),
        parameters_b=_billions(_object(_object(rows[0]).get("meta")).get("n_params") if len(rows) == 1 else None),
        sets_sampling=isinstance(temperature, float) and abs(temperature - LLAMA_TEMPERATURE) > 0.001,
        slots=_count(props.get("total_slots")),
        known_as=re.sub(r"^.*[/\\]", "", str(props.get("model_path") or "")[-500:]),
    )


async def _lmstudio(root: str, model: str, ask: JsonFetcher) -> ProbeResult | None:
    """LM Studio: GET /api/v0/models has loaded_context_length where the model is loaded."""
    listing = await ask(f"{root}/api/v0/models")
    if listing is None:
        return None
    rows = [_object(row) for row in _list(listing.get("data"))]
    if not any("max_context_length" in row or "state" in row for row in rows):
        return None
    row = _first(rows, lambda row: row.get("id") == model)
    window = _count(row.get("loaded_context_length"))
    capabilities = _list(row.get("capabilities"))
    return ProbeResult(
        server="lmstudio",
        window=window,
        most=_count(row.get("max_context_length")),
        vision=row.get("type") == "vlm" if row else None,
        tools="tool_use" in capabilities if row else None,
    )


async def _ollama(root: str, model: str, ask: JsonFetcher) -> ProbeResult | None:
    """Ollama: /api/ps has a loaded model's real context, /api/show the one that its Modelfile sets.

    The length that a checkpoint was trained for is not the window: Ollama cuts at num_ctx, silently. It is an upper
    bound.
    """
    show, loaded = await asyncio.gather(ask(f"{root}/api/show", {"model": model}), ask(f"{root}/api/ps"))
    if show is None or ("model_info" not in show and "details" not in show):
        return None
    rows = [_object(row) for row in _list((loaded or {}).get("models"))]
    names = {model, f"{model}:latest"}
    running = _first(rows, lambda row: bool({row.get("name"), row.get("model")} & names))
    window = _count(running.get("context_length")) or _num_ctx(str(show.get("parameters") or ""))
    trained = next(
        (
            n
            for key, value in _object(show.get("model_info")).items()
            if key.endswith(".context_length") and (n := _count(value))
        ),
        None,
    )
    if window and trained:
        window = min(window, trained)
    capabilities = _list(show.get("capabilities"))
    known = bool(capabilities)
    return ProbeResult(
        server="ollama",
        window=window,
        most=trained,
        vision="vision" in capabilities if known else None,
        tools="tools" in capabilities if known else None,
        parameters_b=_billions(_object(show.get("model_info")).get("general.parameter_count")),
    )


def _num_ctx(parameters: str) -> int | None:
    match = re.search(r"^\s*num_ctx\s+(\d{1,9})\s*$", parameters, re.MULTILINE)
    return int(match[1]) if match else None


async def _any_other(address: str, model: str, ask: JsonFetcher) -> ProbeResult:
    """Other servers: a row of /v1/models may carry a length under one of the names in use, else another page.

    OpenRouter's row reports vision; for the others only the model's name tells.
    """
    listing = await ask(f"{address}/models")
    rows = [_object(row) for row in _list((listing or {}).get("data"))]
    row = _first(rows, lambda row: row.get("id") in {model, f"models/{model}"}) or (rows[0] if len(rows) == 1 else {})
    if "loaded" in row:
        return await _mlx_vlm(address.removesuffix("/v1"), model, ask)
    meta = _object(row.get("meta"))
    limits = _object(row.get("limits")), _object(_object(row.get("capabilities")).get("limits"))
    served = map(_stated, (row, meta, _object(row.get("top_provider")), *limits))
    window = min(filter(None, served), default=None) or await _stated_elsewhere(address.removesuffix("/v1"), model, ask)
    takes = _list(_object(row.get("architecture")).get("input_modalities"))
    return ProbeResult(
        window=window,
        likely=_count(meta.get("n_ctx_train")),
        vision="image" in takes if takes else has_vision_by_name(model),
    )


def _stated(given: Json) -> int | None:
    """The window in an object, under the first of the names in use that it has."""
    return next((n for name in _WINDOW_NAMES if (n := _count(given.get(name)))), None)


async def _stated_elsewhere(root: str, model: str, ask: JsonFetcher) -> int | None:
    """The smallest window that other pages state: a slot of llama.cpp, SGLang, TGI, or LiteLLM for this model."""
    slots, proxied, *pages = await asyncio.gather(
        *(ask(f"{root}/{page}") for page in ("slots", "v1/model/info", "get_server_info", "get_model_info", "info"))
    )
    rows = [_object(row) for row in _list((proxied or {}).get("data"))]
    row = _first(rows, lambda row: row.get("model_name") == model)
    given = [_object(slot) for slot in _list((slots or {}).get("data"))]
    given += [_object(row.get("model_info")), *(page or {} for page in pages)]
    return min(filter(None, map(_stated, given)), default=None)


async def _mlx_vlm(root: str, model: str, ask: JsonFetcher) -> ProbeResult:
    """mlx_vlm.server: GET /health has the window of the loaded model. It serves text models too."""
    health = await ask(f"{root}/health") or {}
    loaded = health.get("loaded_model") == model
    window = _count(health.get("effective_context_limit")) if loaded else None
    return ProbeResult(server="mlx_vlm", window=window, vision=has_vision_by_name(model))


def refine_profile(profile: Profile, result: ProbeResult, settings: ModelSettings) -> Profile:
    """The profile with the server's report; a user's setting takes precedence."""
    window, known = profile.window, profile.window_known
    if not settings.window and result.window:
        window, known = result.window, True
    elif not known:
        window = min(result.likely or window, result.most or LARGEST_WINDOW)
    images = profile.images
    vision = settings.vision if settings.vision is not None else result.vision
    if vision is not None:
        images = image_rule(f"{profile.name} {result.known_as}") if vision else ImageRule.NONE
    refined = msgspec.structs.replace(
        profile,
        window=window,
        window_known=known,
        images=images,
        known_as=result.known_as,
        system_role=result.system_role is not False,
        parameters_b=result.parameters_b or parameters_by_name(result.known_as) or profile.parameters_b,
    )
    return with_abilities(refined, result.tools, settings)


def with_abilities(profile: Profile, takes_tools: bool | None, settings: ModelSettings) -> Profile:
    """The profile with how tools are offered: natively unless the server says that it takes none, then in text.

    None: the server says nothing, and the profile stays. A small model gets them in text: of the calls that models of
    0.5 and 1.5 billion parameters wrote with native tools, llama.cpp recognised none, and most greetings became JSON.
    Settings take precedence, first those of this model.
    """
    override = override_for(profile, settings)
    system = profile.system_role if override.system is None else override.system
    profile = msgspec.structs.replace(profile, small=override.small, system_role=system)
    if settings.tools is False or override.tools == "none":
        return msgspec.structs.replace(profile, tools=False, text_tools=False)
    native = (takes_tools if takes_tools is not None else not profile.text_tools) and not profile.is_small
    if override.tools:
        native = override.tools == "native"
    elif settings.tool_calls != "auto":
        native = settings.tool_calls == "native"
    elif settings.tools:
        native = True
    return msgspec.structs.replace(profile, tools=native, text_tools=not native)


_RULES = (
    (r"qwen-?3.*vl|qwen3\.5|qwen3-omni", ImageRule.QWEN3),
    (r"gpt-(4\.1|5)-(mini|nano)|o4-mini", ImageRule.OPENAI_PATCHES),
    (r"^(gpt-|o[134]|chatgpt)", ImageRule.OPENAI_TILES),
    (r"claude", ImageRule.ANTHROPIC),
    (r"gemini|gemma-?[34]", ImageRule.GEMINI),
)


_SEES = re.compile(
    r"[-_/.]?vlm?\b|\dvl\b|vision|llava|pixtral|internvl|minicpm-?[vo]|moondream|smolvlm|idefics|molmo|paligemma|-omni"
    r"|gemma-?3-(?!1b|270m)|gemma-?4|qwen-?3\.5|kimi-vl|llama-?4|mistral-small-3\.[12]|-ocr",
    re.IGNORECASE,
)


def has_vision_by_name(name: str) -> bool | None:
    """True where models of this name are known to have vision; None where the name does not tell."""
    return True if _SEES.search(name) else None


def image_rule(name: str) -> ImageRule:
    """The most likely image token count for a vision model of this name; Qwen2-VL's by default."""
    return next((rule for pattern, rule in _RULES if re.search(pattern, name, re.IGNORECASE)), ImageRule.QWEN2)


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _first(rows: list[Json], fits: Callable[[Json], bool]) -> Json:
    return next((row for row in rows if fits(row)), cast("Json", {}))


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _count(value: object) -> int | None:
    """A plausible window in tokens; None for any other value."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 11:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 < value <= LARGEST_WINDOW else None


def _billions(parameters: object) -> float | None:
    return parameters / 1e9 if isinstance(parameters, int) and not isinstance(parameters, bool) and parameters else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
