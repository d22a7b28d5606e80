"""Slash commands about the program itself: the model, the request, skills, leaving."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent.commands.command import Command
from agent.commands.results import (
    Choice,
    Choices,
    Copy,
    OpenNamedScreen,
    Outcome,
    Quit,
    SendMessage,
    SessionSwitched,
    TextResult,
)
from agent.commands.tables import report_markdown
from foundation.errors import Misuse
from foundation.figures import percent
from foundation.paths import Workspace
from foundation.terminal_text import visible, visible_code_line

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session
    from context.report import ContextReport


async def _model(session: Session, text: str) -> Outcome:
    from agent.commands.model_list import model_at, model_choices

    if not text:
        return OpenNamedScreen("models", "", lambda: model_choices(session))
    spec = await model_at(session, text)
    if not isinstance(spec, str):
        return spec
    profile = await session.use_model(spec)
    where = "your messages are sent to another machine" if profile.remote else "nothing leaves this machine"
    return SessionSwitched(f"The model is now {profile.spec}; {where}.")


async def _context(session: Session, text: str) -> Outcome:
    from agent.services.context_view import own_label
    from agent.services.outside_files import previewed_attachments

    files, refusals = await previewed_attachments(session, text, Path.cwd())
    report = report_markdown(await session.context_report(text, files), own_label(session.workspace))
    return TextResult("\n\n".join([report, *map(visible_code_line, refusals)]))


async def _skill(session: Session, rest: str) -> Outcome:
    name, _, text = rest.partition(" ")
    skills = await session.skills()
    if not name:
        items = tuple(Choice(skill.name, skill.name, skill.description) for skill in skills)
        return Choices("Skills", items, "/skill") if items else TextResult("There are no skills in `skills/` yet.")
    if name not in {skill.name for skill in skills}:
        names = ", ".join(skill.name for skill in skills) or "none"
        raise Misuse("Unknown skill", f"There is no skill “{name}”.", f"The skills are: {names}.")
    return SendMessage(text.strip() or f"Use the skill “{name}”.", skill=name)


async def _copy(session: Session, number: str) -> Outcome:
    nth = int(number) if number.isdigit() and int(number) > 0 else 1
    answers = await session.branch.answers(nth)
    if len(answers) < nth:
        return TextResult("There is no answer to copy yet.")
    return Copy(answers[nth - 1], "the answer" if nth == 1 else f"the answer {nth} back")


async def _status(session: Session, _rest: str) -> Outcome:
    conversation, report = session.conversation, session.report
    mode, sandboxed = session.permissions.mode, await asyncio.to_thread(lambda: session.permissions.sandboxed)
    rows = [
        ("workspace", f"`{session.workspace.root}`{', read-only' if session.workspace.is_read_only else ''}"),
        ("project", ", ".join(f"`{folder}`" for folder in session.project.folders)),
        ("mode", f"{mode} ({mode.effect(sandboxed=sandboxed).rstrip('.')})"),
        ("conversation", f"{conversation.title or 'untitled'} (`{conversation.id}`)" if conversation else "new"),
        ("model", f"`{session.profile.spec}`, {session.window_status}"),
        ("context", _context_status(report) if report else "no requests yet"),
        ("memory", _memory_status(session)),
        *([("observing", observing)] if (observing := await asyncio.to_thread(_observing_status, session)) else ()),
        ("background", session.working or "nothing"),
        *await asyncio.to_thread(_upkeep_rows, session),
    ]
    return TextResult("\n".join(f"- {name}: {value}" for name, value in rows))


def _upkeep_rows(session: Session) -> list[tuple[str, str]]:
    """Rows about backups that are due, the last sync, checks of memory, and a warning of its room. Blocks."""
    from memory.backup.reminder import overdue
    from memory.sync.last_run import sync_sentence
    from memory.upkeep.disk import ADVICE, disk_warning, measure
    from memory.upkeep.integrity import integrity_sentence
    from memory.upkeep.state import read_state

    workspace, config = session.workspace, session.config
    rows = (
        ("last backup", overdue(workspace, session.clock.now(), config.backup.remind_days)),
        ("last sync", visible(sync_sentence(workspace, config.sync.locations, session.clock.now()))),
        ("integrity", visible(integrity_sentence(read_state(workspace)))),
        ("room", visible(disk_warning(measure(workspace), config.disk, advice=ADVICE))),
    )
    return [(name, sentence) for name, sentence in rows if sentence]


def _context_status(report: ContextReport) -> str:
    figures = f"{report.total_tokens:,} of {report.budget:,} tokens"
    return f"{percent(report.filled)} ({figures}) in the last request; /context shows the next request"


def _observing_status(session: Session) -> str:
    """What the model that observes took today, and why it makes no observations now; "" where none is set."""
    today = session.jobs.model_observing.today()
    if today is None:
        return ""
    spec, used, thrown_away = today
    most = session.config.observe.tokens_a_day
    lost = f", {thrown_away:,} discarded because they contain invented facts" if thrown_away else ""
    trouble = session.jobs.model_observing.trouble
    if trouble is None:
        return f"`{visible(spec)}`, {used:,} of {most:,} tokens today{lost}"
    since = f"{trouble.since.astimezone():%Y-%m-%d %H:%M}"
    return (
        f"`{visible(spec)}` stopped making observations {since}; the rules still do: "
        f"{visible(trouble.reason).rstrip('.')}. {trouble.hint} {used:,} of {most:,} tokens today{lost}"
    )


def _memory_status(session: Session) -> str:
    """The switches and the scope of the conversation: `use_memory on, read_compressed off, …`."""
    from context.switches import SWITCHES, settings_for

    settings = settings_for(session.config.context, session.conversation)
    values = {name: getattr(settings, name) for name in SWITCHES}
    shown = ", ".join(f"{name} {('off', 'on')[v] if isinstance(v, bool) else v}" for name, v in values.items())
    return f"{shown}; scope {visible(settings.scope) or 'of the workspace'}"


async def _stats(session: Session, _rest: str) -> Outcome:
    async def printed() -> Outcome:
        return TextResult(await _stats_text(session))

    return OpenNamedScreen("statistics", "", printed)


async def _stats_text(session: Session) -> str:
    from agent.services.trends import count_rows, trend_rows
    from agent.spending.report import caps_sentence, spending_report, spending_tables
    from memory.upkeep.disk import disk_words, measure

    memory, now = session.memory, session.clock.now()
    rows = await asyncio.to_thread(memory.spending)
    figures, days = await asyncio.to_thread(memory.statistics), await asyncio.to_thread(memory.tokens_by_day)
    report = spending_report(rows, session.config.models, now)
    counts = [*count_rows(figures), *trend_rows(days, now.astimezone().date())]
    use = await asyncio.to_thread(measure, session.workspace)
    counts.append(("on disk", disk_words(use, session.config.disk.budget_mb)))
    parts = ["\n".join(f"- {name}: `{value}`" for name, value in counts)]
    parts += [
        "\n".join([_row(heads), _row(["---", *["--:"] * (len(heads) - 2), "---"]), *map(_row, cells)])
        for heads, cells in spending_tables(report)
    ]
    if len(parts) == 1:
        parts.append("No model was called yet.")
    return "\n\n".join([*parts, caps_sentence(report)]).strip()


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(visible(cell).replace('|', chr(92) + '|') for cell in cells)} |"


async def _jobs(session: Session, rest: str) -> Outcome:
    verb, _, handle = rest.partition(" ")
    if verb == "stop" and handle:
        await asyncio.to_thread(session.commands.stop, handle.strip())
        return TextResult(f"Stopped {visible(handle.strip())} and its child processes.")
    if rest:
        raise Misuse("Not understood", f"/jobs {visible(rest)}", "/jobs lists the commands, /jobs stop c1 stops one.")
    commands = session.commands.listed()
    lines = [
        f"- {command.handle}: {command.ended or 'runs'}, {command.seconds:,.0f} s: "
        f"`` {visible_code_line(command.command)[:200].replace('``', '` `')} ``"
        for command in commands
    ]
    return TextResult("\n".join(lines) or "No background commands.")


async def _trust(session: Session, rest: str) -> Outcome:
    workspace, access = session.workspace, session.memory.access
    if rest not in {"", "yes"}:
        raise Misuse(
            "Not understood", f"/trust {visible(rest)}", "/trust shows what is inactive; /trust yes trusts it."
        )
    if rest:
        from agent.services.trust import trust_workspace

        await asyncio.to_thread(trust_workspace, Workspace(workspace.root), session.config.environment)
    if workspace.is_read_only:
        how = "now trusted" if rest else "open read-only. If it is yours, run /trust yes"
        return TextResult(f"This workspace is {how}, then open the chat again.")
    instructions = await _trust_instructions(session, trusts=bool(rest))
    if access and (changed := await asyncio.to_thread(access.changed)):
        names = ", ".join(f"`{visible(name)}`" for name in changed)
        state = f"This workspace is trusted. New or changed since, and inactive: {names}. /trust yes activates them."
    else:
        later = "; changed settings and hooks apply from the next start" if rest else ""
        state = f"This workspace is {'' if instructions and not rest else 'fully '}trusted{later}."
    return TextResult("\n\n".join(filter(None, (state, instructions))), changes_context=bool(rest and instructions))


async def _trust_instructions(session: Session, *, trusts: bool) -> str:
    """Trusts the project's instructions, or only reports those that are not trusted."""
    files = await asyncio.to_thread(session.instructions.untrusted)
    if not files:
        return ""
    names = ", ".join(f"`{visible(file.shown)}`" for file in files)
    if not trusts:
        return f"Instructions of this project that the model does not read: {names}. /trust yes trusts them."
    await asyncio.to_thread(session.instructions.answer, files, allowed=True)
    return f"The model reads these instructions of the project from the next message on: {names}."


async def _init(session: Session, rest: str) -> Outcome:
    from agent.checkpoints.change import FileChange
    from agent.project.draft import first_instructions
    from memory.access import refuse_read_only

    project = session.instructions
    if rest not in ("", "--yes"):
        raise Misuse("Not understood", f"/init has no option “{visible(rest)}”.", "Use /init or /init --yes.")
    if not project.is_project:
        raise Misuse("No project", f"{visible(str(project.root))} contains no project files.", "Start in its folder.")
    if path := await asyncio.to_thread(project.existing):
        shown = visible(str(path))
        raise Misuse(
            "Instructions exist already", f"{shown} already exists and is not changed.", "Edit it, or move it away."
        )
    text = await asyncio.to_thread(first_instructions, project.root)
    target = visible(str(project.root / "AGENTS.md"))
    if not rest:
        return TextResult(f"Draft of `{target}`. `/init --yes` writes it.\n\n~~~markdown\n{visible(text)}~~~")
    refuse_read_only(session.workspace)
    change = FileChange(folder=project.root, path="AGENTS.md", expected=None, new=text.encode())
    await asyncio.to_thread(session.checkpoints.apply, [change], "", label="/init")
    await asyncio.to_thread(project.trust)
    return TextResult(f"Wrote `{target}`. The model reads it from the next message on.", changes_context=True)


async def _exit(_session: Session, _rest: str) -> Outcome:
    return Quit()


COMMANDS = (
    Command(
        name="model",
        aliases=("models",),
        summary="List the available models, or switch to another.",
        usage="[SPEC|ADDRESS]",
        keys="Enter uses the selected model, t tests it, a adds a model or an address, e sets the embedder, "
        "r refreshes, Esc closes.",
        run=_model,
    ),
    Command(
        name="stats",
        aliases=("cost", "usage"),
        summary="Show messages, tokens and costs.",
        keys="↑ ↓ choose the figure to chart, Enter lists it by day, Esc closes.",
        beside_turns=True,
        run=_stats,
    ),
    Command(
        name="context",
        aliases=("tokens",),
        summary="Show the contents of the next request, layer by layer.",
        usage="[TEXT]",
        keys="↑ ↓ choose, Enter opens the exact text of a layer, a zone or a part, a shows the whole "
        "request, Esc closes.",
        beside_turns=True,
        run=_context,
    ),
    Command(
        name="skill",
        summary="List the skills, or use one.",
        usage="[NAME [TEXT]]",
        aliases=("skills", "agents"),
        run=_skill,
    ),
    Command(
        name="copy",
        summary="Copy the last answer, or the answer N before it.",
        usage="[N]",
        beside_turns=True,
        run=_copy,
    ),
    Command(
        name="status",
        summary="Show the project, mode, conversation and model.",
        beside_turns=True,
        run=_status,
    ),
    Command(
        name="jobs",
        aliases=("bashes", "tasks"),
        summary="List the background commands, or stop one.",
        usage="[stop HANDLE]",
        beside_turns=True,
        run=_jobs,
    ),
    Command(
        name="trust",
        summary="Show what is untrusted in this workspace and this project, or trust it.",
        usage="[yes]",
        beside_turns=True,
        run=_trust,
    ),
    Command(
        name="init",
        summary="Draft an AGENTS.md from the project's files, and write it if you confirm.",
        usage="[--yes]",
        run=_init,
    ),
    Command(name="exit", summary="Quit. Everything is already saved.", aliases=("quit", "q"), run=_exit),
)
