"""The MCP servers of a session, for their screen: state and log, restart, off and on, add and remove."""

import asyncio
import hashlib
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import structs

from agent.config.secrets import text_without_secrets
from agent.mcp.configuration import USER_FILE
from agent.mcp.server_spec import ConfiguredServer, ServerSource, configured_server
from agent.mcp.server_state import ServerState
from foundation.bounded_json import BadJson, load_json
from foundation.errors import Misuse, PalimpsestError, TemporaryFailure
from foundation.files import FileLock, LockTimeout, encode, make_private_folder, resolve_path, write_atomically
from foundation.files.untrusted import UnreadableFile, read_own_text
from foundation.paths import config_dir
from foundation.privacy import TextSource, as_given, clear
from foundation.terminal_text import visible_line

if TYPE_CHECKING:
    from agent.mcp.server_state import ServerStatus
    from agent.session import Session

_EXAMPLE: Final = "Examples: time uvx mcp-server-time · issues https://example.org/mcp"
_SECRET_HINT: Final = "Write ${VARIABLE} instead, and set the variable in the environment."
_OWN: Final = f"Only a server of your own {USER_FILE} can be marked as harmless."
_LOCK_SECONDS: Final = 5
_WHERE: Final = {
    ServerSource.WORKSPACE: "mcp.servers of config.yaml",
    ServerSource.PROJECT: "the project's .mcp.json",
}


def parse_server(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the definition of `NAME COMMAND ARGUMENTS`, `NAME https://…` or `NAME {"command": …}`.

    Raises Misuse for what is no definition, and for one that holds a key.
    """
    name, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    if not rest:
        raise Misuse("Not a server", "Give a name and a command, or a name and an address.", _EXAMPLE)
    if text_without_secrets(rest) != rest:
        raise Misuse(
            "A key in a definition", "The line contains a key or a password, which would be stored.", _SECRET_HINT
        )
    raw = _definition(rest)
    if problem := configured_server(name, raw, ServerSource.USER, "").problem:
        raise Misuse("Not a server", problem, _EXAMPLE)
    return name, raw


def _definition(rest: str) -> dict[str, Any]:
    if rest.startswith(("http://", "https://")):
        return {"type": "http", "url": rest}
    if rest.startswith("{"):
        try:
            value = load_json(rest)
        except BadJson as error:
            raise Misuse("Not a server", f"The definition cannot be read: {error}.", _EXAMPLE) from error
        return cast("dict[str, Any]", value)
    try:
        command, *arguments = shlex.split(rest)
    except ValueError as error:
        raise Misuse("Not a server", f"The command line cannot be read: {error}.", _EXAMPLE) from error
    return {"command": command, "args": arguments}


def cleared_status(status: "ServerStatus") -> "ServerStatus":
    """The status without keys, which an argument of a command line or a line of a log may be."""
    summary, error, notice, log = (
        clear(text, TextSource.OTHER) for text in (status.summary, status.error, status.notice, status.log)
    )
    return structs.replace(status, summary=summary, error=error, notice=notice, log=log)


class SessionServers:
    """The MCP servers of one session."""

    def __init__(self, session: "Session") -> None:
        self._servers = session.servers
        self._environment = session.config.environment
        self._folder = str(session.project.root)

    @property
    def path(self) -> Path:
        """The file that holds the user's own servers."""
        return resolve_path(config_dir(self._environment) / USER_FILE)

    @property
    def problems(self) -> Sequence[str]:
        return self._servers.problems

    def statuses(self) -> "Sequence[ServerStatus]":
        return self._servers.statuses()

    def start(self) -> None:
        """Starts what may run; returns at once."""
        self._servers.start()

    def facts(self, name: str) -> Sequence[str]:
        """What the server runs or reaches, and what a consent to it allows. Raises Misuse."""
        server = self._servers.find(name)
        return (*server.facts, server.effect)

    async def restart(self, name: str) -> None:
        await asyncio.to_thread(self._servers.restart, name)

    async def switch(self, name: str) -> None:
        """Off where it is on, and on where it is off, for this session."""
        status = next((each for each in self.statuses() if each.name == name), None)
        is_off = status is not None and status.state is ServerState.DISABLED
        await asyncio.to_thread(self._servers.enable if is_off else self._servers.disable, name)

    async def trust(self, name: str) -> None:
        """Allows a server of the project, and starts it."""
        await asyncio.to_thread(self._servers.answer, name, allowed=True)

    async def set_trusted(self, name: str, *, trusted: bool) -> None:
        """Says in the user's own file whether the server is harmless, and restarts it. Raises Misuse."""
        server = self._servers.find(name)
        if server.source is not ServerSource.USER:
            raise Misuse("Not your own", f"{visible_line(name)} is configured in {_WHERE[server.source]}.", _OWN)
        raw = {**server.raw, "trust": trusted}
        await asyncio.to_thread(change_user_file, self.path, lambda servers: {**servers, name: raw})
        await asyncio.to_thread(self._servers.drop, name)
        self._servers.put(structs.replace(server, raw=raw))

    def is_free(self, name: str) -> bool:
        return all(status.name != name for status in self.statuses())

    async def add(self, text: str) -> str:
        """Stores the server of this line in the user's file, and starts it; gives its name. Raises Misuse."""
        name, raw = parse_server(text)
        await asyncio.to_thread(self._add, name, raw)
        return name

    def _add(self, name: str, raw: dict[str, Any]) -> None:
        def with_it(servers: dict[str, Any]) -> dict[str, Any]:
            if name in servers or not self.is_free(name):
                raise Misuse("Name already used", f"There is already an MCP server {visible_line(name)}.")
            return {**servers, name: raw}

        change_user_file(self.path, with_it)
        self._servers.put(configured_server(name, raw, ServerSource.USER, self._folder))

    async def remove(self, name: str) -> None:
        """Takes the server out of the user's file and ends it. Raises Misuse for one that is configured elsewhere."""
        server = self._servers.find(name)
        if server.source is not ServerSource.USER:
            raise _elsewhere(server)
        await asyncio.to_thread(
            change_user_file, self.path, lambda servers: {key: raw for key, raw in servers.items() if key != name}
        )
        await asyncio.to_thread(self._servers.drop, name)


def _elsewhere(server: ConfiguredServer) -> Misuse:
    where = _WHERE[server.source]
    return Misuse(
        "Not removed", f"{visible_line(server.name)} is configured in {where}.", "Remove it there; o turns it off."
    )


def change_user_file(path: Path, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
    """Changes `mcpServers` of the user's file and keeps all else in it, and the file as it was as a version. Blocks.

    Raises Misuse where the file cannot be read, and what `change` raises.
    """
    make_private_folder(path.parent)
    try:
        with FileLock(path.with_name("mcp.lock"), timeout=_LOCK_SECONDS):
            text = _read(path)
            content = _content(path, text)
            servers = content.get("mcpServers", {})
            content["mcpServers"] = dict(change(cast("dict[str, Any]", servers if isinstance(servers, dict) else {})))
            if text:
                versions = path.parent / "versions"
                make_private_folder(versions)
                redacted = text_without_secrets(text)
                digest = hashlib.sha256(encode(redacted)).hexdigest()[:12]
                write_atomically(versions / f"mcp-{digest}.json", redacted)
            write_atomically(path, as_given(json.dumps(content, indent=2, ensure_ascii=False) + "\n"))
    except LockTimeout as error:
        message = f"Another process has held {path} for {_LOCK_SECONDS} s."
        raise TemporaryFailure("The file is busy", message, "Try again.") from error


def _read(path: Path) -> str:
    try:
        return read_own_text(path)
    except FileNotFoundError:
        return ""
    except (UnreadableFile, OSError, PalimpsestError) as error:
        raise Misuse("Not readable", f"{path} cannot be read: {error}.", "Put a JSON file in its place.") from error


def _content(path: Path, text: str) -> dict[str, Any]:
    try:
        content: object = load_json(text or "{}")
    except BadJson as error:
        raise Misuse("Not readable", f"{path}: {error}.", "Repair it by hand first.") from error
    if not isinstance(content, dict):
        raise Misuse("Not readable", f"{path} is no JSON object.", "Repair it by hand first.")
    return cast("dict[str, Any]", content)
