"""`palimpsest doctor`."""

import click

from agent.cli import output
from agent.cli.group import CliCommand
from agent.cli.invocation import current
from agent.doctor.doctor import run_checks

SIGNS = {"ok": "✓", "missing": "·", "wrong": "✗"}


@click.command(cls=CliCommand)
def command() -> None:
    """Look at the installation, the workspace and the models at hand, and say what is missing.

    Exit 1 where something is wrong; what is merely not installed is not.
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
