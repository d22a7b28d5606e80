"""The settings of MCP servers."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct


class McpSettings(Struct, frozen=True, kw_only=True):
    """MCP servers, and how long they are waited for."""

    servers: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict[str, dict[str, Any]])
    """MCP servers by name, as `mcpServers` in other programs: `command`, `args`, `env`, or `url`, `headers`."""
    enabled: Annotated[bool, Meta(extra={"guarded": True})] = True
    """Start MCP servers that are configured."""
    start_seconds: Annotated[float, Meta(gt=0, le=600)] = 30.0
    """How long a server may take to start and to list its tools."""
    wait_seconds: Annotated[float, Meta(ge=0, le=600)] = 5.0
    """How long a turn waits for servers that are starting; their tools are offered from the next turn otherwise."""
    call_seconds: Annotated[float, Meta(gt=0, le=86_400)] = 120.0
    """How long a call may take, where the server has no `timeout` of its own."""
    restarts: Annotated[int, Meta(ge=0, le=100, extra={"guarded": True})] = 3
    """How often a server that died is started again in a session."""
