"""The settings of MCP servers."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct


class McpSettings(Struct, frozen=True, kw_only=True):
    """MCP servers, and how long they are waited for."""

    servers: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict[str, dict[str, Any]])
    """MCP servers by name, in the format of `mcpServers` in other programs: `command`, `args`, `env`, or `url`,
    `headers`."""
    enabled: Annotated[bool, Meta(extra={"guarded": True})] = True
    """Start the configured MCP servers."""
    start_seconds: Annotated[float, Meta(gt=0, le=600)] = 30.0
    """Time limit for a server to start and list its tools."""
    wait_seconds: Annotated[float, Meta(ge=0, le=600)] = 5.0
    """How long a turn waits for starting servers; otherwise their tools are available from the next turn."""
    call_seconds: Annotated[float, Meta(gt=0, le=86_400)] = 120.0
    """Time limit of a call, unless the server sets its own `timeout`."""
    restarts: Annotated[int, Meta(ge=0, le=100, extra={"guarded": True})] = 3
    """Maximum restarts of a crashed server per session."""
