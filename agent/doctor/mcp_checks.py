"""Checks of the MCP servers that are configured. None is started: `/mcp` shows what they answer."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent.doctor.model_checks import CheckResult
from agent.mcp.configuration import read_configuration
from agent.mcp.consent import ConsentStore
from agent.mcp.server_spec import ConfiguredServer, InvalidServer, ServerSource, server_spec, unknown_fields
from agent.mcp.settings import McpSettings
from foundation.paths import config_dir
from foundation.privacy import TextSource, clear
from foundation.terminal_text import visible_line


def mcp_findings(settings: McpSettings, environment: Mapping[str, str]) -> Iterator[CheckResult]:
    """A line for each server of the user and of the current folder, and for each file that cannot be used."""
    configuration = read_configuration(settings.servers, environment, (Path.cwd(),))
    consents = ConsentStore(config_dir(environment))
    for problem in configuration.problems:
        yield CheckResult("mcp", "wrong", clear(visible_line(problem), TextSource.OTHER), "Correct its definition.")
    for server in configuration.servers:
        if not server.problem:
            yield _server(server, consents, environment)


def _server(server: ConfiguredServer, consents: ConsentStore, environment: Mapping[str, str]) -> CheckResult:
    title = visible_line(server.name)
    summary = f"{title}: {clear(server.summary, TextSource.OTHER)}"
    if server.disabled:
        return CheckResult("mcp", "ok", f"{summary}; it is disabled.")
    if server.source is ServerSource.PROJECT and consents.answer(server) is not True:
        return CheckResult("mcp", "missing", f"{summary}; this project's .mcp.json is not trusted.", "`/mcp trust`")
    try:
        spec = server_spec(server, environment)
    except InvalidServer as error:
        return CheckResult("mcp", "wrong", f"{title}: {error.message}", error.hint)
    if spec.command and shutil.which(spec.command, path=spec.env.get("PATH") or environment.get("PATH")) is None:
        return CheckResult("mcp", "wrong", f"{summary}; program {visible_line(spec.command)} not found.", "Install it.")
    if ignored := unknown_fields(server):
        return CheckResult("mcp", "ok", f"{summary}; ignored here: {visible_line(', '.join(ignored))}.")
    return CheckResult("mcp", "ok", summary)
