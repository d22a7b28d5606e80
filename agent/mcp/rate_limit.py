"""How much a server may send: a burst, and a rate after it. What is more waits in the server's own pipe."""

import asyncio
import time
from typing import Final

from foundation.sizes import MEGABYTE

MESSAGE_BYTES: Final = 8 * MEGABYTE
"""The largest message of a server, and the largest body of an HTTP response."""
BURST_MESSAGES: Final = 2_000
BURST_BYTES: Final = 4 * MESSAGE_BYTES
MESSAGES_A_SECOND: Final = 200.0
BYTES_A_SECOND: Final = 8.0 * MEGABYTE
MOST_DELAY: Final = 10.0  # seconds held back in a row, after which the server is ended


class ServerFlood(Exception):
    """The server sends more than is read. The message says what, as the end of a sentence."""


class RateLimit:
    """Two buckets, of messages and of bytes, that refill with time."""

    def __init__(self, messages: float = BURST_MESSAGES, size: float = BURST_BYTES) -> None:
        self._full = (messages, size)
        self._messages, self._bytes = messages, size
        self._time = time.monotonic()
        self._delayed = 0.0

    async def take(self, messages: int, size: int) -> None:
        """Waits until so much may be read. Raises ServerFlood where it waited too long in a row."""
        self._refill()
        self._messages -= messages
        self._bytes -= size
        delay = max(-self._messages / MESSAGES_A_SECOND, -self._bytes / BYTES_A_SECOND, 0.0)
        if not delay:
            if self._messages > self._full[0] / 2 and self._bytes > self._full[1] / 2:
                self._delayed = 0.0
            return
        self._delayed += delay
        if self._delayed > MOST_DELAY:
            raise ServerFlood(f"sends more than {MESSAGES_A_SECOND:,.0f} messages or 8 MB a second")
        await asyncio.sleep(delay)

    def _refill(self) -> None:
        now = time.monotonic()
        elapsed, self._time = now - self._time, now
        self._messages = min(self._full[0], self._messages + elapsed * MESSAGES_A_SECOND)
        self._bytes = min(self._full[1], self._bytes + elapsed * BYTES_A_SECOND)
