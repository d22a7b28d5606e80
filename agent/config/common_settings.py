"""The settings that people change most, in the order of lists, by their names in words."""

from typing import Final

COMMON: Final = {
    "model": "Model",
    "models.daily_tokens": "Daily token limit",
    "models.daily_cost": "Daily cost limit",
    "tools.mode": "Permission mode",
    "tools.sandbox_network": "Network in the sandbox",
    "tools.fetch": "Reading web pages",
    "mcp.servers": "MCP servers",
    "context.recall": "Recall for each message",
    "context.carry_summary": "Summary of the last conversation",
    "context.working_tokens": "Size of a request",
    "embed.embedder": "Search by meaning",
    "screen.theme": "Colours",
    "screen.notify": "Notifications",
    "screen.panel": "Side panel",
    "screen.vim_keys": "Vim keys",
}
