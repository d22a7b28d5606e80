"""Opens the MCP servers of a session, as they are configured."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from agent.mcp.configuration import McpConfiguration, read_configuration
from agent.mcp.consent import ConsentStore
from agent.mcp.servers import McpServers
from agent.mcp.settings import McpSettings
from agent.tools.port import ToolSettings
from foundation.paths import config_dir


def open_servers(
    settings: McpSettings, tools: ToolSettings, environment: Mapping[str, str], folders: Sequence[Path]
) -> McpServers:
    """The servers that are configured for these project folders, not started."""
    configuration = (
        read_configuration(settings.servers, environment, folders) if settings.enabled else McpConfiguration()
    )
    consents = ConsentStore(config_dir(environment))
    return McpServers(configuration, settings, environment, consents, definition_tokens=tools.mcp_definition_tokens)
