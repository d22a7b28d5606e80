"""Streamable HTTP transport: the SDK's own, over a client whose responses are bounded.

A response may be of one size at most, where it is no stream of events, and a stream may not flood. Nothing is
unpacked: a body that grows when unpacked is refused.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from mcp.client.streamable_http import streamable_http_client

from agent.mcp.rate_limit import MESSAGE_BYTES, RateLimit, ServerFlood
from agent.mcp.server_spec import ServerSpec

CONNECT_SECONDS: Final = 10.0
SILENCE_SECONDS: Final = 300.0  # of a stream of events
_LOCAL: Final = {"127.0.0.1", "localhost", "::1"}


class _BoundedBody(httpx2.AsyncByteStream):
    """The body of a response, counted as it arrives. A body that is too large ends as a broken connection."""

    def __init__(self, body: httpx2.AsyncByteStream, most: int | None, limit: RateLimit) -> None:
        self._body = body
        self._most = most
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._body:
            read += len(chunk)
            if self._most is not None and read > self._most:
                raise httpx2.RemoteProtocolError(f"the response is larger than {self._most // 2**20} MB")
            try:
                await self._limit.take(chunk.count(b"\n\n") + chunk.count(b"\r\n\r\n"), len(chunk))
            except ServerFlood as flood:
                raise httpx2.RemoteProtocolError(f"the server {flood}") from flood
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


class BoundedTransport(httpx2.AsyncBaseTransport):
    """A transport whose responses are bounded. `failed` is called with the reason of a failed request."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, failed: Callable[[str], None]) -> None:
        self._inner = inner
        self._failed = failed
        self._limit = RateLimit()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            self._failed(_reason(error))
            raise
        if response.status_code >= 400 and response.status_code not in {404, 405}:
            self._failed(_refusal(response.status_code))
        if response.headers.get("content-encoding", "identity").lower() not in {"", "identity"}:
            await response.aclose()
            self._failed("sent a compressed response, which was not asked for")
            raise httpx2.RemoteProtocolError("the response is compressed, which was not asked for")
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        body = cast(httpx2.AsyncByteStream, response.stream)
        return httpx2.Response(
            status_code=response.status_code,
            headers=response.headers,
            stream=_BoundedBody(body, None if is_stream else MESSAGE_BYTES, self._limit),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


@asynccontextmanager
async def http_transport(spec: ServerSpec, failed: Callable[[str], None]) -> AsyncGenerator[Any, None]:
    """The streams of a server that is reached over HTTP."""
    inner = httpx2.AsyncHTTPTransport(verify=not spec.url.startswith("http://"), proxy=_proxy(spec.url))
    client = httpx2.AsyncClient(
        transport=BoundedTransport(inner, failed),
        headers={**spec.headers, "accept-encoding": "identity"},
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=SILENCE_SECONDS),
    )
    async with (
        client,
        streamable_http_client(spec.url, http_client=client, max_sse_event_size=MESSAGE_BYTES) as streams,
    ):
        yield streams


def _proxy(url: str) -> str | None:
    """The proxy that the environment names for the address; none for this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return None if host in _LOCAL or proxy_bypass(host) else getproxies().get(parts.scheme)


def _refusal(status: int) -> str:
    if status in {401, 403}:
        return (
            f"refused the request (HTTP {status}): put its token into `headers`; signing in by browser is not supported"
        )
    return f"answered with HTTP {status}"


def _reason(error: httpx2.TransportError) -> str:
    if isinstance(error, httpx2.TimeoutException):
        return "did not answer in time"
    return f"cannot be reached: {error}" if str(error) else "cannot be reached"
