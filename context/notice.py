"""Notice about a file of the workspace."""

from typing import Literal

from msgspec import Struct

Level = Literal["info", "warning", "error"]


class FileNotice(Struct, frozen=True):
    """A message about a file. `line` counts from 1; 0 for none.

    A text that begins with the path is a complete sentence: the location is not repeated before it.
    """

    level: Level
    text: str
    path: str = ""
    line: int = 0

    def __str__(self) -> str:
        if self.path and self.text.startswith(self.path):
            return self.text
        location = f"{self.path}:{self.line}" if self.line else self.path
        return f"{location}: {self.text}" if location else self.text
