"""A request for permission as a person reads it: what would be done, why it asks, and the answers there are."""

import re
from collections.abc import Sequence
from typing import Final, Self

from msgspec import Struct
from rich.cells import cell_len

from agent.permissions.action import Access, Action, PermissionAnswer, Scope
from agent.permissions.attached_files import ATTACH_TOOL
from foundation.terminal_text import visible, visible_code, visible_code_line

ALL_EDITS: Final = "All edits in this session: mode “edit”"
_SHOWN_CHARS: Final = 60  # of a rule
_BLANKS: Final = re.compile(r"(?<=[^\s])[ \t]{9,}(?=[^\s])|[ \t]{41,}")
_EMPTY_LINES: Final = re.compile(r"\n(?:[ \t]*\n){3,}")
_OF_TOOL: Final = {ATTACH_TOOL: "Attach a file from outside the project?"}  # headings of what the person does


class PermissionQuestion(Struct, frozen=True, kw_only=True):
    """The texts of a question, control characters made visible. `summary` is "" where the detail says it.

    `answers` are labels with what each remembers; the last is to decline for a reason, the one before it to decline.
    """

    heading: str
    summary: str
    detail: str
    note: str
    answers: tuple[tuple[str, PermissionAnswer], ...]

    @classmethod
    def of(cls, action: Action, reason: str, *, once_only: bool, offers: Sequence[str]) -> Self:
        """`reason` is a sentence that says why it asks. `once_only`: no answer holds for longer. `offers` are the rules
        that may be remembered, the narrowest first."""
        is_code = not action.detail or action.access in {Access.RUN, Access.NETWORK}  # not the text of a file or note
        is_repeated = action.summary.endswith(action.detail)  # a short command
        detail = (visible_code if is_code else visible)(action.detail or action.summary)
        return cls(
            heading=visible_code_line(_OF_TOOL.get(action.tool, f"The model wants to use {action.tool}")),
            summary=visible_code_line(action.summary) if action.detail and not is_repeated else "",
            detail=detail if action.is_diff else without_padding(detail),
            note=visible(" ".join(filter(None, (action.circumstances, reason)))),
            answers=tuple(_answers_of(action, once_only=once_only, offers=offers)),
        )


def without_padding(text: str) -> str:
    """The text with a mark in place of empty lines and of blanks in a row, which would push its end out of view."""
    text = _BLANKS.sub(lambda run: f" ⋯ {len(run[0])} blanks ⋯ ", text)
    return _EMPTY_LINES.sub(lambda run: f"\n⋯ {run[0].count(chr(10)) - 1} empty lines\n", text)


def _answers_of(action: Action, *, once_only: bool, offers: Sequence[str]) -> list[tuple[str, PermissionAnswer]]:
    """The answers, with what each of them remembers."""
    answers = [("Once", PermissionAnswer(True))]
    if not once_only:
        exact = _shown_rule(offers[0]) if offers else ""
        answers.append((f"For this session{exact}", PermissionAnswer(True, Scope.SESSION)))
        if action.is_for_tool:
            answers += [
                (f"For this session: {rule}", PermissionAnswer(True, Scope.SESSION, rule=rule)) for rule in offers[1:]
            ]
        if action.access is Access.EDIT:
            answers.append((ALL_EDITS, PermissionAnswer(True, all_edits=True)))
        if not action.is_for_tool:  # such a tool may change: what it does later is not what was agreed to
            answers += [
                (f"Always in this project{_shown_rule(rule)}", PermissionAnswer(True, Scope.PROJECT, rule=rule))
                for rule in offers
            ]
    return [
        *answers,
        ("No", PermissionAnswer(False)),
        ("No, and type a reason", PermissionAnswer(False)),
    ]


def _shown_rule(rule: str) -> str:
    """What a rule remembers, on one line; a long one is the action that is shown in whole above."""
    text = visible_code_line(rule)
    return f": {text}" if cell_len(text) <= _SHOWN_CHARS and text == rule else ": exactly this"
