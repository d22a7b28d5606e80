"""The definitions of all tools are held to a number of tokens, and a tool that is off is not described."""

from pathlib import Path
from typing import Any

from agent.tools.port import ToolSettings
from models.messages import Tool
from models.tokens import Estimate, tool_tokens
from tests.agent.sessions import open_session


def definitions(session: Any) -> tuple[Tool, ...]:
    return session.toolbox.definitions


MOST_TOKENS = 1_500  # by the estimate


async def test_the_definitions_are_within_their_budget(workspace: Any, tmp_path: Path) -> None:
    session = open_session(workspace, tmp_path, tools=ToolSettings(fetch=True))
    try:
        tools = definitions(session)
        assert "fetch_url" in {tool.name for tool in tools}
        total = tool_tokens(tools, Estimate())
        assert total <= MOST_TOKENS, {tool.name: tool_tokens((tool,), Estimate()) for tool in tools}
    finally:
        await session.close()


async def test_a_tool_that_is_off_is_not_described(workspace: Any, tmp_path: Path) -> None:
    session = open_session(workspace, tmp_path)
    try:
        assert "fetch_url" not in {tool.name for tool in definitions(session)}
    finally:
        await session.close()
