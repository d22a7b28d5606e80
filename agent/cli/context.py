"""`palimpsest context`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from agent.cli import output
from agent.cli.group import CliCommand, conversation_options
from agent.cli.invocation import Invocation, current
from agent.commands.tables import savings_sentences
from foundation.figures import percent

if TYPE_CHECKING:  # loaded when a request is assembled
    from context.report import ContextReport


@click.command(cls=CliCommand)
@click.argument("text", required=False, default="")
@conversation_options
def command(text: str) -> None:
    """Show the request that TEXT would send now, layer by layer.

    Files named with @ are attached as in the chat, except files outside the project that would need a confirmation. No
    model is called and nothing is stored. With -c or -r, shows the request in that conversation.
    """
    from agent.services.context_view import own_label

    invocation = current()
    report = asyncio.run(_report(invocation, text))
    if invocation.json:
        output.json_object(report.as_json())
        return
    _print(report, own_label(invocation.workspace))


async def _report(invocation: Invocation, text: str) -> ContextReport:
    from agent.services.outside_files import previewed_attachments

    session = await invocation.session(for_writing=False)
    try:
        files, refusals = await previewed_attachments(session, text, invocation.here)
        for sentence in refusals:
            output.narrate(sentence)
        for notice in await asyncio.to_thread(session.context.reload):
            output.narrate(str(notice))
        return await session.context_report(text, files)
    finally:
        await session.close()


def _print(report: ContextReport, labels: Mapping[str, str]) -> None:
    output.line(f"{report.model}: {report.total_tokens:,} of {report.budget:,} tokens ({percent(report.filled)})")
    output.line(f"window {report.window:,}, of which {report.reserve:,} are reserved for the answer")
    output.line()
    rows = [
        (
            layer.name,
            f"{layer.tokens:,}",
            f"{layer.budget:,}",
            ", ".join(f"{labels.get(s.name, s.name)} {s.tokens:,}" for s in layer.sources),
        )
        for layer in report.layers
    ]
    output.table(rows, ("LAYER", "TOKENS", "BUDGET", "SOURCES"))
    for layer in report.layers:
        for dropped in layer.dropped:
            output.narrate(f"Omitted from {layer.name}: {dropped.name}, {dropped.tokens:,} tokens ({dropped.why})")
    for sentence in savings_sentences(report):
        output.line(sentence)
    output.line()
    for message in report.messages:
        output.line(f"── {message.role}")
        output.line(message.text)
