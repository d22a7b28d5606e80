"""MCP screen: each server with its state, tools, tokens and log; restart, off and on, trust, add, remove."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Protocol

from textual import work
from textual.binding import Binding, BindingType

from agent.mcp.server_spec import ServerSource
from agent.mcp.server_state import ServerState
from agent.services.mcp_servers import cleared_status, parse_server
from foundation.errors import PalimpsestError
from foundation.figures import counted
from foundation.install_hints import missing_extra
from foundation.terminal_text import visible_line
from tui.dialogs.confirm import ProposalScreen, YesScreen
from tui.dialogs.line import LineScreen
from tui.overview.list_screen import ListContents, ListRow, ListScreen
from tui.passages.text_screen import TextScreen
from tui.typed_app import app_of
from tui.widgets.transcript.block import BlockText

if TYPE_CHECKING:
    from agent.mcp.server_state import ServerStatus

PERIOD_S: Final = 0.5  # between two looks at servers that start
MAX_LOG: Final = 1_000  # characters of the log beside the list
MAX_DESCRIPTION: Final = 300  # characters of a tool's description beside the list
_SERVER: Final = "server "  # before a name, in the id of a row
_EMPTY: Final = (
    "No MCP server is configured. a adds one: a program or an address that gives the model more tools. It runs "
    "with your permissions, outside the command sandbox."
)
_NOTES: Final = (
    "A name, then a command line or an address. It is saved to mcp.json in your configuration folder and started now.",
    "time uvx mcp-server-time · issues https://example.org/mcp",
)
_NO_EXTRA: Final = "The extra mcp is not installed, so no server can start"
_WARNED: Final = {ServerState.FAILED, ServerState.INVALID, ServerState.UNTRUSTED}
_STATES: Final = {
    ServerState.DISABLED: "off",
    ServerState.UNTRUSTED: "not trusted yet",
    ServerState.READY: "running",
    ServerState.STOPPED: "ended",
}


_SOURCES: Final = {
    ServerSource.USER: "your own mcp.json",
    ServerSource.WORKSPACE: "mcp.servers of config.yaml",
    ServerSource.PROJECT: "the project's .mcp.json",
}


class ServersPort(Protocol):
    """What the screen needs of the session (agent.services.mcp_servers)."""

    @property
    def problems(self) -> Sequence[str]: ...

    def statuses(self) -> "Sequence[ServerStatus]": ...

    def start(self) -> None: ...

    def facts(self, name: str) -> Sequence[str]: ...

    async def restart(self, name: str) -> None: ...

    async def switch(self, name: str) -> None: ...

    async def trust(self, name: str) -> None: ...

    async def add(self, text: str) -> str: ...

    async def remove(self, name: str) -> None: ...


class ServersScreen(ListScreen[None]):
    """The MCP servers of a session."""

    heading = "MCP servers"
    keys: ClassVar[str] = "Enter tools · l log · r restart · o on/off · a add · d remove · Esc back"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "log", "Show the end of the server's log", id="mcp.log", show=False),
        Binding("r", "restart", "Restart the server", id="mcp.restart", show=False),
        Binding("o", "switch", "Turn the server off, or on again", id="mcp.switch", show=False),
        Binding("y", "trust", "Trust a server of the project", id="mcp.trust", show=False),
        Binding("a", "add", "Add a server", id="mcp.add", show=False),
        Binding("d", "remove", "Remove the server", id="mcp.remove", show=False),
    ]

    def __init__(self, servers: ServersPort) -> None:
        super().__init__()
        self._servers = servers
        self._install = missing_extra("mcp", "mcp")
        self._known: Sequence[ServerStatus] = ()
        self._seen: Sequence[ServerStatus] = ()  # the same, without keys

    def on_mount(self) -> None:
        super().on_mount()
        self._servers.start()
        self.set_interval(PERIOD_S, self._look)

    def _look(self) -> None:
        """Lists the servers again where a state changed."""
        if self.is_read and tuple(self._servers.statuses()) != self._known:
            self.say("")
            self.reload()

    async def read(self) -> ListContents:
        self._known = tuple(self._servers.statuses())
        self._seen = statuses = await asyncio.to_thread(lambda: [cleared_status(status) for status in self._known])
        rows = [row for status in statuses for row in _rows(status)]
        if self._install:
            rows.insert(0, ListRow(label=_NO_EXTRA, id="extra", detail=f"Install it: {self._install}", is_warning=True))
        if self._servers.problems:
            rows.append(ListRow(label="Not used"))
        for number, problem in enumerate(self._servers.problems):
            rows.append(ListRow(label=problem, id=f"problem {number}", detail=problem, is_warning=True))
        running = sum(status.state is ServerState.READY for status in statuses)
        tokens = sum(status.tokens for status in statuses)
        about = f"{running} of {len(statuses)} running · their tools take {tokens:,} tokens of each request"
        return ListContents(tuple(rows), about if statuses else "", _EMPTY)

    @property
    def _status(self) -> "ServerStatus | None":
        """The server of the chosen row."""
        id_ = self.chosen.id if self.chosen else ""
        return next((each for each in self._seen if id_ in {f"{_SERVER}{each.name}", *_tool_ids(each)}), None)

    # What keys do

    async def open_row(self, row: ListRow) -> None:
        if status := self._status:
            tools = [
                f"{tool.definition.name}  {tool.tokens:,} tokens\n{tool.definition.description}"
                for tool in status.offered
            ]
            text = "\n\n".join([_detail(status), *tools])
            app_of(self).push_screen(TextScreen(status.name, lambda: BlockText(text)))
        elif row.id:
            app_of(self).push_screen(TextScreen("MCP", lambda: BlockText(row.detail)))

    def action_log(self) -> None:
        if status := self._status:
            text = status.log or "No log: the server wrote nothing to standard error, or it is reached by HTTP."
            app_of(self).push_screen(TextScreen(f"{status.name}: log", lambda: BlockText(text)))

    def action_restart(self) -> None:
        self._do("restarting", self._servers.restart)

    def action_switch(self) -> None:
        self._do("switching", self._servers.switch)

    @work(exclusive=True, group="change")
    async def _do(self, doing: str, change: Callable[[str], Awaitable[None]]) -> None:
        if (status := self._status) is None:
            self.say("Choose a server first.", wrong=True)
            return
        self.say(f"{doing} {status.name} …")
        await self._changed(change, status.name)

    async def _changed(self, change: Callable[[str], Awaitable[None]], name: str) -> None:
        try:
            await change(name)
        except (PalimpsestError, OSError) as error:
            self.say(_sentence(error), wrong=True)
        else:
            status = next((each for each in self._servers.statuses() if each.name == name), None)
            self.say(f"{name} is {_state(status)}." if status else f"{name} removed.")
        self.reload()

    @work(exclusive=True, group="change")
    async def action_trust(self) -> None:
        """Shows what a server of the project runs, and asks whether it may."""
        if (status := self._status) is None or status.state is not ServerState.UNTRUSTED:
            self.say("This server does not need to be trusted.", wrong=True)
            return
        rows = tuple(("", fact) for fact in self._servers.facts(status.name))
        if await app_of(self).push_screen_wait(YesScreen(f"Trust the MCP server {status.name}", rows)):
            await self._changed(self._servers.trust, status.name)

    @work(exclusive=True, group="change")
    async def action_add(self) -> None:
        notes = (f"{_NO_EXTRA}. Install it: {self._install}", *_NOTES) if self._install else _NOTES
        screen = LineScreen("Add an MCP server", notes, parse_server, example="time uvx mcp-server-time")
        if (typed := await app_of(self).push_screen_wait(screen)) is None:
            return
        try:
            name = await self._servers.add(typed.text)
        except (PalimpsestError, OSError) as error:
            self.say(_sentence(error), wrong=True)
            return
        self.contents = await self.read()
        self.draw(f"{_SERVER}{name}")
        self.say(f"{name} is saved and starting. Its tools are available from the next message.")

    @work(exclusive=True, group="change")
    async def action_remove(self) -> None:
        if (status := self._status) is None:
            return
        rows = (("what", status.summary), ("then", "it stops and is removed from mcp.json; the old file is kept"))
        if await app_of(self).push_screen_wait(ProposalScreen(f"Remove the MCP server {status.name}", rows)):
            await self._changed(self._servers.remove, status.name)


def _rows(status: "ServerStatus") -> Iterator[ListRow]:
    tokens = f" · {counted(len(status.tools), 'tool')} · {status.tokens:,} tokens" if status.tools else ""
    yield ListRow(
        label=status.name,
        id=f"{_SERVER}{status.name}",
        figure=f"{_state(status)}{tokens}",
        detail=_detail(status),
        is_warning=status.state in _WARNED,
    )
    for tool, id_ in zip(status.offered, _tool_ids(status), strict=True):
        description = visible_line(tool.definition.description)
        yield ListRow(
            label=f"· {tool.definition.name}",
            id=id_,
            figure=f"{tool.tokens:,} tokens",
            detail=f"{tool.definition.name}: {_cut(description, MAX_DESCRIPTION)}",
        )


def _tool_ids(status: "ServerStatus") -> list[str]:
    return [f"tool {tool.definition.name}" for tool in status.offered]


def _state(status: "ServerStatus") -> str:
    return _STATES.get(status.state, status.state.value)


def _detail(status: "ServerStatus") -> str:
    protocol = f", MCP {status.protocol}" if status.protocol else ""
    restarts = f", restarted {status.restarts} times" if status.restarts else ""
    lines = [
        f"{status.summary}",
        f"{_state(status)}{protocol}{restarts}; from {_SOURCES[status.source]}.",
        f"Marked as harmless: its output counts as trusted. /mcp harmless {status.name} removes the mark."
        if status.is_trusted
        else "",
        status.error,
        status.notice,
        "y shows what it runs and asks for permission." if status.state is ServerState.UNTRUSTED else "",
        f"Log: {_cut(status.log, MAX_LOG)}" if status.log else "",
    ]
    return "\n".join(line for line in lines if line)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _sentence(error: PalimpsestError | OSError) -> str:
    return f"{error.message} {error.hint}".strip() if isinstance(error, PalimpsestError) else f"{error}."
