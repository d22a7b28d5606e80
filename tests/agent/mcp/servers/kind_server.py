"""A well-behaved MCP server, written with the SDK: `kind_server.py [stdio|http PORT]`."""

import os
import sys
from typing import Annotated

from mcp.server.mcpserver import Context, Image, MCPServer
from pydantic import Field

server = MCPServer("kind")


@server.tool()
def add(a: int, b: Annotated[int, Field(description="The second summand")]) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def large(lines: int) -> str:
    """Give so many lines."""
    return "\n".join(f"line {number} of the large output" for number in range(1, lines + 1))


@server.tool()
def variables() -> dict[str, str]:
    """Give the environment of the server."""
    return dict(os.environ)


@server.tool()
def picture() -> Image:
    """Give a picture."""
    return Image(data=b"\x89PNG" + bytes(60), format="png")


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("it went wrong " * 2_000)


@server.tool()
async def slow(seconds: float, context: Context) -> str:
    """Wait, and report progress."""
    import anyio

    for step in range(10):
        await context.report_progress(step, 10, f"step {step}")
        await anyio.sleep(seconds / 10)
    return "done"


if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run("stdio")
