"""Settings of tools."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from agent.permissions.mode import PermissionMode


class ToolSettings(Struct, frozen=True):
    """What the model may call."""

    enabled: Annotated[bool, Meta(extra={"guarded": True})] = True
    """Offer tools to models that are known to take them."""
    offer: Literal["auto", "memory", "project", "all"] = "auto"
    """Which tools a model is offered: auto adds those for files and commands in a project, and the rest for a large
    model; memory, project and all say it."""
    result_chars: Annotated[int, Meta(ge=0, le=1_000_000)] = 4500
    """How much of a tool's output the model sees at once; the whole is kept and can be recalled."""
    most_calls: Annotated[int, Meta(ge=0, extra={"guarded": True})] = 200
    """How many tool calls one turn may make before it asks whether to go on; without a screen it ends there."""
    checkpoint_days: Annotated[int, Meta(ge=0, le=100_000)] = 30
    """Days without a change of files after which a conversation's checkpoints are removed; 0 keeps them for good."""
    mode: Annotated[PermissionMode, Meta(extra={"guarded": True})] = PermissionMode.ASK
    """What tools may do where no rule decides: edit allows edits in the project, auto commands in a sandbox too."""
    window_share: Annotated[float, Meta(gt=0, le=1)] = 0.2
    """The share of a model's window that the tools' definitions may take; where they take more, fewer are offered."""
    delegations: Annotated[int, Meta(ge=0, extra={"guarded": True})] = 10
    """How many questions one turn may delegate to a fresh context."""
    delegate_calls: Annotated[int, Meta(ge=0, extra={"guarded": True})] = 40
    """How many tool calls one delegated question may make."""
    delegate_tokens: Annotated[int, Meta(ge=0, extra={"guarded": True})] = 500_000
    """How many tokens one delegated question may take, over all its requests."""
    mcp_definition_tokens: Annotated[int, Meta(ge=0, le=1_000_000)] = 3_000
    """How many tokens the definitions of one MCP server's tools may take in each request."""
    command_seconds: Annotated[int, Meta(ge=1, le=3600)] = 120
    """The time limit of a command for which the model sets none."""
    command_output_mb: Annotated[int, Meta(ge=1, le=64)] = 8
    """How much of a command's output is kept; the rest of it is counted."""
    command_environment: str = ""
    """Environment variables that commands get though their names or values look like secrets, separated by spaces."""
    sandbox: Annotated[bool, Meta(extra={"guarded": True})] = True
    """Run commands in a sandbox, where the system has one."""
    sandbox_network: Annotated[bool, Meta(extra={"guarded": True})] = False
    """Commands in the sandbox may use the network."""
    sandbox_folders: str = ""
    """Folders that commands in the sandbox may write besides the project's, separated as PATH is."""

    fetch: Annotated[bool, Meta(extra={"guarded": True})] = False
    """Offer the tool that reads web pages."""
    fetch_hosts: str = ""
    """Hosts that it may read, separated by spaces, such as docs.python.org or *.example.org; none: any public one."""
    fetch_private_hosts: str = ""
    """Hosts that it may read though their addresses are not public, separated by spaces."""
    fetch_mb: Annotated[int, Meta(ge=1, le=64)] = 8
    """The largest page that is read."""
    fetch_seconds: Annotated[int, Meta(ge=1, le=600)] = 30
    """The time limit of a page."""
