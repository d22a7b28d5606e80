"""Which MCP servers are configured: the user's `mcp.json`, `mcp.servers` of config.yaml, the project's `.mcp.json`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, cast

from msgspec import Struct

from agent.mcp.server_spec import ConfiguredServer, ServerSource, configured_server
from agent.tools.files.project import named_paths, program_files, script_words
from foundation.bounded_json import BadJson, load_json
from foundation.files.untrusted import UnreadableFile, read_own_text
from foundation.paths import config_dir

USER_FILE: Final = "mcp.json"
PROJECT_FILE: Final = ".mcp.json"
MOST_SERVERS: Final = 50
MOST_BYTES: Final = 500_000


class McpConfiguration(Struct, frozen=True):
    """The servers by name, and a sentence for each file or server that cannot be used."""

    servers: tuple[ConfiguredServer, ...] = ()
    problems: tuple[str, ...] = ()


def read_configuration(
    settings: Mapping[str, Mapping[str, Any]], environment: Mapping[str, str], folders: Sequence[Path]
) -> McpConfiguration:
    """The servers of the user, and of the project in the first of `folders`, which replaces none of the user."""
    problems: list[str] = []
    folder = folders[0] if folders else Path.cwd()
    sources = (
        (ServerSource.USER, _servers_in(config_dir(environment) / USER_FILE, problems, within=None)),
        (ServerSource.WORKSPACE, dict(settings)),
        (ServerSource.PROJECT, _servers_in(folder / PROJECT_FILE, problems, within=folder)),
    )
    servers: dict[str, ConfiguredServer] = {}
    for source, definitions in sources:
        for name, raw in definitions.items():
            if name in servers:
                problems.append(f"“{name}” is configured twice; the definition in {_WHERE[source]} is ignored.")
            elif len(servers) >= MOST_SERVERS:
                problems.append(f"More than {MOST_SERVERS} MCP servers are configured; “{name}” is ignored.")
            else:
                servers[name] = configured_server(name, raw, source, str(folder))
    problems += _broken(servers.values())
    return McpConfiguration(tuple(servers[name] for name in sorted(servers)), tuple(problems))


def server_programs(servers: Iterable[ConfiguredServer], folder: Path) -> list[Path]:
    """The programs and scripts of the project folder that the servers run, and modules of it that `-m` names."""
    found: set[Path] = set()
    for server in servers:
        raw, arguments = server.raw, server.raw.get("args")
        words = [raw.get("command"), *(cast("list[Any]", arguments) if isinstance(arguments, list) else [])]
        texts = [word for word in words if isinstance(word, str)]
        for option, module in [*pairwise(texts)]:
            path = module.replace(".", "/") if option == "-m" else ""
            texts += [f"{path}{end}" for end in (".py", "/__init__.py", "/__main__.py") if path]
        texts = script_words(texts) if texts else []
        own = raw.get("cwd")
        folders = [folder, folder / own] if isinstance(own, str) and "\0" not in own else [folder]
        found.update(program_files(named_paths(texts, folder, folders), folder))
    return sorted(found)


_WHERE: Final = {
    ServerSource.USER: USER_FILE,
    ServerSource.WORKSPACE: "config.yaml",
    ServerSource.PROJECT: f"the project's {PROJECT_FILE}",
}


def _servers_in(path: Path, problems: list[str], within: Path | None) -> dict[str, Any]:
    try:
        content = load_json(read_own_text(path, within=within, most=MOST_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (UnreadableFile, BadJson) as error:
        problems.append(f"{path} is not used: {error}.")
        return {}
    except OSError as error:
        problems.append(f"{path} is not used: {error.strerror or error}.")
        return {}
    servers = cast("dict[str, Any]", content).get("mcpServers") if isinstance(content, dict) else None
    if not isinstance(servers, dict):
        problems.append(f"{path} is ignored: it has no `mcpServers` object.")
        return {}
    return cast("dict[str, Any]", servers)


def _broken(servers: Iterable[ConfiguredServer]) -> Iterator[str]:
    return (f"“{server.name}” ({_WHERE[server.source]}): {server.problem}" for server in servers if server.problem)
