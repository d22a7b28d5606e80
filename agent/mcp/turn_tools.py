"""The MCP tools of a turn, and what changed of them since the last."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.mcp.definitions import OfferedTool
from agent.mcp.tools import McpTool, ToolServers
from agent.permissions.rules import RuleSet
from agent.tools.registry import Toolbox
from foundation.terminal_text import visible_line

if TYPE_CHECKING:
    from agent.mcp.servers import McpServers


class ToolChanges(Struct, frozen=True):
    """The tools to offer from now on; `changed` are those (names) of which a permission no longer holds."""

    tools: tuple[McpTool, ...]
    notices: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class TurnTools:
    """Takes the tools that servers offer, once a turn: within a turn their definitions do not change."""

    def __init__(self, servers: ToolServers) -> None:
        self._servers = servers
        self._taken: dict[str, OfferedTool] = {}  # the tools of the last turn, by name
        self._tools: dict[str, McpTool] = {}
        self.are_taken = False  # a turn has taken tools

    def take(self, offered: Mapping[str, OfferedTool], is_other: Callable[[OfferedTool], bool]) -> ToolChanges:
        """The tools for the next turn. `is_other`: whether a tool was listed in this session before, as another."""
        before, self._taken = self._taken, dict(offered)
        changed = {name for name, tool in offered.items() if name in before and before[name].digest != tool.digest}
        changed |= {name for name, tool in offered.items() if name not in before and is_other(tool)}
        notices = tuple(_notices(before, offered, changed)) if self.are_taken else ()
        self.are_taken = True
        kept = {name: tool for name, tool in self._tools.items() if offered.get(name) == tool.offered}
        self._tools = {
            name: kept.get(name) or McpTool(tool, self._servers, is_changed=name in changed)
            for name, tool in offered.items()
        }
        return ToolChanges(tuple(self._tools.values()), notices, tuple(sorted(changed)))


async def refresh_tools(
    servers: "McpServers", toolbox: Toolbox, rules: RuleSet, is_stopped: Callable[[], bool]
) -> Sequence[str]:
    """Waits for servers that are starting, and gives the toolbox their tools; a sentence for each change.

    A permission for this session does not hold for a tool that changed.
    """
    if not servers.is_configured:
        return ()
    await servers.wait(is_stopped)
    changes = servers.take_tools()
    toolbox.add(changes.tools)
    rules.forget(changes.changed)
    return changes.notices


def _notices(before: Mapping[str, OfferedTool], after: Mapping[str, OfferedTool], changed: set[str]) -> Sequence[str]:
    notices: list[str] = []
    for server in sorted({tool.server for tool in (*before.values(), *after.values())}):
        gone = [name for name, tool in before.items() if tool.server == server and name not in after]
        new = [name for name, tool in after.items() if tool.server == server and name not in before]
        other = [name for name in sorted(changed) if after[name].server == server]
        parts = [
            *([f"new: {_listed(new)}"] if new else []),
            *([f"removed: {_listed(gone)}"] if gone else []),
            *([f"changed: {_listed(other)} (its permissions in this session were reset)"] if other else []),
        ]
        if parts:
            notices.append(f"The tools of the MCP server {visible_line(server)} changed; {'; '.join(parts)}.")
    return notices


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(sorted(names)[:most]) + more
