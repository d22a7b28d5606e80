"""Names of MCP tools, as model servers accept them: `server__tool`, [a-zA-Z0-9_-], 64 characters.

A name depends on the configured servers and on the server's own tools, never on which server was there first.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

LONGEST_NAME: Final = 64
LONGEST_SERVER: Final = 24
SEPARATOR: Final = "__"
_HASH = 6  # hexadecimal digits that tell two equal names apart


def server_prefixes(servers: Iterable[str]) -> dict[str, str]:
    """The part before `__` of each server's tools; different for different servers."""
    return _distinct({name: _server_part(name) for name in servers}, LONGEST_SERVER)


def tool_names(prefix: str, tools: Iterable[str]) -> dict[str, str]:
    """The name of each of a server's tools; different for different tools."""
    room = LONGEST_NAME - len(prefix) - len(SEPARATOR)
    parts = _distinct({name: _plain(name) or "tool" for name in tools}, room)
    return {name: prefix + SEPARATOR + part for name, part in parts.items()}


def _server_part(name: str) -> str:
    part = re.sub(r"_{2,}", "_", _plain(name)).strip("_")
    return part if part[:1].isalpha() else f"mcp_{part}".rstrip("_")


def _plain(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)


def _distinct(parts: dict[str, str], longest: int) -> dict[str, str]:
    """Parts that are too long, or not unique and altered, get a hash of the whole name."""
    counts = Counter(part.casefold() for part in parts.values())
    return {
        name: part
        if len(part) <= longest and (counts[part.casefold()] == 1 or part == name)
        else f"{part[: longest - _HASH - 1]}_{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:_HASH]}"
        for name, part in parts.items()
    }
