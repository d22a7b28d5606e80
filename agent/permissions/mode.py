"""The permission mode: what happens to actions that no rule decides."""

from enum import StrEnum
from typing import Final

_PLAN_INSTRUCTIONS: Final = (
    "Plan mode is on. Read what you need, but change nothing: calls that edit files, send data or run commands that do "
    "more than read are denied. If the user wants something changed, end your answer with a section headed “# Plan”: "
    "the steps, the files that change, and how to check the result. The user then accepts the plan or answers it."
)


class PermissionMode(StrEnum):
    """What happens to actions that no rule decides.

    Reading memory and the project never asks. `ask`: all else asks. `read-only`: all else is denied. `plan`: the same,
    and the model ends with a plan, which the person accepts. `edit`: edits in
    the project are allowed. `auto`: commands in the sandbox too. Notes always ask.
    """

    ASK = "ask"
    READ_ONLY = "read-only"
    EDIT = "edit"
    AUTO = "auto"
    PLAN = "plan"

    def effect(self, *, sandboxed: bool) -> str:
        """What it means, in a sentence. `sandboxed`: commands run in a sandbox that holds."""
        match self:
            case PermissionMode.ASK:
                return "reading is allowed; everything else needs confirmation."
            case PermissionMode.READ_ONLY:
                return "reading is allowed; nothing is changed, run or sent."
            case PermissionMode.PLAN:
                return "reading is allowed; the model makes a plan for you to accept."
            case PermissionMode.EDIT:
                return "edits in the project are allowed; commands need confirmation."
            case PermissionMode.AUTO if sandboxed:
                return "edits and sandboxed commands are allowed if /undo can restore files."
            case PermissionMode.AUTO:
                return "edits are allowed; commands need confirmation, because there is no sandbox here."

    @property
    def instructions(self) -> tuple[str, ...]:
        """What a message tells the model about the mode."""
        return (_PLAN_INSTRUCTIONS,) if self is PermissionMode.PLAN else ()

    @property
    def next(self) -> "PermissionMode":
        """The mode after this one, in the order in which Shift+Tab goes through them."""
        modes = list(PermissionMode)
        return modes[(modes.index(self) + 1) % len(modes)]
