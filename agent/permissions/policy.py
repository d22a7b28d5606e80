"""The decision whether an action runs, asks the person, or is denied."""

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from agent.permissions.action import Access, Action, PermissionAnswer, Scope
from agent.permissions.rules import Rule, RuleSet, Verdict


class PermissionMode(StrEnum):
    """What happens to actions that no rule decides.

    Reading memory and the project never asks. `ask`: all else asks. `read-only`: all else is denied. `edit`: edits in
    the project are allowed. `auto`: commands in the sandbox too. Notes always ask.
    """

    ASK = "ask"
    READ_ONLY = "read-only"
    EDIT = "edit"
    AUTO = "auto"

    @property
    def next(self) -> "PermissionMode":
        """The mode after this one, in the order in which Shift+Tab goes through them."""
        modes = list(PermissionMode)
        return modes[(modes.index(self) + 1) % len(modes)]


class Decision(Struct, frozen=True):
    """`reason` is a sentence; `rule` is the rule that decided, None for a mode. `asks_always`: whatever the rules."""

    verdict: Verdict
    reason: str
    rule: Rule | None = None
    asks_always: bool = False


class Policy:
    """The permissions of a session: a mode, and rules of the user, the project and the session.

    Deny rules come first, then what always asks (a concern, a tainted turn, a note), ask rules, allow rules, the mode.
    """

    def __init__(
        self,
        rules: RuleSet,
        mode: PermissionMode = PermissionMode.ASK,
        *,
        sandboxed: bool | Callable[[], bool] = False,
    ) -> None:
        """`sandboxed`: commands run in a sandbox that holds, so that `auto` may allow them; a callable may block."""
        self.rules = rules
        self.mode = mode
        self._sandboxed = sandboxed

    @property
    def sandboxed(self) -> bool:
        """Whether commands run in a sandbox that holds. Trying it out may block for a moment."""
        return self._sandboxed() if callable(self._sandboxed) else self._sandboxed

    def decide(self, action: Action, *, tainted: str = "") -> Decision:
        """The decision. `tainted` names what untrusted text the turn has read; "" for none."""
        if rule := self.rules.first(Verdict.DENY, action):
            return Decision(Verdict.DENY, f"{rule.where} denies it: {rule}.", rule)
        if self.mode is PermissionMode.READ_ONLY and action.access not in _FREE:
            return Decision(Verdict.DENY, "The mode is read-only: nothing is changed, run or sent.")
        if concern := action.concern or self._concern(action, tainted):
            return Decision(Verdict.ASK, concern, asks_always=True)
        if rule := self.rules.first(Verdict.ASK, action):
            return Decision(Verdict.ASK, f"{rule.where} asks: {rule}.", rule)
        return self._by_rule_or_mode(action)

    def _concern(self, action: Action, tainted: str) -> str:
        """Why the action asks whatever the rules allow."""
        if tainted and action.access in _GUARDED_IN_TAINTED_TURNS:
            return f"This turn has read {tainted}, which nobody here wrote."
        return "Memory is written only with a yes." if action.access is Access.NOTE else ""

    def remember(self, action: Action, answer: PermissionAnswer) -> Rule | None:
        """Adds the rule that the answer asks for; gives it, None where the permission was for this call alone."""
        if not answer.granted or answer.scope is Scope.ONCE:
            return None
        return self.rules.allow(action, answer.scope)

    def _by_rule_or_mode(self, action: Action) -> Decision:
        if action.access in _FREE:
            return Decision(Verdict.ALLOW, "Reading asks for no permission.")
        if rule := self.rules.first(Verdict.ALLOW, action):
            return Decision(Verdict.ALLOW, f"{rule.where} allows it: {rule}.", rule)
        if action.access is Access.EDIT and self.mode in {PermissionMode.EDIT, PermissionMode.AUTO}:
            return Decision(Verdict.ALLOW, f"The mode {self.mode} allows edits in the project.")
        if action.access is Access.RUN and self.mode is PermissionMode.AUTO and self.sandboxed:
            return Decision(Verdict.ALLOW, "The mode auto allows commands in the sandbox.")
        return Decision(Verdict.ASK, f"No rule decides, and the mode {self.mode} asks.")


_FREE = {Access.MEMORY, Access.READ, Access.PERSON}
_GUARDED_IN_TAINTED_TURNS = {Access.NETWORK, Access.NOTE, Access.RUN}
