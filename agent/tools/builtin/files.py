"""Reading a file of the workspace. Asks first, and never leaves the folder."""

from pathlib import Path
from typing import Any

from agent.tools.port import ToolFailure, wanted
from foundation.files import FileTooLarge, read_bytes, real_within
from models.messages import Tool

MOST_BYTES = 2_000_000


class ReadFile:
    """The text of one file in the workspace."""

    asks = True
    keeps = False
    structured = False
    definition = Tool(
        "read_file",
        "Read a text file of the user's workspace. The user is asked each time.",
        {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    )

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def summary(self, arguments: dict[str, Any]) -> str:
        return f"read {arguments.get('path', '')}"

    def run(self, arguments: dict[str, Any]) -> str:
        path = self._within(wanted(arguments, "path"))
        try:
            body = read_bytes(real_within(path, self._root), most=MOST_BYTES)
            return body.decode("utf-8").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise ToolFailure("Not text", f"{path.name} is not UTF-8 text.") from error
        except FileTooLarge as error:
            raise ToolFailure("Too large", f"{path.name} is larger than {MOST_BYTES:,} bytes.") from error
        except OSError as error:
            raise ToolFailure("Not readable", f"{path.name}: {error.strerror}.") from error

    def _within(self, asked: str) -> Path:
        path = (self._root / asked).resolve()
        inside = path.is_relative_to(self._root)
        hidden = inside and any(part.startswith(".") for part in path.relative_to(self._root).parts)
        if not inside or hidden:
            raise ToolFailure("Out of bounds", f"{asked} is not a visible file of the workspace.")
        return path
