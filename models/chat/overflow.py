"""Recognises a server's error about an overflowing context, and reads its window and the tokens of the request.

The texts are those of llama.cpp, Ollama, LM Studio, vLLM, SGLang, OpenAI, Anthropic, Gemini, Mistral and Qwen, of the
servers that copy OpenAI's, and of Chinese services.
"""

import re
from typing import Final

from msgspec import Struct

from foundation.lazy_pattern import lazy_pattern

MOST_TOKENS: Final = 1_000_000_000
LEAST_WINDOW: Final = 256  # tokens: a smaller figure is no window

_NUMBER = r"(\d[\d,]{0,14})"
_EXCEEDS = "(?:超[过過出]|[大高][于於])"
_INPUT = "(输入|輸入|提示[词詞]?|prompt|消息|对话|對話|[内內]容|文本)"
_OVERFLOW = lazy_pattern(
    r"exceed\w*[ _](the )?(available |model'?s? |max(imum)? )?context"
    r"|context[ _](size|length|window)[ _]?\w*[ _]?exceed|context_length_exceeded|maximum context length"
    r"|prompt (is )?too long|context (the )?overflow|context length (of|is) only"
    r"|(greater|larger|longer) than the (\w+ )?context"
    r"|longer than the (maximum )?model('s)? (maximum )?(context )?length"
    r"|too many tokens|exceeds? the maximum (number of )?tokens|too large for model with"
    r"|input (length|tokens) .{0,40}exceed|range of input length"
    rf"|上下文[^，。,；;]{{0,12}}(超|[过過][长長])|{_EXCEEDS}[^，。；;]{{0,12}}上下文"
    rf"|({_INPUT}|请求|請求|token)[^，。；;]{{0,20}}{_EXCEEDS}[^，。；;]{{0,12}}([长長]度|token ?[数數])"
    rf"|{_INPUT}[^，。；;]{{0,6}}[长長]度[^，。；;]{{0,12}}{_EXCEEDS}"
    rf"|{_INPUT}([内內]容|文本)?的?([长長]度)? ?(超[长長]|[过過太][长長]|超限)",
    re.IGNORECASE,
)
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
        rf"range of input length should be \[\d+, ?{_NUMBER}",
        rf"{_EXCEEDS}[^\d，。；;]{{0,20}}(?:[长長]度|上下文|窗口|限制|上限|[数數]量?)[^\d，。；;]{{0,8}}{_NUMBER}",
        rf"(?:最大|上限|限制|最多|不[能得][^\d]{{0,2}}超[过過])[^\d，。；;]{{0,12}}{_NUMBER}",
        rf"{_EXCEEDS}[^\d，。；;]{{0,2}}{_NUMBER}[^\d，。；;]{{0,10}}(?:上下文|限制|上限)",
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
        rf"(?<![\d过過出于於了])(?<![过過出于於了] ){_NUMBER}[^\d。；;]{{0,12}}{_EXCEEDS}",
        rf"(?<!最大)(?:输入|輸入|请求|請求|[当當]前|[实實][际際])(?:(?!{_EXCEEDS}|最)[^\d，。；;]){{0,12}}{_NUMBER}",
    )
)
_EXCESS = lazy_pattern(rf"exceed\w* (?:\w+ ){{0,4}}by {_NUMBER} tokens", re.IGNORECASE)


class OverflowFigures(Struct, frozen=True):
    """Tokens that an error states: the server's window, the prompt, and by how much it was too long; 0 where it does
    not state them."""

    window: int = 0
    prompt_tokens: int = 0
    excess: int = 0


def is_overflow(message: str) -> bool:
    """Whether the error says that the request is longer than the context."""
    return _OVERFLOW.search(message) is not None


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
