"""Permissions screen: the mode, all rules in the order in which they decide, a test of a line, what was decided."""

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from msgspec import structs
from textual import work
from textual.binding import Binding, BindingType

from agent.permissions.rules import Rule, RuleSource
from agent.services.permission_rules import RuleStep, check_rules, parse_words, rule_steps, tested_action
from foundation.errors import PalimpsestError
from tui.dialogs.line import LineScreen, TypedLine
from tui.overview.list_screen import ListContents, ListRow, ListScreen
from tui.typed_app import app_of

if TYPE_CHECKING:
    from agent.permissions.policy import PastDecision, Policy
    from agent.tools.commands.commands import Commands

_WHOSE: Final = {
    RuleSource.SESSION: "this session",
    RuleSource.PROJECT: "this project",
    RuleSource.USER: "all your projects",
    RuleSource.SKILL: "a skill",
}
_SOURCES: Final = {text: source for source, text in _WHOSE.items()}
_SCOPES: Final = tuple(_WHOSE[source] for source in (RuleSource.SESSION, RuleSource.PROJECT, RuleSource.USER))
_NOTES: Final = (
    "allow, ask or deny, then a tool, and in brackets a pattern for its argument:",
    "allow run_command(git status *) · deny edit_file(src/**) · ask fetch_url",
)
_TEST_NOTES: Final = (
    "A command line, or a tool and its argument: git push · edit_file src/a.py · git__git_log",
    "The command is not run.",
)


class PermissionsScreen(ListScreen[None]):
    """The permissions of a session."""

    heading = "Permissions"
    keys: ClassVar[str] = "m mode · a add a rule · Enter change · d remove · t test a line · Esc back"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "mode", "Go to the next mode", id="permissions.mode", show=False),
        Binding("a", "add", "Add a rule", id="permissions.add", show=False),
        Binding("d", "remove", "Remove the rule", id="permissions.remove", show=False),
        Binding("t", "test", "Test a command or a tool call", id="permissions.test", show=False),
    ]

    def __init__(self, policy: "Policy", commands: "Commands | None" = None) -> None:
        super().__init__()
        self._policy = policy
        self._commands = commands
        self._rules: dict[str, Rule] = {}  # by the id of their row

    async def read(self) -> ListContents:
        return await asyncio.to_thread(self._contents)

    def _contents(self) -> ListContents:
        steps = rule_steps(self._policy)
        self._rules = {}
        rows = [row for number, step in enumerate(steps, 1) for row in self._step(number, step)]
        if self._policy.decided:
            rows.append(ListRow(label="Decisions in this session, newest first"))
            rows += [_decided(number, past) for number, past in enumerate(reversed(self._policy.decided))]
        mode = f"mode {self._policy.mode}: {steps[-1].sentence}"
        return ListContents(tuple(rows), mode)

    def _step(self, number: int, step: RuleStep) -> Iterator[ListRow]:
        yield ListRow(label=f"{number}  {step.title}")
        yield ListRow(
            label=step.sentence,
            id=f"step {number}",
            figure="built in" if step.holds else "not now",
            detail=f"Step {number} of the decision: {step.title.lower()}. {step.sentence}\nThe first step that "
            "matches decides.",
        )
        for index, rule in enumerate(step.rules):
            id_ = f"rule {number} {index} {rule.source} {rule}"
            self._rules[id_] = rule
            yield ListRow(
                label=str(rule),
                id=id_,
                figure=_WHOSE[rule.source],
                detail=f"{rule}\n{rule.where}. Enter changes it, d removes it.",
            )

    @property
    def _rule(self) -> Rule | None:
        return self._rules.get(self.chosen.id) if self.chosen else None

    # What keys do

    @work(exclusive=True, group="mode")
    async def action_mode(self) -> None:
        self.say(await asyncio.to_thread(self._policy.set_mode, self._policy.mode.next, passing=True))
        self.reload()

    @work(exclusive=True, group="line")
    async def action_add(self) -> None:
        if typed := await self._typed("Add a rule", ""):
            await self._change(None, typed)

    async def open_row(self, row: ListRow) -> None:
        rule = self._rule
        if rule is not None and (typed := await self._typed("Change the rule", str(rule), rule.source)):
            await self._change(rule, typed)

    async def _typed(self, title: str, text: str, source: RuleSource = RuleSource.SESSION) -> TypedLine | None:
        first = _SCOPES.index(_WHOSE[source])
        scopes = (*_SCOPES[first:], *_SCOPES[:first])
        check: Callable[[str], object] = lambda line: parse_words(line.split(" ", 1), source)  # noqa: E731
        screen = LineScreen(title, _NOTES, check, text=text, example="allow run_command(git status *)", scopes=scopes)
        return await app_of(self).push_screen_wait(screen)

    async def _change(self, old: Rule | None, typed: TypedLine) -> None:
        """Adds the rule that was typed, in place of an old one. The old one stays where the new cannot be stored."""
        rule = structs.replace(parse_words(typed.text.split(" ", 1), RuleSource.SESSION), source=_SOURCES[typed.scope])
        try:
            if rule not in self._policy.rules.rules:
                await asyncio.to_thread(self._policy.rules.add, rule)
            if old is not None and old != rule:
                await asyncio.to_thread(self._policy.rules.remove, old)
        except (PalimpsestError, OSError) as error:
            self.say(_sentence(error), wrong=True)
            return
        self.say(f"{rule} applies to {typed.scope}.")
        self.reload()

    @work(exclusive=True, group="line")
    async def action_remove(self) -> None:
        if (rule := self._rule) is None:
            self.say("Choose a rule first. Built-in rules cannot be removed.", wrong=True)
            return
        try:
            await asyncio.to_thread(self._policy.rules.remove, rule)
        except (PalimpsestError, OSError) as error:
            self.say(_sentence(error), wrong=True)
            return
        kept = "" if rule.source is RuleSource.SESSION else " The previous file is kept as a version."
        self.say(f"Removed: {rule}.{kept}")
        self.reload()

    @work(exclusive=True, group="line")
    async def action_test(self) -> None:
        screen = LineScreen("Test a line", _TEST_NOTES, tested_action, example="git push")
        if typed := await app_of(self).push_screen_wait(screen):
            action = await asyncio.to_thread(tested_action, typed.text, self._commands)
            tested = await asyncio.to_thread(check_rules, self._policy, action)
            subject = f"({tested.subject})" if tested.subject else ""
            offers = f" This would allow it: {' or '.join(tested.offers)}" if tested.offers else ""
            self.say(f"{tested.verdict}  {tested.tool}{subject}. {tested.reason}{offers if not tested.rule else ''}")
            self._go_to(tested.rule)

    def _go_to(self, rule: Rule | None) -> None:
        """Goes to the row of the rule that decided."""
        if row := next((id_ for id_, each in self._rules.items() if each == rule), ""):
            self.draw(row)


def _decided(number: int, past: "PastDecision") -> ListRow:
    action = past.action
    subject = f"({action.subject})" if action.subject else ""
    return ListRow(
        label=f"{action.tool}{subject}",
        id=f"decided {number}",
        figure=past.outcome,
        detail=f"{action.summary}\n{past.outcome}: {past.reason}",
    )


def _sentence(error: PalimpsestError | OSError) -> str:
    return f"{error.message} {error.hint}".strip() if isinstance(error, PalimpsestError) else f"{error}."
