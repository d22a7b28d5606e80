"""What a workspace's own configuration lets in once it is trusted: commands, addresses, and wider permissions."""

import os
import reprlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from agent.config.files import ConfigError, ConfigValue, read_values
from agent.config.secrets import SERVERS, without_secrets
from agent.config.settings import all_settings, sections
from agent.hooks.command_files import CommandFiles
from foundation.named_programs import commands_in
from foundation.paths import Workspace
from foundation.shell_words import command_line
from foundation.terminal_text import visible_line

_POWERS: Final = (
    *("hooks.", SERVERS, "tools.mode", "tools.sandbox", "tools.sandbox_network", "tools.sandbox_folders"),
    *("tools.command_environment", "tools.fetch", "tools.fetch_hosts", "tools.fetch_private_hosts"),
    *("sync.locations", "sync.recipients", "sync.background", "model", "models.ocr_server", "models.ocr_checkpoint"),
    *("models.run_checkpoint_code", "embed.embedder", "context.summary_model", "observe.model", "archive.storage"),
    *("retention.rules", "retention.archive_days", "retention.delete_days", "retention.background"),
)
"""Settings that give away something, gravest first; a name with a dot at its end is a whole section."""
_HARMLESS: Final = {"tools.mode": ("read-only", "plan")}
_LONGEST: Final = 200  # characters of a line

SHORT_REPR: Final = reprlib.Repr()
SHORT_REPR.maxlevel, SHORT_REPR.maxlist, SHORT_REPR.maxdict, SHORT_REPR.maxstring = 2, 4, 4, 80


def workspace_powers(workspace: Workspace) -> tuple[str, ...]:
    """What its config.yaml sets that differs from the defaults and gives away something: a line a command, an MCP
    server or a setting, gravest first. Only reads; () for a file that cannot be read, which sets nothing."""
    try:
        values = read_values(workspace.config, sections(), workspace.root)
    except ConfigError:
        return ()
    ranked = sorted(((rank, value) for value in values if (rank := _rank(value)) is not None), key=lambda item: item[0])
    return tuple(line for _, value in ranked for line in _lines(value, workspace.root))


def _rank(line: ConfigValue) -> int | None:
    """Its place among the powers; None where it gives nothing away."""
    setting = all_settings().get(line.name)
    if setting is None or line.value in (setting.default, None, "", [], {}, *_HARMLESS.get(line.name, ())):
        return None
    ranks = (rank for rank, power in enumerate(_POWERS) if line.name == power or line.name.startswith(_section(power)))
    return next(ranks, None)


def _section(power: str) -> tuple[str, ...]:
    return (power,) if power.endswith(".") else ()


def _lines(line: ConfigValue, folder: Path) -> Iterator[str]:
    for shown in shown_parts(without_secrets(line.value, line.name), line.name):
        is_open = line.name.startswith("hooks.") and CommandFiles((folder,), os.environ).resolve(shown) is None
        text = visible_line(f"{line.name}{' (may run any file)' if is_open else ''}: {shown}")
        yield text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def shown_parts(value: Any, name: str) -> list[str]:
    """The value for a person. Of hooks the commands, of MCP servers what they run: that is what is trusted."""
    if name == SERVERS and isinstance(value, dict):
        servers = cast("dict[str, Any]", value)
        return [f"{server} {_runs(raw)}" for server, raw in servers.items()]
    if isinstance(value, str):
        return [value]
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, list) and all(isinstance(item, str) for item in cast("list[Any]", value)):
        return [", ".join(cast("list[str]", value))]
    return [*commands_in(value)] or [SHORT_REPR.repr(value)]


def _runs(raw: Any) -> str:
    """What the server runs or reaches, as the definition has it."""
    match raw:
        case {"url": address} | {"httpUrl": address} | {"serverUrl": address}:
            return f"reaches {address}"
        case {"command": command, **rest}:
            arguments = rest.get("args")
            words = cast("list[Any]", arguments) if isinstance(arguments, list) else []
            return f"runs {command_line(*map(str, (command, *words)))}"
        case _:
            return SHORT_REPR.repr(raw)
