"""The definition of an MCP server, as `mcpServers` of other clients write it."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import SplitResult, parse_qsl, urlsplit

import msgspec
from msgspec import Struct

from foundation.errors import PalimpsestError
from foundation.files import UnsafePath, read_bytes, resolve_path
from foundation.shell_words import command_line
from foundation.terminal_text import visible_code_line


class ServerSource(StrEnum):
    """Where a server is configured. One of a project starts only with its owner's consent."""

    USER = "user"
    WORKSPACE = "config.yaml"
    PROJECT = "project"


class InvalidServer(PalimpsestError):
    """A server's definition that cannot be used."""

    code = "mcp_server"


class ServerSpec(Struct, frozen=True, kw_only=True):
    """A server, with its variables substituted. A `url` is reached by streamable HTTP, a `command` by stdio.

    `is_trusted`: the user's own configuration says that its output, and what it is sent, do no harm.
    `secrets` are values of its definition that appear in no output, no log and no error.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    timeout: float | None = None  # seconds a call may take
    include_tools: tuple[str, ...] = ()
    exclude_tools: tuple[str, ...] = ()
    is_trusted: bool = False
    secrets: tuple[str, ...] = ()


class ConfiguredServer(Struct, frozen=True, kw_only=True):
    """A server as configured; `raw` is its definition, without substitution. `problem`: why it cannot be used."""

    name: str
    source: ServerSource
    raw: dict[str, Any]
    folder: str  # the project folder: relative paths of the definition start there
    disabled: bool = False
    problem: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the definition and of the project's files that its command names: consent is to these, and is
        asked again where they change. What those files load is not known."""
        held: list[object] = [self.name, self.raw]
        if programs := self._programs():
            held.append(programs)
        try:
            body = msgspec.json.encode(held, order="deterministic")
        except UnicodeEncodeError:  # half of a surrogate pair, which JSON may hold
            body = json.dumps(held, sort_keys=True).encode()
        return hashlib.sha256(body).hexdigest()

    def _programs(self) -> dict[str, str]:
        """The SHA-256 of each file of the project that the command line names; "" for one that cannot be read."""
        root = resolve_path(Path(self.folder))
        start = root / str(self.raw.get("cwd") or "")
        found: dict[str, str] = {}
        for word in (self.raw.get("command", ""), *_listed(self.raw.get("args"))):
            for name in {str(word), str(word).rpartition("=")[2]}:
                with suppress(UnsafePath, RuntimeError, OSError, ValueError):
                    path = resolve_path(start / Path(name).expanduser())
                    if path.is_relative_to(root) and path.is_file():
                        found[path.relative_to(root).as_posix()] = _content_digest(path)
        return found

    @property
    def is_trusted(self) -> bool:
        """Whether the user's own file says that it is harmless. No other file can."""
        return self.source is ServerSource.USER and self.raw.get("trust") is True

    @property
    def summary(self) -> str:
        """What it would run or reach, with variables unsubstituted and without the values of `env` and `headers`."""
        if address := _address(self.raw):
            return visible_code_line(_without_query(str(address)))
        words = [str(self.raw.get("command", "")), *(str(word) for word in _listed(self.raw.get("args")))]
        return visible_code_line(command_line(*words))

    @property
    def effect(self) -> str:
        """What a consent allows, in a sentence."""
        if _address(self.raw):
            return (
                "The model calls its tools and sends it the arguments. Its answers may change; this definition may not."
            )
        return "It runs with your rights, outside the sandbox. The program may change; this definition may not."

    @property
    def facts(self) -> tuple[str, ...]:
        """All that the person should see before it runs, a line each."""
        lines = [f"It reaches {self.summary}" if _address(self.raw) else f"It runs: {self.summary}"]
        if cwd := self.raw.get("cwd"):
            lines.append(f"In the folder {visible_code_line(str(cwd))}")
        for field, label in (("env", "It receives the variables"), ("headers", "It sends the headers")):
            names = self.raw.get(field)
            if isinstance(names, dict) and names:
                listed = (
                    f"{name}={value}" if _VARIABLE.search(str(value)) else str(name)
                    for name, value in cast("dict[str, Any]", names).items()
                )
                lines.append(f"{label}: {visible_code_line(', '.join(listed))}")
        return tuple(lines)


_FIELDS: Final = {
    *("command", "args", "env", "cwd", "type", "transport", "url", "httpUrl", "serverUrl", "headers", "disabled"),
    *("enabled", "timeout", "includeTools", "excludeTools", "trust"),
}
_STDIO, _HTTP = {"stdio", "local"}, {"http", "streamable-http", "streamable_http", "streamableHttp", "remote"}
_VARIABLE: Final = re.compile(r"\$\{(?:env:)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")
_SECRET_NAME: Final = re.compile(
    r"key|token|secret|passw|pwd|auth|credential|cookie|session|private|(?:^|_)pat(?:_|$)|dsn|(?:database|db|redis|mongo)_ur[il]",
    re.IGNORECASE,
)
_PLAIN_HEADERS: Final = {"accept", "content-type", "user-agent", "mcp-protocol-version", "accept-language"}
LONGEST_NAME: Final = 200
MOST_PROGRAM_BYTES: Final = 64_000_000  # of a program in the project
SHORTEST_SECRET: Final = 6  # characters: a shorter value would be replaced in ordinary text
MOST_MILLISECONDS: Final = 1_000  # a `timeout` from here on is in milliseconds, as Claude Code and Gemini write it


def _content_digest(path: Path) -> str:
    try:
        return hashlib.sha256(read_bytes(path, most=MOST_PROGRAM_BYTES)).hexdigest()
    except OSError:
        return ""


def configured_server(name: str, raw: object, source: ServerSource, folder: str) -> ConfiguredServer:
    """The server as configured; a definition of the wrong shape has a `problem`."""
    if not isinstance(raw, dict):
        return ConfiguredServer(
            name=name, source=source, raw={}, folder=folder, problem="Its definition is not a JSON object."
        )
    fields = {str(field): value for field, value in cast("dict[Any, Any]", raw).items()}
    disabled = fields.get("disabled") is True or fields.get("enabled") is False
    return ConfiguredServer(
        name=name, source=source, raw=fields, folder=folder, disabled=disabled, problem=_problem(name, fields)
    )


def server_spec(server: ConfiguredServer, environment: Mapping[str, str]) -> ServerSpec:
    """The server with its variables substituted. Raises InvalidServer."""
    if server.problem:
        raise InvalidServer(f"The MCP server {visible_code_line(server.name)}", server.problem)
    reader = _Reader(server, environment)
    raw = server.raw
    env, headers = reader.mapping("env"), reader.mapping("headers")
    url = reader.text(str(_address(raw) or ""), "url")
    return ServerSpec(
        name=server.name,
        command=reader.text(str(raw.get("command") or ""), "command"),
        args=tuple(reader.text(str(word), "args") for word in _listed(raw.get("args"))),
        env=env,
        cwd=reader.text(str(raw.get("cwd") or ""), "cwd"),
        url=url,
        headers=headers,
        timeout=_seconds(raw.get("timeout")),
        include_tools=tuple(map(str, _listed(raw.get("includeTools")))),
        exclude_tools=tuple(map(str, _listed(raw.get("excludeTools")))),
        is_trusted=server.is_trusted,
        secrets=_secrets(env, headers, url, reader.substituted),
    )


class _Reader:
    """Substitutes `${VAR}` and `${VAR:-default}`; `substituted` are the values by variable."""

    def __init__(self, server: ConfiguredServer, environment: Mapping[str, str]) -> None:
        self._server = server
        self._environment = environment
        self.substituted: dict[str, str] = {}

    def text(self, text: str, field: str) -> str:
        def value(match: re.Match[str]) -> str:
            found = self._environment.get(match["name"]) or match["default"]
            if found is None:
                raise InvalidServer(
                    f"The MCP server {visible_code_line(self._server.name)}",
                    f"Its `{field}` uses the variable {match['name']}, which is not set.",
                    f"Set {match['name']} in the environment, or write ${{{match['name']}:-DEFAULT}}.",
                )
            self.substituted[match["name"]] = found
            return found

        return _VARIABLE.sub(value, text)

    def mapping(self, field: str) -> dict[str, str]:
        raw = self._server.raw.get(field)
        fields = cast("dict[Any, Any]", raw) if isinstance(raw, dict) else {}
        return {str(name): self.text(_scalar(value), field) for name, value in fields.items() if value is not None}


def _address(raw: Mapping[str, Any]) -> object:
    """The address of a server that is reached by HTTP, under any of its names."""
    return raw.get("url") or raw.get("httpUrl") or raw.get("serverUrl")


def _problem(name: str, raw: Mapping[str, Any]) -> str:
    """Why the definition cannot be used, as a sentence; "" where it can."""
    address = _address(raw)
    kind = str(raw.get("type") or raw.get("transport") or "").strip()
    if not name.strip() or len(name) > 200:
        return "Its name is empty or too long."
    if kind == "sse":
        return "HTTP+SSE is not supported: use its streamable HTTP address (type: http)."
    if kind and kind not in _STDIO | _HTTP:
        return f"Its type is “{visible_code_line(kind)[:40]}”; supported are stdio and http."
    if bool(address) == bool(raw.get("command")):
        return "It needs either a `command` or a `url`."
    return _wrong_address(address, kind) or _wrong_field(raw)


def _wrong_address(address: Any, kind: str) -> str:
    if (kind in _HTTP and not address) or (kind in _STDIO and address):
        return f"Its type is {kind}, which does not match its other fields."
    if address and not (isinstance(address, str) and address.startswith(("http://", "https://", "${"))):
        return "Its `url` is not an http or https address."
    return ""


def _wrong_field(raw: Mapping[str, Any]) -> str:
    """The first field of a wrong type, as a sentence; "" for none."""
    if raw.get("command") is not None and not isinstance(raw["command"], str):
        return "Its `command` must be a string; put arguments into `args`."
    for field in ("args", "includeTools", "excludeTools"):
        if not _is_list_of_texts(raw.get(field)):
            return f"Its `{field}` must be a list of strings."
    for field in ("env", "headers"):
        if problem := _wrong_mapping(raw.get(field)):
            return f"Its `{field}` {problem}."
    words = (raw.get("command"), raw.get("cwd"), *_listed(raw.get("args")))
    return "Its command holds a zero byte." if any("\0" in str(word) for word in words) else ""


def _is_list_of_texts(value: object) -> bool:
    return value is None or (
        isinstance(value, list) and all(isinstance(item, str | int | float) for item in cast("list[Any]", value))
    )


def _wrong_mapping(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, dict):
        return "is not an object"
    held = cast("dict[Any, Any]", value)
    if any(isinstance(item, dict | list) for item in held.values()):
        return "contains a value that must be a string"
    has_breaks = any(mark in str(text) for pair in held.items() for text in pair for mark in "\r\n\0")
    return "contains a line break" if has_breaks else ""


def _secrets(
    env: Mapping[str, str], headers: Mapping[str, str], url: str, substituted: Mapping[str, str]
) -> tuple[str, ...]:
    """The values that must not be shown, longest first, so that a part of one never remains."""
    held = [value for name, value in (*env.items(), *substituted.items()) if _SECRET_NAME.search(name)]
    for name, value in headers.items():
        if name.lower() not in _PLAIN_HEADERS:
            held += [value, value.rpartition(" ")[2]]
    if parts := _split(url):
        held += [part for part in (parts.username, parts.password) if part]
        held += [value for _, value in parse_qsl(parts.query)]
    return tuple(
        sorted({value for value in held if len(value) >= SHORTEST_SECRET}, key=lambda value: (-len(value), value))
    )


def unknown_fields(server: ConfiguredServer) -> tuple[str, ...]:
    """Fields of the definition that have no effect here."""
    return tuple(sorted(field for field in server.raw if field not in _FIELDS))


def _listed(value: object) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    return float(value) / 1000 if value >= MOST_MILLISECONDS else float(value)


def _without_query(url: str) -> str:
    """The address without user name, password and query, which may hold keys."""
    parts = _split(url)
    if parts is None or not parts.netloc:
        return url.partition("?")[0]
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:  # brackets of no IPv6 address
        return None
