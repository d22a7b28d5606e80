"""The output of a command as it comes: its beginning and its end in bounded memory, and the count of all.

It is held in memory and not in a file: what a command prints reaches the disk only after foundation.privacy.
"""

import codecs
from collections import deque
from threading import Lock
from typing import Final

from foundation.terminal_text import without_colours

END_SHARE: Final = 0.25  # of the limit, kept for the end: errors come last
MOST_RECENT: Final = 8_000  # bytes that one report shows: a flood of output must not flood the screen


class CapturedOutput:
    """Bytes in, text out. Safe for two threads."""

    def __init__(self, most: int) -> None:
        """`most`: bytes that are kept."""
        self._most_end = int(most * END_SHARE)
        self._most_start = most - self._most_end
        self._start = bytearray()
        self._end: deque[bytes] = deque()
        self._end_size = 0
        self._total = 0
        self._read = 0  # bytes of `_total` that `new_text` gave
        self._recent = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lock = Lock()

    @property
    def total(self) -> int:
        """Bytes that came."""
        return self._total

    def add(self, data: bytes) -> None:
        """Adds what the command printed."""
        with self._lock:
            self._total += len(data)
            self._recent += data
            if len(self._recent) > 2 * MOST_RECENT:
                del self._recent[:-MOST_RECENT]
            room = self._most_start - len(self._start)
            self._start += data[:room]
            if rest := data[room:]:
                self._end.append(rest)
                self._end_size += len(rest)
                while self._end_size - len(self._end[0]) >= self._most_end:
                    self._end_size -= len(self._end.popleft())

    def text(self) -> str:
        """All that is kept, with a line that counts what is not."""
        with self._lock:
            return self._joined(0)

    def new_text(self) -> str:
        """What came since the last call, as far as it is kept."""
        with self._lock:
            since, self._read = self._read, self._total
            return self._joined(since)

    def take_recent(self) -> str:
        """The last of what came since the last call, to be shown while the command runs."""
        with self._lock:
            data, self._recent = bytes(self._recent[-MOST_RECENT:]), bytearray()
            return _plain_line_ends(self._decoder.decode(data))

    def _joined(self, since: int) -> str:
        """What is kept from the byte `since` on."""
        end = b"".join(self._end)
        end = end[max(len(end) - self._most_end, 0) :]
        end_at = self._total - len(end)
        start = bytes(self._start[since:])
        missing = end_at - max(len(self._start), since)
        if missing <= 0:
            return _decoded(start + end[max(since - end_at, 0) :])
        gap = f"\n[… {missing:,} bytes of output are not kept (tools.command_output_mb)]\n"
        return _decoded(start) + gap + _decoded(end)


def _decoded(data: bytes) -> str:
    """The text without colours, which would cost a model tokens and say nothing to it."""
    return without_colours(_plain_line_ends(data.decode("utf-8", "replace")))


def _plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n")
