"""`/mcp`: the MCP servers of the session."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agent.commands.command import Command
from agent.commands.results import Choice, Choices, OpenNamedScreen, Outcome, Proposal, TextResult
from foundation.errors import Misuse
from foundation.privacy import TextSource, clear
from foundation.terminal_text import visible_line

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.mcp.server_state import ServerStatus
    from agent.session import Session
    from memory.pages.types import OnPage

ACTIONS = ("restart", "disable", "enable", "trust", "harmless")
HOW_TO = (
    "No MCP server is configured. `mcp.json` in the user's configuration folder, or `.mcp.json` in the project, "
    'names them: `{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}`.'
)


async def _mcp(session: Session, rest: str) -> Outcome:
    action, _, name = rest.partition(" ")
    name = name.strip()
    if not action:

        async def printed() -> Outcome:
            await session.servers.wait()
            return TextResult(_table(session))

        return OpenNamedScreen("mcp", "", printed)
    if action not in ACTIONS:
        raise Misuse("Unknown action", f"/mcp has no action {action}.", f"The actions are: {', '.join(ACTIONS)}.")
    servers = session.servers
    if not name:
        items = tuple(Choice(status.name, status.name, status.state) for status in servers.statuses())
        return Choices(f"Which server to {action}", items, f"/mcp {action}") if items else TextResult(HOW_TO)
    if action == "trust":
        return _trust(session, name)
    if action == "harmless":
        from agent.services.mcp_servers import SessionServers

        own = SessionServers(session)
        await own.set_trusted(name, trusted=not servers.find(name).is_trusted)
        return TextResult(_line(session, name))
    change = {"restart": servers.restart, "disable": servers.disable, "enable": servers.enable}[action]
    await asyncio.to_thread(change, name)
    return TextResult(_line(session, name))


def _trust(session: Session, name: str) -> Outcome:
    from agent.mcp.server_spec import ServerSource

    server = session.servers.find(name)
    if server.source is not ServerSource.PROJECT:
        raise Misuse("It needs no consent", f"{visible_line(name)} is in your own configuration.")

    async def run(_on_page: OnPage) -> Outcome:
        await asyncio.to_thread(session.servers.answer, name, allowed=True)
        await session.servers.wait()
        return TextResult(_line(session, name))

    rows = tuple(("", fact) for fact in (*server.facts, server.effect))
    title = f"Trust the MCP server {visible_line(name)}"
    return Proposal(title=title, rows=rows, activity="starting", run=run, takes_enter=False)


def _table(session: Session) -> str:
    statuses = session.servers.statuses()
    lines = [f"- {_cleared(problem)}" for problem in session.servers.problems]
    if not statuses:
        return "\n".join([HOW_TO, *([""] if lines else []), *lines])
    rows = ["| server | state | tools | tokens | what it runs |", "|---|---|---:|---:|---|"]
    for status in statuses:
        cells = (status.name, _state(status), f"{len(status.tools):,}", f"{status.tokens:,}", status.summary)
        rows.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    notes = [note for status in statuses for note in _notes(status)]
    parts = ["\n".join(rows), "\n".join(notes + lines), TOKENS_NOTE if any(s.tokens for s in statuses) else ""]
    return "\n\n".join(part for part in parts if part)


TOKENS_NOTE = "Tokens of the tool definitions, which are part of each request."


def _state(status: ServerStatus) -> str:
    protocol = f", {status.protocol}" if status.protocol else ""
    restarts = f", {status.restarts} restarts" if status.restarts else ""
    return f"{status.state}{protocol}{restarts}"


def _notes(status: ServerStatus) -> tuple[str, ...]:
    """A line each for the last error and for what of its tools was left out."""
    name = _cleared(visible_line(status.name))
    return tuple(f"- {name}: {_cleared(visible_line(note))}" for note in (status.error, status.notice) if note)


def _line(session: Session, name: str) -> str:
    status = next(status for status in session.servers.statuses() if status.name == name)
    tools = f"; {len(status.tools):,} tools from the next message" if status.tools else ""
    error = f": {_cleared(status.error)}" if status.error else ""
    harmless = ", marked as harmless" if status.is_trusted else ""
    return f"{_cleared(visible_line(name))} is {_state(status)}{harmless}{error}{tools}."


def _cell(text: str) -> str:
    return _cleared(visible_line(text)).replace("|", "\\|")


def _cleared(text: str) -> str:
    """The text without keys, which an argument of a command line may be."""
    return clear(text, TextSource.OTHER)


COMMANDS = (
    Command(
        name="mcp",
        summary="List the MCP servers, or restart, disable, enable or trust one, or mark it as harmless.",
        usage="[restart|disable|enable|trust|harmless NAME]",
        keys="Enter opens its tools, l its log, r restarts it, o turns it off or on, y trusts one of the project, "
        "a adds one, d removes it, Esc leaves.",
        run=_mcp,
    ),
)
