"""`palimpsest doctor`."""

import click

from agent.cli import output
from agent.cli.group import CliCommand
from agent.cli.invocation import current
from agent.doctor.doctor import run_checks

SIGNS = {"ok": "✓", "missing": "·", "wrong": "✗"}


@click.command(cls=CliCommand)
def command() -> None:
    """Check the installation, the workspace and the available models, and list what is missing.

    Exit 1 if something is wrong. Optional parts that are not installed do not count.
    """
    invocation = current()
    findings = list(run_checks(invocation.workspace, invocation.environment))
    failed = any(finding.state == "wrong" for finding in findings)
    if invocation.json:
        output.json_object({"sound": not failed, "findings": [output.plain_values(finding) for finding in findings]})
    else:
        for finding in findings:
            output.line(f"{SIGNS[finding.state]} {finding.topic}: {finding.sentence}")
            if finding.hint:
                output.line(f"    {finding.hint}")
    invocation.status = 1 if failed else 0
