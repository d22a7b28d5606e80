"""Tests a model: one short request, how fast it answers, or what is wrong."""

import time

from msgspec import Struct

from agent.config.config import Config
from foundation.errors import PalimpsestError
from models.chat.open import open_model
from models.chat.port import AnswerEnd, AnswerError, Profile, ReasoningChunk, TextChunk, TextWasReasoning
from models.messages import Request, Usage, user

MAX_ANSWER_TOKENS = 64
LEAST_PIECES = 4  # of an answer by which its speed can be told
ABOUT_TOKENS = 100  # that a test takes at most, its prompt included


class ModelFailed(PalimpsestError):
    """The model did not answer."""

    code = "model"


class ModelCheck(Struct, frozen=True, kw_only=True):
    """The answer to the request. `first_token_ms` counts from the request; `tokens_per_second` is 0 where the answer
    was too short to tell."""

    profile: Profile
    text: str
    first_token_ms: int
    tokens_per_second: float
    usage: Usage

    @property
    def sentence(self) -> str:
        """What a person reads of it."""
        speed = f", {self.tokens_per_second:,.0f} tokens a second" if self.tokens_per_second else ""
        return f"{self.profile.spec} answers: first token after {self.first_token_ms:,} ms{speed}."


async def check_model(config: Config, spec: str) -> ModelCheck:
    """Asks the model for a word. Raises ModelFailed, and Misuse for a spec that is none."""
    model = open_model(spec, settings=config.models, env=config.environment)
    start, first, text, usage, pieces = time.monotonic(), 0.0, "", Usage(estimated=True), 0
    try:
        profile = await model.prepare()
        start = time.monotonic()
        request = Request(
            model=profile.name, messages=(user("Answer with the single word: ready"),), max_tokens=MAX_ANSWER_TOKENS
        )
        async for event in model.stream(request):
            match event:
                case TextChunk(text=piece):
                    first, pieces = first or time.monotonic(), pieces + 1
                    text += piece
                case TextWasReasoning():
                    text = ""
                case ReasoningChunk():
                    first, pieces = first or time.monotonic(), pieces + 1
                case Usage():
                    usage = event
                case AnswerError(title=title, message=message, hint=hint):
                    raise ModelFailed(title, message, hint)
                case AnswerEnd():
                    break
                case _:
                    pass
    finally:
        await model.close()
    end = time.monotonic()
    has_speed = pieces >= LEAST_PIECES and end > first and usage.completion_tokens > 1
    rate = (usage.completion_tokens - 1) / (end - first) if has_speed else 0
    return ModelCheck(
        profile=profile,
        text=text.strip(),
        first_token_ms=round(((first or end) - start) * 1000),
        tokens_per_second=rate,
        usage=usage,
    )
