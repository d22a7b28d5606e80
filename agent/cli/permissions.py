"""`palimpsest permissions`: lists, changes and tests the rules of what tools may do."""

import click

import agent.tools.catalogue  # noqa: F401  # pyright: ignore[reportUnusedImport]  # rules need the declared tools
from agent.cli import output
from agent.cli.group import CliGroup
from agent.cli.invocation import Invocation, current
from agent.permissions.policy import Policy
from agent.permissions.rules import Rule, RuleSet, RuleSource, Verdict
from agent.permissions.stored_rules import BadRules, StoredRules, stored_rules
from agent.services.permission_rules import action_of, check_rules, parse_words, remove_rule
from agent.tools.commands.commands import open_commands
from agent.tools.files.project import ProjectFolders

STATUS = {Verdict.ALLOW: 0, Verdict.ASK: 3, Verdict.DENY: 4}
"""The exit status of `permissions test`."""


@click.group(cls=CliGroup)
def command() -> None:
    """Show, change and test what tools may do without asking.

    A rule allows, asks for or denies a tool: `run_command(git status *)`, `edit_file(src/**)`, `fetch_url(HOST)`. Deny
    comes before ask, and ask before allow; what no rule decides is left to the mode (tools.mode).
    """


@command.command("list")
def list_() -> None:
    """List your rules and those of this project."""
    invocation, stored = _opened()
    if invocation.json:
        output.json_object(
            {
                "files": {"user": str(stored.user.path), "project": str(stored.project.path)},
                "mode": invocation.loaded_config.config.tools.mode.value,
                "rules": [_rule_object(rule) for rule in stored.rules],
                "problem": stored.problem,
            }
        )
    else:
        rows = [(rule.source.value, rule.verdict.value, rule.text) for rule in stored.rules]
        output.table(rows, ("OF", "RULE", "TOOL AND PATTERN"))
        if not rows and not stored.problem:
            output.narrate("No rules. Reading is allowed; everything else needs confirmation.")
    if stored.project.is_of_another_folder:
        output.narrate(f"{stored.project.path} was made for another folder at this path: its allow rules are ignored.")
    if stored.problem:
        output.narrate(stored.problem)
        invocation.status = 1


@command.command()
@click.argument("words", nargs=-1, required=True, metavar="allow|ask|deny RULE")
@click.option("--project", is_flag=True, help="Only for this project folder.")
def add(words: tuple[str, ...], project: bool) -> None:
    """Add a rule: `add allow 'run_command(git status *)'`, `add deny 'edit_file(.env*)' --project`."""
    invocation, stored = _opened()
    rule = parse_words(words, RuleSource.PROJECT if project else RuleSource.USER)
    file = stored.project if project else stored.user
    is_new = file.add(rule)
    _print(invocation, [rule], f"{rule} ({file.path})" if is_new else f"{rule} already exists.")


@command.command()
@click.argument("words", nargs=-1, required=True, metavar="[allow|ask|deny] RULE")
@click.option("--project", is_flag=True, help="Only remove it from this project's rules.")
@click.option("--user", is_flag=True, help="Only remove it from your rules for all projects.")
def remove(words: tuple[str, ...], project: bool, user: bool) -> None:
    """Remove a rule, written as in `list`. The previous file is saved as a version."""
    invocation, stored = _opened()
    if stored.problem:
        raise BadRules("Permission rules", stored.problem)
    chosen = [RuleSource.PROJECT] * project + [RuleSource.USER] * user
    removed = remove_rule(stored, words, chosen or [RuleSource.USER, RuleSource.PROJECT])
    _print(invocation, removed, *(f"Removed: {rule} ({rule.source.value})" for rule in removed))


@command.command()
@click.argument("words", nargs=-1, required=True, metavar="COMMAND | TOOL [SUBJECT]")
def test(words: tuple[str, ...]) -> None:
    """Show what would happen and which rule decides: `test 'git push'`, `test edit_file src/a.py`.

    Exit status: 0 allowed, 3 needs confirmation, 4 denied.
    """
    invocation, stored = _opened()
    config = invocation.loaded_config.config
    commands = open_commands(
        invocation.workspace, ProjectFolders((invocation.here,)), config.tools, invocation.environment
    )
    policy = Policy(RuleSet(stored=stored), config.tools.mode, sandboxed=lambda: commands.sandbox.state.holds)
    tested = check_rules(policy, action_of(words, commands))
    invocation.status = STATUS[tested.verdict]
    if invocation.json:
        output.json_object(
            {
                "tool": tested.tool,
                "subject": tested.subject,
                "verdict": tested.verdict.value,
                "reason": tested.reason,
                "rule": _rule_object(tested.rule) if tested.rule else None,
                "mode": policy.mode.value,
                "would_allow": list(tested.offers),
            }
        )
        return
    output.line(f"{tested.verdict.value}  {tested.tool}{f'({tested.subject})' if tested.subject else ''}")
    output.line(tested.reason)
    if tested.verdict is Verdict.ASK and tested.offers:
        output.narrate(f"To allow it: {' or '.join(tested.offers)}")


def _opened() -> tuple[Invocation, StoredRules]:
    invocation = current()
    return invocation, stored_rules(invocation.environment, invocation.here)


def _print(invocation: Invocation, rules: list[Rule], *sentences: str) -> None:
    if invocation.json:
        output.json_object({"rules": [_rule_object(rule) for rule in rules]})
        return
    for sentence in sentences:
        output.narrate(sentence)


def _rule_object(rule: Rule) -> dict[str, str]:
    return {"verdict": rule.verdict.value, "rule": rule.text, "source": rule.source.value}
