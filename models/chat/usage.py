"""Token counts of a server, under every name in use."""

from collections.abc import Iterable
from typing import Final, cast

from foundation.bounded_json import Json
from models.limits import count_of
from models.messages import Usage

_PROMPT: Final = ("prompt_tokens", "input_tokens", "prompt_eval_count")  # OpenAI, its Responses and Anthropic, Ollama
_COMPLETION: Final = ("completion_tokens", "output_tokens", "eval_count")
_CACHED: Final = (
    "cached_tokens",  # Kimi, at the top; OpenAI, vLLM, OpenRouter, in the details
    "prompt_cache_hit_tokens",  # DeepSeek
    "num_cached_tokens",  # vLLM's engine
    "cache_read_input_tokens",  # Anthropic, and what passes its figures on
)
_MOST_DIGITS: Final = 16  # of a count
_DETAILS: Final = ("prompt_tokens_details", "input_tokens_details")


def usage_in(chunk: Json) -> Usage | None:
    """Returns the counts of a chunk: its `usage`, its last choice's (Moonshot), Groq's, or Ollama's at the top."""
    choices = chunk.get("choices")
    last = cast("list[object]", choices)[-1:] if isinstance(choices, list) else []
    places: list[object] = [chunk.get("usage"), *(_get(choice, "usage") for choice in last)]
    places += [_get(chunk.get("x_groq"), "usage"), chunk]
    for given in places:
        if isinstance(given, dict) and (usage := _usage(cast("Json", given))):
            return usage
    return None


def _usage(given: Json) -> Usage | None:
    if not any(name in given for name in (*_PROMPT, *_COMPLETION)):
        return None
    holders = (*(given.get(name) for name in _DETAILS), given)
    cached = next((n for holder in holders if (n := _first(holder, _CACHED)) is not None), None)
    return Usage(_first(given, _PROMPT) or 0, _first(given, _COMPLETION) or 0, cached)


def _first(given: object, names: Iterable[str]) -> int | None:
    return next((_count(value) for name in names if (value := _get(given, name)) is not None), None)


def _count(value: object) -> int:
    """The value as a count; some gateways send it as a string of digits."""
    is_digits = isinstance(value, str) and value.isdecimal() and len(value) <= _MOST_DIGITS
    return count_of(int(cast("str", value)) if is_digits else value)


def _get(given: object, name: str) -> object:
    return cast("Json", given).get(name) if isinstance(given, dict) else None
