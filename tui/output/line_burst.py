"""Lines that arrive at once are a paste, also from a terminal that puts no brackets around it.

`tmux paste-buffer` without -p types the lines, an Enter after each: 200 of them sent 152 messages, and the screen stood
still for 15 seconds.
"""

import re
import time
from typing import Final

LEAST_LINES: Final = 3  # in one read; what is typed ahead of a busy screen has fewer
SILENCE_S: Final = 0.05  # after which nothing more of them comes: a terminal writes them in one go
_LINE_END: Final = re.compile(r"\r\n?|\n")
_KEY: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # an escape, or a key that is no text


class LineBurst:
    """Collects such lines until nothing more of them comes."""

    def __init__(self) -> None:
        self._parts = list[str]()
        self._since = 0.0  # when the last part came, on the monotonic clock

    def takes(self, data: str) -> bool:
        """Whether the input is part of such a paste. Where it is not, `release` gives what came before it."""
        if _KEY.search(data) or not (self._parts or _are_lines(data)):
            return False
        self._parts.append(data)
        self._since = time.monotonic()
        return True

    def release(self) -> str:
        """The text so far; "" for none."""
        text, self._parts = "".join(self._parts), []
        return text

    def release_whole(self) -> str:
        """The text, where no more of it comes; "" for none."""
        return self.release() if time.monotonic() - self._since >= SILENCE_S else ""


def _are_lines(data: str) -> bool:
    """Whether it has several lines with text; Enter held down is none."""
    return sum(bool(line.strip()) for line in _LINE_END.split(data)) >= LEAST_LINES
