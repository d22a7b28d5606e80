"""Secrets in settings: refused when set, redacted when a file that contains one is shown or copied."""

import re
from typing import Any, Final, cast

from agent.config.settings import Setting
from foundation.errors import Misuse
from foundation.privacy import Cleared, TextSource, clear, cleared_value

SERVERS: Final = "mcp.servers"
_NAMED_IN_ADDRESS = re.compile(r"(?<=://)[^\s/@:\"']*:\S*@")
"""User name and password in an address; a password may contain a slash or an @ itself."""
_MARK = "[secret: url-password]@"
_HINT = "Set the key in the environment: PALIMPSEST_OPENAI_KEY, or the provider's own variable."


def refuse_secrets(setting: Setting, value: Any) -> None:
    """Raises Misuse where the value contains a key or a password: it would be shown, stored, and kept as a version."""
    if without_secrets(value, setting.name) != value:
        raise Misuse("A secret in a setting", f"The value for `{setting.name}` contains a key or a password.", _HINT)


def without_secrets(value: Any, name: str = "") -> Any:
    """A setting's value with secrets redacted."""
    match value:
        case str():
            return cleared_value(_NAMED_IN_ADDRESS.sub(_MARK, value), name)
        case dict() if name == SERVERS:
            servers = cast("dict[str, dict[str, Any]]", value)
            return cleared_value({server: _without_values(raw) for server, raw in servers.items()}, name)
        case _:
            return cleared_value(value, name)


def _without_values(server: dict[str, Any]) -> dict[str, Any]:
    """An MCP server's definition with the names of its variables and headers only."""
    return {
        field: dict.fromkeys(cast("dict[str, Any]", value), "…")
        if field in {"env", "headers"} and isinstance(value, dict)
        else value
        for field, value in server.items()
    }


def text_without_secrets(text: str) -> Cleared:
    """A configuration file's text with secrets redacted, for the copy that is kept."""
    return clear(_NAMED_IN_ADDRESS.sub(_MARK, text), TextSource.OTHER)
