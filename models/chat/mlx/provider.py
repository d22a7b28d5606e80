"""A model in this process, through mlx-lm, on the mlx thread.

The KV cache of a conversation is kept from turn to turn, and on disk from one run to the next: a request that extends
the one before is processed from its first new token. mlx is imported on that thread with the first request; before that
only the checkpoint's small files are read.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from msgspec import structs

from foundation.bounded_json import Json
from foundation.install_hints import install_extra
from foundation.shell_words import command_line
from models.chat.mlx import files
from models.chat.mlx.engine import MlxChunk, MlxEngine
from models.chat.mlx.prompt import AnswerReader
from models.chat.openai import request as openai_request
from models.chat.openai.probe import with_abilities
from models.chat.overflow import OverflowFigures
from models.chat.port import (
    AnswerEnd,
    AnswerError,
    Event,
    PrefillProgress,
    Profile,
    StopReason,
    TokenCounter,
    with_window,
)
from models.chat.sampling import REPETITION_PENALTY, TEMPERATURE, TOP_P
from models.chat.spec import ModelSpec
from models.chat.text_tools.prompt import as_text, with_questions
from models.chat.text_tools.stream import stream_answer
from models.messages import Request, Usage
from models.mlx_thread import Emit, JobPriority, MlxThread, mlx_thread
from models.settings import ModelSettings
from models.tokens import Estimate


class MlxText:
    """A ChatModel of a folder, or of a hub name in the local cache."""

    def __init__(
        self, spec: ModelSpec, *, profile: Profile, settings: ModelSettings, thread: MlxThread | None = None
    ) -> None:
        self._name = spec.name
        self._settings = settings
        self._profile = profile
        self._counter: TokenCounter = Estimate()
        self._thread = thread or mlx_thread()
        self._folder: Path | None = None
        self._engine: MlxEngine | None = None  # touched on the mlx thread alone

    @property
    def profile(self) -> Profile:
        return self._profile

    @property
    def counter(self) -> TokenCounter:
        return self._counter

    async def prepare(self) -> Profile:
        """Reads the window, the tools and the tokenizer from the checkpoint's small files."""
        await asyncio.to_thread(self._read_files)
        return self._profile

    def _read_files(self) -> None:
        if self._folder is not None:
            return
        folder = files.find_folder(self._name)
        if folder is None:
            return
        window, tools, settings = files.window_of(folder), files.calls_tools(folder), self._settings
        self._profile = structs.replace(
            self._profile,
            window=settings.window or window or self._profile.window,
            window_known=bool(settings.window or window),
            parameters_b=files.parameters_of(folder) or self._profile.parameters_b,
        )
        self._profile = with_abilities(self._profile, tools, settings)
        self._counter = files.tokenizer_of(folder) or self._counter
        self._folder = folder

    @property
    def kept_bytes(self) -> int:
        """Bytes of the KV caches in memory."""
        return self._engine.caches.size if self._engine else 0

    def learn_window(self, window: int, *, stated: bool = True) -> None:
        self._profile = with_window(self._profile, window, stated=stated)

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        return self._stream(request)

    async def _stream(self, request: Request) -> AsyncGenerator[Event, None]:
        await self.prepare()
        if self._folder is None:
            yield self._no_folder()
            return
        async with aclosing(stream_answer(request, lambda: self._profile, self._work)) as events:
            async for event in events:
                yield event

    def _work(self, request: Request) -> AsyncGenerator[Event, None]:
        return self._thread.stream(JobPriority.CHAT, lambda emit: self._answer(request, emit))

    async def close(self) -> None:
        """Saves the caches that may be saved, and releases the model, on their thread."""
        if self._engine is not None:
            await asyncio.wrap_future(self._thread.run(JobPriority.CHAT, self._let_go))

    def _let_go(self) -> None:
        if self._engine is not None:
            self._engine.caches.save()
        self._engine = None

    # From here on: the mlx thread.

    def _answer(self, request: Request, emit: "Emit[Event]") -> None:
        """Loads the model where needed, processes the prompt, answers. Emits AnswerEnd or AnswerError last; raises only
        Stopped."""
        engine = self._loaded(emit)
        if engine is None:
            return
        given = request.messages if self._profile.tools else with_questions(request.messages)
        wire = openai_request.messages(given, vision=False)
        if not self._profile.tools:
            wire = as_text(wire, () if request.tools_stated else request.tools)
        wire = wire if self._profile.system_role else openai_request.without_system(wire)
        tools = openai_request.tools(request.tools) if self._profile.tools else []
        try:
            prompt = engine.encode([_with_object_arguments(message) for message in wire], tools)
        except Exception as error:  # a chat template may raise anything
            emit(
                AnswerError(
                    "bad_request", "The chat template refused", f"`{self._name}`: {error}", "Try another model."
                )
            )
            return
        if len(prompt) >= self._profile.window:
            emit(self._too_long(len(prompt)))
            return
        reader = AnswerReader(engine, tools, thinking=engine.opens_with_thought(prompt))
        self._say(engine, request, prompt, reader, emit)

    def _say(
        self, engine: MlxEngine, request: Request, prompt: list[int], reader: AnswerReader, emit: "Emit[Event]"
    ) -> None:
        held = engine.reuse(prompt, request.cache_slot)
        most = min(request.max_tokens, self._profile.window - len(prompt))
        last = MlxChunk("", 0, 0.0, "stop")

        def progress(done: int, total: int) -> None:
            emit(PrefillProgress(held + done, held + total))

        pieces = engine.generate(prompt, most=most, sampling=self._sampling(request), progress=progress)
        try:
            for piece in pieces:
                last = piece
                for event in reader.feed(piece.text):
                    emit(event)
        except (RuntimeError, ValueError, MemoryError) as error:
            emit(
                AnswerError(
                    "server_error",
                    "The model failed",
                    f"`{self._name}`: {error}",
                    "Use /retry to try again, or /compact.",
                )
            )
            return
        finally:
            pieces.close()  # type: ignore[attr-defined]  # a generator
        for event in reader.finish():
            emit(event)
        speed = {"timings": {"predicted_per_second": last.per_second}}
        emit(Usage(len(prompt), last.tokens, held, extra=speed))
        reason = StopReason.LENGTH if last.reason == "length" else StopReason.STOP
        emit(AnswerEnd(StopReason.TOOL_CALLS if reader.called else reason))

    def _loaded(self, emit: "Emit[Event]") -> MlxEngine | None:
        if self._engine is None and self._folder is not None:
            try:
                limits = self._settings.kv_memory_mb << 20, self._settings.kv_disk_mb << 20
                self._engine = MlxEngine(self._folder, *limits)
            except ImportError as error:
                emit(_missing(error))
            except Exception as error:  # a checkpoint may be broken in any way
                problem = f"`{self._name}` could not be loaded: {type(error).__name__}: {error}"
                emit(
                    AnswerError("no_model", "The model cannot be loaded", problem, "Check that the folder is complete.")
                )
        return self._engine

    def _sampling(self, request: Request) -> dict[str, float]:
        chosen = self._settings.temperature if request.temperature is None else request.temperature
        if chosen is not None:
            return {"temp": chosen}
        if self._profile.is_small:
            return {"temp": TEMPERATURE, "top_p": TOP_P, "repetition_penalty": REPETITION_PENALTY}
        return files.sampling_of(self._folder) if self._folder else {"temp": 0.0}

    def _too_long(self, tokens: int) -> AnswerError:
        window = self._profile.window
        return AnswerError(
            "too_large",
            "Too long for the model",
            f"The request has {tokens} tokens, and `{self._name}` accepts {window}.",
            "/compact archives older turns.",
            OverflowFigures(window, tokens),
        )

    def _no_folder(self) -> AnswerError:
        return AnswerError(
            "no_model",
            "Model not found",
            f"`{self._name}` is not a folder with a config.json, and is not in the local Hugging Face cache.",
            f"To download it: `{command_line('hf', 'download', self._name)}`.",
        )


def _missing(error: ImportError) -> AnswerError:
    if sys.platform == "win32":
        hint = "mlx-lm has no build for Windows: use Ollama, LM Studio or llama.cpp."
    else:
        hint = f"Install it with: {install_extra('mlx')}"
    return AnswerError("missing", "mlx-lm is not installed", f"MLX models need the library mlx-lm ({error}).", hint)


def _with_object_arguments(message: Json) -> Json:
    """Chat templates take a call's arguments as an object, where the wire has a string."""
    if "tool_calls" not in message:
        return message
    calls = [
        {**call, "function": {**call["function"], "arguments": _object(call["function"]["arguments"])}}
        for call in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}


def _object(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
