"""Slash commands about permissions: the rules, and the mode."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from agent.commands.command import Command
from agent.commands.results import Choice, Choices, OpenNamedScreen, Outcome, TextResult
from foundation.errors import Misuse
from foundation.terminal_text import visible

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session


async def _mode(session: Session, text: str) -> Outcome:
    from agent.permissions.mode import PermissionMode

    policy = session.permissions
    if not text:
        items = tuple(Choice(mode.value, mode.value, mode.effect(sandboxed=True)) for mode in PermissionMode)
        return Choices(f"Permission mode (now: {policy.mode})", items, "/mode")
    if text not in set(PermissionMode):
        names = ", ".join(PermissionMode)
        raise Misuse("Unknown mode", f"There is no mode “{text}”.", f"The modes are: {names}.")
    return TextResult(await asyncio.to_thread(session.permissions.set_mode, PermissionMode(text)))


async def _permissions(session: Session, text: str) -> Outcome:
    async def printed() -> Outcome:
        return TextResult(await asyncio.to_thread(_answer, session, text.split(" ", 1)))

    return await printed() if text else OpenNamedScreen("permissions", "", printed)


def _answer(session: Session, words: list[str]) -> str:
    """What `/permissions` shows, in Markdown. Blocks."""
    from agent.permissions.rules import RuleSource
    from agent.services.permission_rules import check_rules, parse_words, tested_action

    if words[0] == "add" and len(words) > 1:
        words = words[1].split(" ", 1)  # as `palimpsest permissions add` has it
    rules, verb, rest = session.permissions.rules, words[0], words[1] if len(words) > 1 else ""
    rules.refresh()
    if verb == "test":
        tested = check_rules(session.permissions, tested_action(rest, session.commands))
        return f"**{tested.verdict}** {_code(tested.subject or tested.tool)}. {tested.reason}"
    if verb in {"allow", "ask", "deny"}:
        rules.add(rule := parse_words([verb, rest], RuleSource.SESSION))
        return f"For this session: {_code(str(rule))}."
    if verb == "remove":
        for rule in rules.rules:
            of_session = rule.source is RuleSource.SESSION and rest in {rule.text, str(rule)}
            if of_session and rules.remove(rule):
                return f"Removed: {_code(str(rule))}."
        raise Misuse(
            "No such rule", f"This session has no rule “{rest}”.", "For stored rules: palimpsest permissions remove"
        )
    if verb not in {"", "list"}:
        raise Misuse(
            "Unknown",
            f"“{verb}” is not one of list, allow, ask, deny, remove or test.",
            "/permissions lists the rules.",
        )
    mode = session.permissions.mode
    lines = [f"The mode is {mode}: {mode.effect(sandboxed=session.permissions.sandboxed)}"]
    if rules.problem:
        lines.append(rules.problem)
    listed = [f"| {rule.source} | {rule.verdict} | {_code(rule.text)} |" for rule in rules.rules]
    table = ["| of | rule | tool and pattern |", "|---|---|---|", *listed] if listed else ["There are no rules."]
    return "\n\n".join([*lines, "\n".join(table)])


async def _add_dir(session: Session, name: str) -> Outcome:
    from agent.services.added_folders import add_folder

    if not name:
        raise Misuse("No folder", "/add-dir needs the folder.", "/add-dir ../other-project")
    await asyncio.to_thread(add_folder, session, name, Path.cwd())
    folders = ", ".join(_code(visible(str(folder))) for folder in session.project.folders)
    return TextResult(f"For this session tools work in: {folders}.")


def _code(text: str) -> str:
    return f"`{text.replace('`', 'ˋ').replace('|', '∣')}`"


COMMANDS: tuple[Command, ...] = (
    Command(
        name="mode",
        summary="Show or set what tools may do without asking.",
        usage="[MODE]",
        beside_turns=True,
        run=_mode,
    ),
    Command(
        name="permissions",
        aliases=("approvals", "allowed-tools"),
        summary="Show the rules of what tools may do, add one for the session, or test one.",
        keys="m the next mode, a adds a rule, Enter changes one, d removes it, t tests a line, Esc leaves.",
        usage="[allow|ask|deny|remove RULE, test COMMAND]",
        beside_turns=True,
        run=_permissions,
    ),
    Command(
        name="add-dir",
        summary="Let tools read and change files of one more folder, for this session.",
        usage="DIR",
        run=_add_dir,
    ),
)
