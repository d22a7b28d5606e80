"""The permission mode: what happens to actions that no rule decides."""

from enum import StrEnum


class PermissionMode(StrEnum):
    """What happens to actions that no rule decides.

    Reading memory and the project never asks. `ask`: all else asks. `read-only`: all else is denied. `edit`: edits in
    the project are allowed. `auto`: commands in the sandbox too. Notes always ask.
    """

    ASK = "ask"
    READ_ONLY = "read-only"
    EDIT = "edit"
    AUTO = "auto"

    def effect(self, *, sandboxed: bool) -> str:
        """What it means, in a sentence. `sandboxed`: commands run in a sandbox that holds."""
        match self:
            case PermissionMode.ASK:
                return "reading is free; all else asks."
            case PermissionMode.READ_ONLY:
                return "reading is free; nothing is changed, run or sent."
            case PermissionMode.EDIT:
                return "edits in the project are free; commands ask."
            case PermissionMode.AUTO if sandboxed:
                return "edits and sandboxed commands are free; what deletes asks."
            case PermissionMode.AUTO:
                return "edits are free; commands ask: there is no sandbox here."

    @property
    def next(self) -> "PermissionMode":
        """The mode after this one, in the order in which Shift+Tab goes through them."""
        modes = list(PermissionMode)
        return modes[(modes.index(self) + 1) % len(modes)]
