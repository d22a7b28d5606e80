"""Opens a model by its spec. Light: a provider is imported when it is chosen, and HTTP at the first request."""

import re
from collections.abc import Mapping

from models.chat.model_size import parameters_by_name
from models.chat.openai.probe import image_rule, with_abilities
from models.chat.port import ChatModel, ImageRule, Profile
from models.chat.quirks import quirks_of
from models.chat.spec import ModelSpec, address_of, is_loopback, key_of, key_variable, parse_spec
from models.settings import ModelSettings

UNKNOWN_WINDOW = 8192  # what most local servers can hold where none says
OLLAMA_WINDOW = 4096  # what Ollama gives a model where nothing else is set; longer prompts it cuts without a word
_WINDOWS = (  # what the makers document; the two services do not say it over their API
    (r"^gpt-4\.1", 1_000_000),
    (r"^gpt-5", 400_000),
    (r"^o[134]", 200_000),
    (r"^(gpt-4o|gpt-4-turbo|chatgpt-4o)", 128_000),
    (r"^claude", 200_000),
)


def open_model(spec: str, *, settings: ModelSettings, env: Mapping[str, str]) -> ChatModel:
    """The model of this spec, without a request to it: `prepare` makes the first. Raises Misuse for an invalid spec."""
    parsed = parse_spec(spec)
    match parsed.provider:
        case "offline":
            from models.chat.offline.provider import Offline

            return Offline(settings)
        case "anthropic":
            from models.chat.anthropic.provider import Anthropic

            address = address_of(parsed, env)
            profile = _profile(parsed, address, settings)
            return Anthropic(
                parsed,
                address=address,
                profile=profile,
                settings=settings,
                key=key_of(parsed, env),
                key_variable=_key_variable(parsed, address, env),
            )
        case "mlx":
            from models.chat.mlx.provider import MlxText

            return MlxText(parsed, profile=_profile(parsed, "", settings), settings=settings)
        case _:
            from models.chat.openai.provider import OpenAICompatible

            address = address_of(parsed, env)
            return OpenAICompatible(
                parsed,
                address=address,
                profile=_profile(parsed, address, settings),
                settings=settings,
                key=key_of(parsed, env),
                key_variable=_key_variable(parsed, address, env),
            )


def _profile(spec: ModelSpec, address: str, settings: ModelSettings) -> Profile:
    """What is known from the name alone."""
    documented = next(
        (n for pattern, n in _WINDOWS if address.startswith("https:") and re.search(pattern, spec.name)), 0
    )
    window = settings.window or documented or (OLLAMA_WINDOW if spec.provider == "ollama" else UNKNOWN_WINDOW)
    sees = settings.vision if settings.vision is not None else bool(documented)
    profile = Profile(
        spec=str(spec),
        name=spec.name,
        window=window,
        window_known=bool(settings.window or documented),
        images=image_rule(spec.name) if sees else ImageRule.NONE,
        remote=bool(address) and not is_loopback(address),
        parameters_b=parameters_by_name(spec.name),
    )
    return with_abilities(profile, None, settings)


def _key_variable(spec: ModelSpec, address: str, env: Mapping[str, str]) -> str:
    """The variable that the key comes from, or would come from."""
    own = quirks_of(spec.provider, address).key_variable
    return key_variable(spec, env) or own or f"PALIMPSEST_{spec.provider.upper()}_KEY"
