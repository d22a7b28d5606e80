"""How providers differ from the protocol that they speak, as data. The adapters name no provider.

Each row is matched by the host of the address, or by the provider of the spec or the server that a probe recognised.
A row says what a provider documents; what a server refuses beyond that is learned from its errors
(models.chat.refused_fields).
"""

import re
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

ANY_ID: Final = r"[A-Za-z0-9_-]{1,40}"
"""Ids of calls that OpenAI (40 characters) and Anthropic (this alphabet) accept."""
REASONING: Final = "reasoning_content"


class Quirks(Struct, frozen=True, kw_only=True):
    """What is particular about a provider."""

    limit_name: str = "max_tokens"
    call_ids: str = ANY_ID  # a pattern of the ids that it accepts from another provider
    refused: frozenset[str] = frozenset()  # parameters that it rejects
    demanded: str = ""  # the field that each answer with calls must carry
    call_fields: dict[str, Any] = {}  # fields of a call that has none of the provider's own
    extra: dict[str, Any] = {}  # parameters that only this server knows
    states_window: bool = True  # whether it is worth asking for its window and abilities
    counts_tokens: bool = False  # whether it has llama.cpp's /tokenize
    key_variable: str = ""  # the provider's own variable


_PLAIN: Final = Quirks()
UNSIGNED_CALL: Final[dict[str, Any]] = {
    "extra_content": {"google": {"thought_signature": "skip_thought_signature_validator"}}
}
"""Fields that Gemini documents for calls of another model, which have no signature."""
_OPENAI: Final = Quirks(limit_name="max_completion_tokens", states_window=False, key_variable="OPENAI_API_KEY")
_HOSTS: Final = (
    (r"api\.openai\.com", _OPENAI),
    (r".*\.openai\.azure\.com", replace(_OPENAI, key_variable="")),
    (r"api\.deepseek\.com", Quirks(demanded=REASONING)),
    (r"(api\.moonshot\.(ai|cn)|api\.kimi\.com)", Quirks(demanded=REASONING)),
    (r"api\.mistral\.ai", Quirks(call_ids=r"[A-Za-z0-9]{9}")),
    (r".*\bgoogleapis\.com", Quirks(call_fields=UNSIGNED_CALL)),
    (r"api\.anthropic\.com", Quirks(key_variable="ANTHROPIC_API_KEY")),
    (r"openrouter\.ai|api\.(groq\.com|x\.ai|together\.xyz|together\.ai|cerebras\.ai|fireworks\.ai)", _PLAIN),
)
_SERVERS: Final = {
    "llamacpp": Quirks(extra={"return_progress": True, "cache_prompt": True}, counts_tokens=True),
    "anthropic": Quirks(key_variable="ANTHROPIC_API_KEY"),
}
_MODELS: Final = ((r"(o\d|gpt-5)(?!.*-chat)", frozenset({"temperature"})),)
"""Parameters that a model rejects where its provider renames the limit, as OpenAI's reasoning models do."""


def is_service(host: str) -> bool:
    """Whether the host is of a provider that answers only with a key."""
    return any(re.fullmatch(pattern, host) for pattern, _ in _HOSTS)


def quirks_of(server: str, address: str, model: str = "") -> Quirks:
    """Returns the row of the address's host, else of the server: a spec's provider, or what a probe recognised."""
    host = urlsplit(address).hostname or ""
    quirks = next((row for pattern, row in _HOSTS if re.fullmatch(pattern, host)), None)
    if quirks is None:
        return _SERVERS.get(server, _PLAIN)
    refused = next((names for pattern, names in _MODELS if re.match(pattern, model)), frozenset[str]())
    return replace(quirks, refused=quirks.refused | refused) if quirks.limit_name != "max_tokens" else quirks
