"""Settings of tools."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from agent.permissions.mode import PermissionMode


class ToolSettings(Struct, frozen=True):
    """What the model may call."""

    enabled: Annotated[bool, Meta(extra={"guarded": True})] = True
    """Offer tools to models that support them."""
    offer: Literal["auto", "memory", "project", "all"] = "auto"
    """Tools offered to the model: auto adds file and command tools in a project, and the rest for a large model;
    memory, project and all fix the set."""
    result_chars: Annotated[int, Meta(ge=0, le=1_000_000)] = 4500
    """Maximum characters of tool output that the model sees at once. The full output is stored and can be recalled."""
    most_calls: Annotated[int, Meta(ge=0, extra={"guarded": True})] = 200
    """Tool calls per turn before you are asked to continue; without a screen the turn stops."""
    checkpoint_days: Annotated[int, Meta(ge=0, le=100_000)] = 30
    """Days without file changes after which a conversation's checkpoints are deleted; 0 for never."""
    checkpoint_mb: Annotated[int, Meta(ge=1, le=500)] = 20
    """Maximum size of a file for which /undo covers what commands do."""
    checkpoint_ignored: bool = False
    """/undo also covers what commands do to files that .gitignore leaves out."""
    mode: Annotated[PermissionMode, Meta(extra={"guarded": True})] = PermissionMode.ASK
    """What tools may do when no rule matches: edit allows edits in the project, auto also allows sandboxed commands."""
    window_share: Annotated[float, Meta(gt=0, le=1)] = 0.2
    """Maximum share of the window for tool definitions; beyond it, fewer tools are offered."""
    delegations: Annotated[int, Meta(ge=0, extra={"guarded": True})] = 10
    """Maximum delegated questions per turn."""
    delegate_calls: Annotated[int, Meta(ge=0, extra={"guarded": True})] = 40
    """Maximum tool calls per delegated question."""
    delegate_tokens: Annotated[int, Meta(ge=0, extra={"guarded": True})] = 500_000
    """Maximum tokens per delegated question, over all its requests."""
    mcp_definition_tokens: Annotated[int, Meta(ge=0, le=1_000_000)] = 3_000
    """Maximum tokens per request for the tool definitions of one MCP server."""
    command_seconds: Annotated[int, Meta(ge=1, le=3600)] = 120
    """Default time limit of a command."""
    command_output_mb: Annotated[int, Meta(ge=1, le=64)] = 8
    """Maximum stored output of a command; the rest is only counted."""
    command_environment: str = ""
    """Environment variables passed to commands although they look like secrets, separated by spaces."""
    sandbox: Annotated[bool, Meta(extra={"guarded": True})] = True
    """Run commands in a sandbox, if the system has one."""
    sandbox_network: Annotated[bool, Meta(extra={"guarded": True})] = False
    """Commands in the sandbox may use the network."""
    sandbox_folders: str = ""
    """Additional folders that sandboxed commands may write to, separated as in PATH."""

    fetch: Annotated[bool, Meta(extra={"guarded": True})] = False
    """Offer the tool that reads web pages."""
    fetch_hosts: str = ""
    """Hosts it may read, separated by spaces, such as docs.python.org or *.example.org; empty for any public host."""
    fetch_private_hosts: str = ""
    """Hosts with private addresses that it may read, separated by spaces."""
    fetch_mb: Annotated[int, Meta(ge=1, le=64)] = 8
    """Maximum size of a page."""
    fetch_seconds: Annotated[int, Meta(ge=1, le=600)] = 30
    """Time limit for a page."""
