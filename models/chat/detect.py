"""Detection of available models: local servers on their usual ports, and keys in the environment.

Runs in the background after the first paint. All servers are probed at once with a short timeout; no answer is a
result, and nothing raises. mlx_lm.server shares port 8080 with llama.cpp; only llama.cpp has /props.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Coroutine, Mapping
from typing import Any, cast

from msgspec import Struct, structs

from foundation.bounded_json import Json
from models.chat.errors import Endpoint
from models.chat.http import Transport
from models.chat.open import open_model
from models.chat.openai import probe
from models.chat.openai.probe import JsonFetcher, ProbeResult
from models.chat.port import Profile
from models.chat.spec import DETECT_VARIABLE, ModelSpec, address_of, key_of, parse_spec
from models.settings import ModelSettings

LOCAL = ("ollama", "lmstudio", "llamacpp")
MOST_LISTED = 1_000  # models of one server that are offered
LONGEST_NAME = 500  # characters
MOST_ASKED = 12  # models of one server that are asked for their window


class DetectedModel(Struct, frozen=True, kw_only=True):
    """A model that can be selected. `names` are all models of the same server."""

    spec: str
    profile: Profile
    address: str
    provider: str  # what the server is: ollama | lmstudio | llamacpp | mlx_lm | mlx_vlm | openai | anthropic
    names: tuple[str, ...] = ()


async def detect(
    env: Mapping[str, str],
    *,
    timeout: float = 1.0,  # noqa: ASYNC109 (it bounds each server, and what came in time is kept)
    addresses: Mapping[str, str] | None = None,
    settings: ModelSettings | None = None,
) -> list[DetectedModel]:
    """Every available model: local servers first, then services whose key is set. Takes at most about 2 × timeout.

    `addresses` overrides the usual addresses by provider ("" skips one); so does the variable PALIMPSEST_DETECT:
    `ollama=http://127.0.0.1:9,lmstudio=,llamacpp=` (`off` probes none).
    """
    given = settings or ModelSettings()
    probes = _probes(env, timeout, _addresses(env) | dict(addresses or {}), given)
    local = [model for several in await asyncio.gather(*probes) for model in several]
    return local + services(env, given)


async def detect_each(
    env: Mapping[str, str],
    *,
    timeout: float = 1.0,  # noqa: ASYNC109 (see detect)
    settings: ModelSettings | None = None,
) -> AsyncGenerator[list[DetectedModel]]:
    """The models of each local server as soon as it answers, in any order."""
    for probe_ in asyncio.as_completed(_probes(env, timeout, _addresses(env), settings or ModelSettings())):
        if models := await probe_:
            yield models


def _probes(
    env: Mapping[str, str], timeout: float, addresses: Mapping[str, str], settings: ModelSettings
) -> list[Coroutine[Any, Any, list[DetectedModel]]]:
    return [
        _within(timeout, probe_address(address, env, provider=provider, timeout=timeout, settings=settings))
        for provider, address in addresses.items()
        if address
    ]


def _addresses(env: Mapping[str, str]) -> dict[str, str]:
    usual = {provider: address_of(ModelSpec(provider, "any"), env) for provider in LOCAL}
    addresses = env.get(DETECT_VARIABLE, "")
    if addresses == "off":
        return {}
    for pair in filter(None, (pair_text.strip() for pair_text in addresses.split(","))):
        provider, _, address = pair.partition("=")
        usual[provider] = address
    return usual


async def _within(seconds: float, detection: Awaitable[list[DetectedModel]]) -> list[DetectedModel]:
    try:
        async with asyncio.timeout(2 * seconds):
            return await detection
    except TimeoutError:
        return []


async def probe_address(
    address: str,
    env: Mapping[str, str],
    *,
    provider: str = "openai",
    timeout: float = 1.0,  # noqa: ASYNC109 (see detect)
    settings: ModelSettings | None = None,
) -> list[DetectedModel]:
    """The models of the server at `address`; none where nothing answers."""
    given = structs.replace(settings or ModelSettings(), connect_timeout=timeout)
    spec = ModelSpec(provider if provider in LOCAL else "openai", "any", address)
    base = address_of(spec, env)
    key = key_of(spec, env)
    headers = {"authorization": f"Bearer {key}"} if key else {}
    transport = Transport(Endpoint(provider, "any", base, key=key), given, headers)

    async def ask(url: str, body: Json | None = None) -> Json | None:
        try:
            async with asyncio.timeout(timeout):
                return await transport.ask(url, body)
        except TimeoutError:
            return None

    try:
        return await _Server(base, ask, given, env).models()
    finally:
        await transport.close()


async def probe_window(spec: str, env: Mapping[str, str], settings: ModelSettings | None = None) -> Profile:
    """The profile of `spec` with what its server reports. Raises Misuse for an invalid spec."""
    model = open_model(spec, settings=settings or ModelSettings(), env=env)
    try:
        return await model.prepare()
    finally:
        await model.close()


class _Server:
    """One address under probe."""

    def __init__(self, base: str, ask: JsonFetcher, settings: ModelSettings, env: Mapping[str, str]) -> None:
        self._base = base
        self._root = base.removesuffix("/v1")
        self._ask = ask
        self._settings = settings
        self._env = env

    async def models(self) -> list[DetectedModel]:
        """Its models, by the first protocol that answers."""
        return await self._ollama() or await self._lmstudio() or await self._openai_like()

    async def _ollama(self) -> list[DetectedModel]:
        tags = await self._ask(f"{self._root}/api/tags")
        return await self._several("ollama", "ollama", _names((tags or {}).get("models"), "name"))

    async def _lmstudio(self) -> list[DetectedModel]:
        listed = await self._ask(f"{self._root}/api/v0/models")
        rows = [row for row in _rows((listed or {}).get("data")) if row.get("type") not in {"embeddings", "embedding"}]
        if not any("state" in row or "max_context_length" in row for row in rows):
            return []
        rows.sort(key=lambda row: row.get("state") != "loaded")  # what is loaded answers at once
        return await self._several("lmstudio", "lmstudio", _names(rows, "id"))

    async def _openai_like(self) -> list[DetectedModel]:
        listed, props = await asyncio.gather(self._ask(f"{self._base}/models"), self._ask(f"{self._root}/props"))
        names = _names((listed or {}).get("data"), "id")
        if props is not None and "default_generation_settings" in props:
            # it answers to any name, and calls itself by the path of its file unless it was given another
            short = tuple(re.sub(r"^.*[/\\\\]|\.gguf$", "", name) for name in names)
            return await self._several("llamacpp", "llamacpp", short or ("default",))
        if listed is None or (not listed and await self._ask(f"{self._root}/health") != {"status": "ok"}):
            return []
        if listed and not isinstance(listed.get("data"), list):
            return []
        if any("owned_by" in row for row in _rows(listed.get("data"))):
            return await self._several("openai", "openai", names)
        if any("loaded" in row for row in _rows(listed.get("data"))):
            return await self._several("mlx_vlm", "openai", names)
        # mlx_lm.server names no owner, and answers with nothing where the hub's cache folder is missing
        return await self._several("mlx_lm", "openai", names or ("default_model",))

    async def _several(self, server: str, provider: str, names: tuple[str, ...]) -> list[DetectedModel]:
        names = tuple(name[:LONGEST_NAME] for name in names[:MOST_LISTED])
        results = await asyncio.gather(
            *(probe.probe_server(self._base, name, self._ask) for name in names[:MOST_ASKED])
        )
        results += [ProbeResult()] * (len(names) - len(results))
        return [
            self._found(server, ModelSpec(provider, name), names, result)
            for name, result in zip(names, results, strict=True)
        ]

    def _found(self, server: str, spec: ModelSpec, names: tuple[str, ...], result: ProbeResult) -> DetectedModel:
        own = address_of(spec, self._env) == self._base
        written = str(spec) if own else str(structs.replace(spec, address=self._base))
        known = open_model(written, settings=self._settings, env=self._env).profile
        profile = probe.refine_profile(known, result, self._settings)
        return DetectedModel(spec=written, profile=profile, address=self._base, provider=server, names=names)


def services(env: Mapping[str, str], settings: ModelSettings) -> list[DetectedModel]:
    """Services whose key is set. They are not probed: no key is used before the user selects its service."""
    known = (("anthropic", "claude-sonnet-4-5"), ("openai", "gpt-4.1"))
    services: list[DetectedModel] = []
    for provider, name in known:
        spec = ModelSpec(provider, name)
        if key_of(spec, env):
            profile = open_model(str(spec), settings=settings, env=env).profile
            address = address_of(parse_spec(str(spec)), env)
            services.append(
                DetectedModel(spec=str(spec), profile=profile, address=address, provider=provider, names=(name,))
            )
    return services


def _rows(value: object) -> list[Json]:
    rows = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("Json", row) for row in rows if isinstance(row, dict)]


def _names(value: object, key: str) -> tuple[str, ...]:
    return tuple(str(row[key]) for row in _rows(value) if row.get(key))
