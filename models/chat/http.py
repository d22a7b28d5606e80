"""HTTP client of model servers: a JSON body out, bytes in, errors as `AttemptFailed`.

httpx2 is imported at the first request, so that nothing of it is loaded before the first paint.
"""

import asyncio
import time
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, cast

from foundation.bounded_json import BadJson, load_json
from foundation.sizes import MEGABYTE
from models.chat import errors
from models.chat.errors import AttemptFailed, Endpoint
from models.chat.spec import is_loopback
from models.limits import StreamLimitExceeded, StreamLimits, in_bytes
from models.settings import ModelSettings

if TYPE_CHECKING:
    import httpx2

ERROR_BODY = 64 * 1024  # bytes of an error's body that are read
ASK_TIMEOUT = 5.0  # seconds for a small question (/props, /tokenize)
ACCEPTED = "gzip, deflate"  # content codings
LARGE_CHUNK = 16 * 1024  # bytes; more is waiting
READ_INTERVAL_S = 0.025
FAST_BYTES = 8_000  # a second, some 50 events of a token each
RATE_WINDOW_S = 0.2  # in which the bytes are counted
END_WAIT_S = 2.0  # for what may follow the end of an answer: its usage, or more text after all
MAX_KEEP_ALIVE = 3  # times a timeout that keep-alives without a word may lengthen it
MAX_PREFILL = 20  # times a timeout in which a server may read the prompt, whatever progress it reports
PIECE = 64 * 1024  # bytes unpacked at once, so that 2 MB of a body never become 6 GB of memory

_BLANK = b"\xef\xbb\xbf \t\r\n"
MOST_BLANK = 64 * 1024  # bytes that are looked through for a beginning
_EVENT_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


class HttpResponse:
    """A response with status 200: its kind, and its body as it arrives."""

    def __init__(self, response: "httpx2.Response", endpoint: Endpoint, settings: ModelSettings) -> None:
        self._response = response
        self._endpoint = endpoint
        self._settings = settings
        self._prefix = b""  # what was read to see how the body begins
        self._arriving = self._read()
        self._limits = settings.limits
        self.is_fast = False  # whether a chunk holds what came in some time
        self._began = self._last_progress = time.monotonic()
        self._has_words = self._has_ended = False

    async def is_stream(self) -> bool:
        """Whether the body is a stream of events: by its content type or, where a proxy lost that, by its first
        bytes."""
        if "text/event-stream" in self._response.headers.get("content-type", ""):
            return True
        while len(self._prefix.lstrip(_BLANK)) < len(b"event:") and len(self._prefix) < MOST_BLANK:
            chunk = await anext(self._arriving, None)
            if chunk is None:
                break
            self._prefix += chunk
        return self._prefix.lstrip(_BLANK).startswith(_EVENT_FIELDS)  # JSON and HTML begin with none of these

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body's bytes. Raises AttemptFailed where the server falls silent or hangs up."""
        if self._prefix:
            yield self._prefix
        async for chunk in self._arriving:
            yield chunk

    async def paced_chunks(self) -> AsyncIterator[bytes]:
        """The body's bytes. Where they come fast, they are read at most 40 times a second."""
        since, size = time.monotonic(), 0
        async for chunk in self.chunks():
            yield chunk
            size += len(chunk)
            seconds = time.monotonic() - since
            if seconds > RATE_WINDOW_S:
                self.is_fast = size > FAST_BYTES * seconds
                since, size = time.monotonic(), 0
            if self.is_fast and len(chunk) < LARGE_CHUNK:
                await asyncio.sleep(READ_INTERVAL_S)

    def note_progress(self, *, words: bool = False, ended: bool = False) -> None:
        """The stream moved on: it brought `words`, read more of the prompt, or gave its finish reason (`ended`).

        Without that, keep-alives do not keep it open for ever. After the end it is closed when nothing follows.
        """
        now = time.monotonic()
        if words or ended or now - self._began < MAX_PREFILL * self._longest:
            self._last_progress = now
        self._has_words, self._has_ended = self._has_words or words, self._has_ended or ended

    @property
    def _longest(self) -> float:
        settings = self._settings
        return settings.stall_timeout if self._has_words else max(settings.first_byte_timeout, settings.stall_timeout)

    def _patience(self, phase: str) -> tuple[float, str]:
        """Seconds that the next bytes may take, 0 or less if none are waited for, and what is missed after them."""
        quiet, settings = time.monotonic() - self._last_progress, self._settings
        if self._has_ended:
            return END_WAIT_S - quiet, "end"
        wait = settings.first_byte_timeout if phase == "first" else settings.stall_timeout
        left = MAX_KEEP_ALIVE * self._longest - quiet
        return (wait, phase) if wait <= left else (left, "quiet")

    async def _read(self) -> AsyncGenerator[bytes, None]:
        import httpx2

        phase = "first"
        async with aclosing(decompressed_body(self._response, self._settings.limits)) as body:
            while True:
                wait, missed = self._patience(phase)
                try:
                    async with asyncio.timeout(max(wait, 0)):
                        chunk = await anext(body, None)
                except TimeoutError:
                    if missed == "end":
                        return
                    seconds = round(time.monotonic() - self._last_progress, 1) if missed == "quiet" else wait
                    raise AttemptFailed(errors.timeout_error(self._endpoint, missed, seconds)) from None
                except (httpx2.TransportError, DecompressionError) as error:
                    if self._has_ended:
                        return
                    raise AttemptFailed(
                        errors.truncated_error(self._endpoint, str(error)), retry=phase == "first"
                    ) from error
                except StreamLimitExceeded as excess:
                    raise AttemptFailed(errors.limit_error(self._endpoint, excess)) from excess
                if chunk is None:
                    return
                yield chunk
                phase = "stall"

    async def close(self) -> None:
        """Closes the streams from the inside out; the garbage collector may close them in another thread."""
        await self._arriving.aclose()
        await self._response.aclose()

    async def whole(self, more: int = 0) -> bytes:
        """The whole body: at most `models.limits.body_mb`, and `more` bytes. Raises AttemptFailed."""
        body, most = bytearray(), in_bytes(self._limits.body_mb) + more
        async for chunk in self.chunks():
            body += chunk
            if len(body) > most:
                excess = StreamLimitExceeded("the body of its answer", "body_mb", self._limits.body_mb)
                raise AttemptFailed(errors.limit_error(self._endpoint, excess))
        return bytes(body)


async def decompressed_body(response: "httpx2.Response", limits: StreamLimits) -> AsyncGenerator[bytes, None]:
    """The body, decompressed in small pieces. Raises StreamLimitExceeded, DecompressionError and httpx2's errors.

    httpx2's own decompression returns whatever a chunk expands to at once.
    """
    unpacker = Unpacker(response.headers.get("content-encoding", ""), limits)
    async with aclosing(response.aiter_raw()) as chunks:
        async for chunk in chunks:
            for piece in unpacker.feed(chunk):
                yield piece


class Transport:
    """Client of one server. Closing a response half way closes its connection, which stops the server."""

    def __init__(self, endpoint: Endpoint, settings: ModelSettings, headers: Mapping[str, str]) -> None:
        self.endpoint = endpoint
        self._settings = settings
        self._headers = dict(headers)
        self._has_bad_key = not all(map(_is_header_value, headers.values()))
        self._client: httpx2.AsyncClient | None = None

    def _open(self) -> "httpx2.AsyncClient":
        if self._has_bad_key:
            raise AttemptFailed(errors.unusable_key_error(self.endpoint))
        if self._client is None:
            import httpx2

            near = is_loopback(self.endpoint.address)
            self._client = httpx2.AsyncClient(
                headers=self._headers | {"user-agent": "palimpsest", "accept-encoding": ACCEPTED},
                timeout=httpx2.Timeout(self._settings.connect_timeout, read=None, write=None),
                trust_env=not near,  # a proxy has no business between us and our own machine
                verify=not self.endpoint.address.startswith("http://"),  # spares plain HTTP the reading of certificates
            )
        return self._client

    async def post(self, stack: AsyncExitStack, path: str, body: bytes) -> HttpResponse:
        """Sends `body`; the response lives as long as `stack`. Raises AttemptFailed for any status but 200."""
        import httpx2

        request = self._open().build_request(
            "POST", self.endpoint.address + path, content=body, headers={"content-type": "application/json"}
        )
        wait = self._settings.first_byte_timeout
        try:
            async with asyncio.timeout(wait):
                response = await self._open().send(request, stream=True)
        except TimeoutError:
            raise AttemptFailed(errors.timeout_error(self.endpoint, "first", wait)) from None
        except httpx2.ConnectTimeout as error:
            seconds = self._settings.connect_timeout
            raise AttemptFailed(errors.timeout_error(self.endpoint, "connect", seconds)) from error
        except (httpx2.ConnectError, httpx2.UnsupportedProtocol, httpx2.ProxyError) as error:
            raise AttemptFailed(errors.refused_error(self.endpoint, str(error))) from error
        except httpx2.TransportError as error:
            raise AttemptFailed(errors.truncated_error(self.endpoint, str(error)), retry=True) from error
        reply = HttpResponse(response, self.endpoint, self._settings)
        stack.push_async_callback(reply.close)
        if response.status_code != 200:
            raise await self._refusal(response)
        return reply

    async def _refusal(self, response: "httpx2.Response") -> AttemptFailed:
        import httpx2

        body = b""
        try:
            async with asyncio.timeout(self._settings.stall_timeout):
                async with aclosing(decompressed_body(response, self._settings.limits)) as chunks:
                    async for chunk in chunks:
                        body += chunk
                        if len(body) > ERROR_BODY:
                            break
        except (TimeoutError, httpx2.TransportError, DecompressionError, StreamLimitExceeded):
            pass  # the status alone says enough
        after = retry_after(response.headers.get("retry-after", ""), datetime.now(UTC))
        return errors.error_from_status(self.endpoint, response.status_code, body, after)

    async def ask(self, url: str, body: dict[str, Any] | None = None) -> dict[str, Any] | None:
        """A short query to the server at `url`: its JSON object, {} for any other body, None for no answer.

        A list of JSON is an object with the list as `data`.
        """
        import httpx2

        try:
            async with asyncio.timeout(ASK_TIMEOUT):
                request = self._open().build_request("GET" if body is None else "POST", url, json=body)
                response = await self._open().send(request, stream=True)
                reply = HttpResponse(response, self.endpoint, self._settings)
                try:
                    if response.status_code != 200:
                        return None
                    value: object = load_json(await reply.whole())
                finally:
                    await reply.close()
        except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL):
            return None
        except AttemptFailed as broken:
            return {} if broken.failed.code == "too_much" else None
        except BadJson:
            return {}
        if isinstance(value, list):
            value = {"data": cast("list[object]", value)}
        return cast("dict[str, Any]", value) if isinstance(value, dict) else {}

    async def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()


def _is_header_value(value: str) -> bool:
    """Whether HTTP can carry it: visible ASCII, with blanks inside alone."""
    return value == value.strip() and value.isascii() and value.isprintable()


class DecompressionError(Exception):
    """The body does not match its content coding, or the coding was not requested."""


class Unpacker:
    """Decompresses a body of the given content coding, chunk by chunk."""

    def __init__(self, coding: str, limits: StreamLimits) -> None:
        """Raises DecompressionError for a coding that was not requested."""
        self._coding = coding.strip().lower().replace("x-gzip", "gzip")
        if self._coding not in {"", "identity", "gzip", "deflate"}:
            raise DecompressionError(f"it is compressed as {self._coding[:40]}, which was not requested")
        self._times = limits.unpacked_times
        self._packed = self._unpacked = 0
        self._inflating = zlib.decompressobj(zlib.MAX_WBITS | 16 if self._coding == "gzip" else zlib.MAX_WBITS)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Raises StreamLimitExceeded for a decompression bomb, DecompressionError for damaged data."""
        if self._coding in {"", "identity"}:
            yield chunk
            return
        self._packed += len(chunk)
        while chunk:
            yield from self._counted(self._inflated(chunk))
            while self._inflating.unconsumed_tail:
                yield from self._counted(self._inflated(self._inflating.unconsumed_tail))
            chunk = self._inflating.unused_data
            if self._inflating.eof and chunk:
                if self._coding != "gzip":  # gzip alone may go on with another member
                    return
                self._inflating = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def _inflated(self, chunk: bytes) -> bytes:
        try:
            return self._inflating.decompress(chunk, PIECE)
        except zlib.error as error:
            if self._coding == "deflate" and not self._unpacked:  # without zlib's own head, as some servers send it
                self._inflating = zlib.decompressobj(-zlib.MAX_WBITS)
                self._coding = "raw deflate"
                return self._inflated(chunk)
            raise DecompressionError("it is damaged: it cannot be decompressed") from error

    def _counted(self, piece: bytes) -> Iterator[bytes]:
        self._unpacked += len(piece)
        if self._unpacked > MEGABYTE and self._unpacked > self._times * self._packed:
            raise StreamLimitExceeded("the decompressed size of its answer", "unpacked_times", self._times)
        if piece:
            yield piece


def retry_after(header: str, now: datetime) -> float | None:
    """Seconds of a Retry-After header: a number, or an HTTP date."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(header) - now).total_seconds())
    except (ValueError, TypeError):
        return None
