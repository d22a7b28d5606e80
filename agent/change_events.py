"""Events about what a tool call changed in files: checkpoints, and versions of the workspace's own files."""

import asyncio
from collections.abc import AsyncGenerator

from agent.checkpoints.checkpoints import Checkpoints
from agent.events import (
    CallWritten,
    CheckpointMade,
    ReasoningDelta,
    SessionEvent,
    TextDelta,
    ToolFinished,
    UsageKnown,
    VersionMade,
)
from memory.versions.file_history import FileHistory


async def with_changes(
    checkpoints: Checkpoints, history: FileHistory, event: SessionEvent
) -> AsyncGenerator[SessionEvent]:
    """The event, with what tool calls changed around it; each change is given once. What a command changed is found out
    while the answer goes on, and comes within it."""
    if isinstance(event, UsageKnown):
        await asyncio.to_thread(checkpoints.commands.settle)
    if isinstance(event, TextDelta | ReasoningDelta | CallWritten | UsageKnown):
        for change in _known_checkpoints(checkpoints):
            yield change
    yield event
    if isinstance(event, ToolFinished):
        for change in (*_known_checkpoints(checkpoints), *map(VersionMade, history.take_made())):
            yield change


def _known_checkpoints(checkpoints: Checkpoints) -> list[CheckpointMade]:
    made = checkpoints.take_made() if checkpoints.commands.is_settled else ()
    return [CheckpointMade(record) for record in made]
