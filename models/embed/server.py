"""Embedder of any server with OpenAI's `/v1/embeddings`: Ollama, LM Studio, llama.cpp, OpenAI.

Text goes to the configured address, and nowhere else. A question waits for `embed.query_timeout` and is sent once; a
batch waits for `embed.timeout`, and is sent again to a busy server.
"""

import asyncio
import re
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from foundation.privacy import Cleared
from models.chat.errors import AttemptFailed, Endpoint
from models.chat.http import Transport
from models.chat.port import AnswerError
from models.chat.retry import LOADING_WAIT, retry_delay
from models.chat.spec import ModelSpec, is_loopback
from models.embed.errors import EmbedError, bad_vectors
from models.embed.settings import EmbedSettings
from models.settings import ModelSettings

if TYPE_CHECKING:
    from models.embed.port import Vectors

T = TypeVar("T")

LARGEST_VECTOR = 200_000  # bytes a text beside models.limits.body_mb: 8,192 numbers of 24 characters
_PASSING = frozenset({"refused", "timed_out", "rate_limited", "server_error", "cut_off"})
_TOO_LARGE = re.compile(r"too (large|long)|exceeds? (the )?(maximum|context)", re.IGNORECASE)  # llama.cpp's is a 500
_HINTS = {
    "refused": "Start the server. Until it responds, search matches words only.",
    "timed_out": "It will be tried again later. If the model loads slowly, raise embed.query_timeout and "
    "embed.timeout.",
    "too_large": "The entry can still be found by its words.",
    "rate_limited": "It will be tried again later.",
    "server_error": "It will be tried again later. If it keeps failing, check the server's log.",
    "bad_request": "The model may not support embeddings.",
}


class ServerEmbedder:
    """An Embedder over HTTP, with a thread of its own that begins with the first text."""

    def __init__(
        self, spec: ModelSpec, *, address: str, key: str, settings: EmbedSettings, models: ModelSettings
    ) -> None:
        self._spec = spec
        self._settings = settings
        self._endpoint = Endpoint(spec.provider, spec.name, address, f"PALIMPSEST_{spec.provider.upper()}_KEY", key)
        self._patience = replace(models, first_byte_timeout=settings.timeout, stall_timeout=settings.timeout)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._transport = Transport(self._endpoint, self._patience, headers)
        self._loop = _Loop()

    @property
    def name(self) -> str:
        """The model, wherever it is served: its vectors stay valid on another port."""
        settings = self._settings
        cut = f" cut to {settings.dimensions}" if settings.dimensions else ""
        return f"server:{self._spec.name}{cut} {settings.query_prefix or ''}|{settings.text_prefix or ''}"

    @property
    def remote(self) -> bool:
        return not is_loopback(self._endpoint.address)

    def embed(self, texts: Sequence[Cleared], *, query: bool = False) -> "Vectors":
        import numpy as np

        from models.embed.vectors import normalise

        if not texts:
            return np.zeros((0, self._settings.dimensions), np.float32)
        prefix = (self._settings.query_prefix if query else self._settings.text_prefix) or ""
        inputs = [prefix + text for text in texts]
        if query:
            raw = self._loop.run(self._at_once(inputs))
        else:
            batches = [
                self._loop.run(self._patiently(inputs[start : start + self._settings.batch]))
                for start in range(0, len(inputs), self._settings.batch)
            ]
            if len({batch.shape[1] for batch in batches}) > 1:
                raise bad_vectors(str(self._endpoint), "returns vectors of changing lengths")
            raw = np.concatenate(batches)
        return normalise(raw, str(self._endpoint), self._settings.dimensions)

    def close(self) -> None:
        self._loop.close(self._transport.close)

    async def _at_once(self, texts: Sequence[str]) -> Any:
        """One attempt, within the time that a person waits."""
        seconds = self._settings.query_timeout
        try:
            async with asyncio.timeout(seconds):
                return await self._attempt(texts)
        except TimeoutError:
            problem = f"{self._endpoint} sent no vector within {seconds:g} s."
            raise EmbedError("No vector", problem, _HINTS["timed_out"], passing=True) from None
        except AttemptFailed as broken:
            raise _embed_error(broken.failed) from broken

    async def _patiently(self, texts: Sequence[str]) -> Any:
        tries, loading = 0, 0.0
        while True:
            try:
                return await self._attempt(texts)
            except AttemptFailed as broken:
                error = _embed_error(broken.failed)
                if broken.loading and loading < self._settings.timeout:
                    loading += LOADING_WAIT
                    delay: float | None = LOADING_WAIT
                else:
                    tries += 1
                    delay = None if error.of_text else retry_delay(broken, tries, self._patience)
                if delay is None:
                    raise error from broken
            await asyncio.sleep(delay)

    async def _attempt(self, texts: Sequence[str]) -> Any:
        """(texts, dimensions), raw. Raises AttemptFailed, EmbedError."""
        from models.embed.vectors import read_answer, request_body

        openai_itself = "api.openai.com" in self._endpoint.address
        body = request_body(self._spec.name, texts, self._settings.dimensions if openai_itself else 0)
        async with AsyncExitStack() as stack:
            reply = await self._transport.post(stack, "/embeddings", body)
            came = await reply.whole(more=LARGEST_VECTOR * len(texts))
        return read_answer(came, len(texts), str(self._endpoint))


def _embed_error(failed: AnswerError) -> EmbedError:
    """The error in the same sentences, with a hint about vectors."""
    too_large = failed.code == "too_large" or (
        failed.code in {"server_error", "bad_request"} and _TOO_LARGE.search(failed.message) is not None
    )
    return EmbedError(
        "Too long for the model" if too_large else failed.title,
        failed.message,
        _HINTS.get("too_large" if too_large else failed.code, failed.hint),
        passing=failed.code in _PASSING and not too_large,
        of_text=too_large,
    )


def _closed() -> EmbedError:
    return EmbedError("Closed", "The embedder was closed.", passing=True)


class _Loop:
    """An event loop on a thread of its own: connections stay open from one batch to the next."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The coroutine's result or error; cancelled where the caller is interrupted."""
        future = self._start(work)
        try:
            return future.result()
        except CancelledError as error:
            raise _closed() from error
        except BaseException:
            future.cancel()
            raise

    def close(self, last: Any) -> None:
        """Runs `last` on the loop, and ends it."""
        with self._lock:
            self._closed = True
            loop, thread, self._loop = self._loop, self._thread, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_ended(last), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        with self._lock:
            if self._closed:
                work.close()
                raise _closed()
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="embed", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)


async def _ended(last: Any) -> None:
    """Cancels the tasks that still run on this loop."""
    here = asyncio.current_task()
    running = [task for task in asyncio.all_tasks() if task is not here]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    await last()
