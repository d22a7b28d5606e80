"""OCR by any vision model behind an OpenAI-compatible address.

The picture goes to that address and nowhere else, and only where `models.ocr_server` or the command line names it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from msgspec.structs import replace

from foundation.errors import Misuse
from foundation.program import PROGRAM
from models.chat.open import open_model
from models.chat.port import AnswerEnd, AnswerError, StopReason, TextChunk, TextWasReasoning
from models.errors import ModelError
from models.messages import Image, Message, Request, Role, Text
from models.ocr.picture import encode_image, open_image
from models.ocr.port import OcrLine, OcrReading
from models.repetition import loop_at
from models.settings import ModelSettings

PROMPT = (
    "Write down all text in this picture, exactly as it stands there, line by line from top to bottom. "
    "Write nothing else: no comment, no translation, no correction. Where there is no text, write nothing."
)
MOST_TOKENS = 8_192
MOST_CHARACTERS = 100_000  # whatever the server makes of the limit in tokens
LONGEST_SIDE = 2_560  # pixels: no vision model looks at more
_LOOK_EVERY = 400  # characters between two looks for a repetition


class VisionServer:
    """`spec` as for a chat model: `openai:NAME@ADDRESS`, `ollama:NAME`, `lmstudio:NAME`, `llamacpp:NAME`."""

    name = "server"
    lines = False

    def __init__(
        self, spec: str, *, settings: ModelSettings | None = None, env: Mapping[str, str] | None = None
    ) -> None:
        self._spec = spec
        self._settings = replace(settings or ModelSettings(), vision=True, temperature=0.0)
        self._env = env or {}

    def read(self, image: bytes) -> OcrReading:
        if not self._spec:
            raise Misuse(
                "No vision server",
                "The OCR engine `server` needs a model.",
                f"{PROGRAM} config set models.ocr_server openai:NAME@http://127.0.0.1:1234/v1",
            )
        picture = open_image(image)
        picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        part = Image(data=encode_image(picture), media_type="image/png", width=picture.width, height=picture.height)
        with ThreadPoolExecutor(1) as apart:  # the caller's thread may have a loop of its own
            return apart.submit(asyncio.run, self._read(part)).result()

    def read_lines(self, images: Sequence[bytes]) -> list[OcrLine]:
        """Not supported: it reads pages."""
        raise NotImplementedError("a vision server reads whole pictures")

    async def _read(self, picture: Image) -> OcrReading:
        model = open_model(self._spec, settings=self._settings, env=self._env)
        parts = (picture, Text(PROMPT))
        request = Request(
            model=self._spec, messages=(Message(Role.USER, parts),), max_tokens=MOST_TOKENS, may_repeat=True
        )
        text, warnings, checked = "", list[str](), 0
        stream = model.stream(request)
        try:
            async for event in stream:
                match event:
                    case TextChunk(text=piece):
                        text += piece
                    case TextWasReasoning():
                        text, checked = "", 0
                    case AnswerError():
                        raise ModelError.of(event)
                    case AnswerEnd(reason=StopReason.LENGTH):
                        warnings.append(f"The text was cut off at {MOST_TOKENS:,} tokens: the image contains more.")
                    case _:
                        pass
                if len(text) - checked >= _LOOK_EVERY:
                    checked = len(text)
                    if (at := loop_at(text)) is not None or len(text) > MOST_CHARACTERS:
                        text = text[: at or MOST_CHARACTERS]
                        warnings.append(
                            "The model did not stop and was interrupted. The text after that point is missing."
                        )
                        break
        finally:
            await stream.aclose()  # type: ignore[attr-defined]  # a generator
            await model.close()
        return OcrReading(self.name, written=text.strip(), warnings=tuple(warnings))
