"""Settings of hooks."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

_JOINED = {"guarded": True, "joined": True}


class HookCommand(Struct, frozen=True):
    """A command, run by the shell. `timeout` is in seconds.

    `watch` counts for a line that may run any file of the project: `project` disables the hook when a file changed,
    `named` only when one that the line names did.
    """

    command: str
    type: Literal["command"] = "command"
    timeout: Annotated[float, Meta(gt=0, le=3600)] = 60
    watch: Literal["project", "named"] = "project"


class HookMatcher(Struct, frozen=True):
    """Commands for the tools whose names match: a name, a regular expression, or `*` and "" for every tool."""

    hooks: tuple[HookCommand, ...]
    matcher: str = ""


HookList = Annotated[tuple[HookMatcher, ...], Meta(extra=_JOINED)]


class HookSettings(
    Struct,
    frozen=True,
    kw_only=True,
    rename={
        "session_start": "SessionStart",
        "user_prompt_submit": "UserPromptSubmit",
        "pre_tool_use": "PreToolUse",
        "post_tool_use": "PostToolUse",
        "pre_compact": "PreCompact",
        "stop": "Stop",
        "session_end": "SessionEnd",
    },
):
    """Commands that run at points of a session. Those of the user and of a trusted workspace all run."""

    session_start: HookList = ()
    """Commands run before the first message of a conversation; their output is added to the message."""
    user_prompt_submit: HookList = ()
    """Commands run before each message; their output is added to it."""
    pre_tool_use: HookList = ()
    """Commands run before each tool call. They can deny it."""
    post_tool_use: HookList = ()
    """Commands run after each tool call."""
    pre_compact: HookList = ()
    """Commands run before older messages are archived."""
    stop: HookList = ()
    """Commands run after each answer."""
    session_end: HookList = ()
    """Commands run when the session closes."""
