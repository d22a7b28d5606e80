"""Reads a model's streamed answer to its end, for work that shows nothing of it while it comes."""

from contextlib import aclosing
from typing import Final

from models.chat.port import AnswerEnd, AnswerError, ChatModel, ReasoningChunk, StopReason, TextChunk, TextWasReasoning
from models.messages import Request, Usage

_READ_BEFORE: Final = frozenset({"timed_out", "cut_off"})  # errors after which a model may have read the request


class ReadAnswer:
    """The text and the cost of an answer, as far as it was read."""

    def __init__(self) -> None:
        self.text = ""
        self.reasoning = ""
        self.usage: Usage | None = None
        self._error = ""  # code

    @property
    def cost_nothing(self) -> bool:
        """Whether no model read the request."""
        has_output = bool(self.text or self.reasoning or self.usage)
        return bool(self._error) and self._error not in _READ_BEFORE and not has_output

    async def read(self, model: ChatModel, request: Request) -> str:
        """Reads the answer to its end. Returns what went wrong; "" where nothing did."""
        async with aclosing(model.stream(request)) as stream:
            async for event in stream:
                match event:
                    case TextChunk(text=text):
                        self.text += text
                    case ReasoningChunk(text=text):
                        self.reasoning += text
                    case TextWasReasoning():
                        self.reasoning, self.text = self.reasoning + self.text, ""
                    case Usage(prompt_tokens=prompt) if prompt:
                        self.usage = event
                    case AnswerError(code=code, title=title, message=message):
                        self._error = code
                        return f"{title}: {message}"
                    case AnswerEnd(reason=StopReason.LENGTH):
                        return "its answer is too long"
                    case AnswerEnd(reason=StopReason.REPETITION):
                        return "its answer repeats itself"
                    case _:
                        pass
        return ""
