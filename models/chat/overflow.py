"""Figures in a server's error about an overflowing context: its window, and the tokens of the request.

The texts are those of llama.cpp, Ollama, LM Studio, vLLM, SGLang, OpenAI, Anthropic, Gemini and Mistral, and of the
servers that copy OpenAI's.
"""

import re
from typing import Final

from msgspec import Struct

from foundation.lazy_pattern import lazy_pattern

MOST_TOKENS: Final = 1_000_000_000
LEAST_WINDOW: Final = 256  # tokens: a smaller figure is no window

_NUMBER = r"(\d[\d,]{0,14})"
_WINDOWS = tuple(
    lazy_pattern(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bn_ctx\W{{1,4}}{_NUMBER}",
        rf"available context size \({_NUMBER}",
        rf"context length of only {_NUMBER}",
        rf"context length is only {_NUMBER}",
        rf"maximum context length(?: is| of)? \(?{_NUMBER}",
        rf"(?:maximum )?model(?:'s)? (?:maximum )?(?:context )?length(?: of| is)? \(?{_NUMBER}",
        rf"context (?:limit|size|window)(?: of| is)?:? \(?{_NUMBER}(?!\d| ?\+)",
        rf"> ?{_NUMBER}\b",  # Anthropic: `208310 tokens > 200000 maximum`, `188240 + 21333 > 200000`
        rf"(?:configured )?limit of {_NUMBER} tokens",
        rf"maximum number of (?:input )?tokens(?: allowed)? \(?{_NUMBER}",
        rf"{_NUMBER} maximum context length",
        rf"maximum (?:of|is) {_NUMBER} tokens",
    )
)
_REQUESTS = tuple(
    lazy_pattern(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bn_prompt_tokens\W{{1,4}}{_NUMBER}",
        rf"n_keep\W{{1,3}}{_NUMBER}",
        rf"request \({_NUMBER} tokens\)",
        rf"first {_NUMBER} tokens when context",
        rf"{_NUMBER} (?:in the messages|of text input)",
        rf"(?:passed|has|contains|resulted in) {_NUMBER} (?:input )?tokens",
        rf"context limit: {_NUMBER} \+",
        rf"input (?:token count )?\({_NUMBER}",
        rf"(?:prompt|input) (?:length )?\((?:length )?{_NUMBER}",
        rf"too long: {_NUMBER} tokens",
    )
)
_EXCESS = lazy_pattern(rf"exceed\w* (?:\w+ ){{0,4}}by {_NUMBER} tokens", re.IGNORECASE)


class OverflowFigures(Struct, frozen=True):
    """Tokens that an error states: the server's window, the prompt, and by how much it was too long; 0 where it does
    not state them."""

    window: int = 0
    prompt_tokens: int = 0
    excess: int = 0


def overflow_figures(message: str) -> OverflowFigures:
    """The figures in an error's message."""
    window = _first_figure(_WINDOWS, message)
    return OverflowFigures(
        window if window >= LEAST_WINDOW else 0,
        _first_figure(_REQUESTS, message),
        _first_figure((_EXCESS,), message),
    )


def _first_figure(patterns: tuple[re.Pattern[str], ...], message: str) -> int:
    found = (int(match[1].replace(",", "")) for pattern in patterns if (match := pattern.search(message)))
    return next((number for number in found if 0 < number <= MOST_TOKENS), 0)
