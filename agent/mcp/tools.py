"""An MCP tool as a tool of the session."""

import json
from typing import Any, Protocol

from agent.mcp.definitions import OfferedTool
from agent.permissions.action import Access, Action
from agent.permissions.tool_facts import ToolFacts
from agent.tools.port import ToolPurpose, ToolRun, UsualTool
from foundation.terminal_text import visible_line
from models.messages import Tool

MOST_SUMMARY = 200  # characters of the arguments in the summary


class ToolServers(Protocol):
    """Who runs the calls (agent.mcp.servers)."""

    def call(self, server: str, tool: str, arguments: dict[str, Any], run: ToolRun) -> str:
        """The whole result. Blocks. Raises ToolFailure."""
        ...


class McpTool(UsualTool):
    """A tool of a server. It always asks, whatever the server says of it, where no rule decides."""

    purpose = ToolPurpose.SERVER
    stores_arguments = True  # they leave the program: without the words that the person hid

    def __init__(self, offered: OfferedTool, servers: ToolServers, *, is_changed: bool = False) -> None:
        """`is_changed`: its description or its arguments changed in this session, and it was not called since."""
        self.offered = offered
        self.is_changed = is_changed
        self._servers = servers

    @property
    def facts(self) -> ToolFacts:
        return ToolFacts(self.definition.name, Access.NETWORK)

    @property
    def definition(self) -> Tool:
        return self.offered.definition

    def action(self, arguments: dict[str, Any]) -> Action:
        name = self.definition.name
        written = json.dumps(arguments, ensure_ascii=False)
        shown = visible_line(written)
        short = (
            shown if len(shown) <= MOST_SUMMARY else shown[:MOST_SUMMARY].rsplit(maxsplit=1)[0] + "…"
        )  # half of a key is none
        return Action(
            tool=name,
            access=self.facts.access,
            summary=f"{name} {short}" if arguments else name,
            subject=written,
            detail=json.dumps(arguments, ensure_ascii=False, indent=2) if arguments else "",
            concern=f"The server {visible_line(self.offered.server)} changed this tool since the session began."
            if self.is_changed
            else "",
            is_for_tool=True,
            is_contained=self.offered.is_trusted,
        )

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        result = self._servers.call(self.offered.server, self.offered.tool, arguments, run)
        self.is_changed = False
        return result
