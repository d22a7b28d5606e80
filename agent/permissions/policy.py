"""The decision whether an action runs, asks the person, or is denied."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, structs

from agent.permissions.action import Access, Action, FilesRead, PermissionAnswer, Scope
from agent.permissions.mode import PermissionMode
from agent.permissions.rules import Rule, RuleSet, RuleSource, Verdict, offered_rules
from foundation.errors import PalimpsestError


class Decision(Struct, frozen=True):
    """`reason` is a sentence; `rule` is the rule that decided, None for a mode. `asks_always`: whatever the rules."""

    verdict: Verdict
    reason: str
    rule: Rule | None = None
    asks_always: bool = False


class PastDecision(Struct, frozen=True):
    """What became of an action that asked, or that a rule or the mode decided."""

    action: Action
    outcome: str  # "allowed", "allowed by you", "not done"
    reason: str


class Policy:
    """The permissions of a session: a mode, and rules of the user, the project and the session.

    Deny rules come first, then what always asks (a concern, a tainted turn, a note), ask rules, a command that cannot
    be read while a rule denies or asks, allow rules (those of skills in use last), the mode. Rules about reading files
    hold for commands that only read. Where stored rules cannot be read, everything asks.
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
        self.mode_before_plan = PermissionMode.ASK if mode is PermissionMode.PLAN else mode
        self.decided = deque[PastDecision](maxlen=MAX_DECIDED)  # in this session, the newest last
        self._sandboxed = sandboxed

    @property
    def sandboxed(self) -> bool:
        """Whether commands run in a sandbox that holds. Trying it out may block for a moment."""
        return self._sandboxed() if callable(self._sandboxed) else self._sandboxed

    def start(self, mode: PermissionMode | None, rules: Iterable[Rule]) -> None:
        """Takes the mode and the rules of the command line; without a mode the configured one stays."""
        self.mode = self.mode if mode is None else mode
        for rule in rules:
            self.rules.add(rule)

    def set_mode(self, mode: PermissionMode, *, passing: bool = False) -> str:
        """Sets the mode; gives a sentence about it. Trying out the sandbox may block for a moment.

        `passing`: a step through the modes, which the end of the mode `plan` does not bring back.
        """
        self.mode = mode
        if mode is not PermissionMode.PLAN and not passing:
            self.mode_before_plan = mode
        return f"Mode {mode}: {mode.effect(sandboxed=mode is PermissionMode.AUTO and self.sandboxed)}"

    def note(self, action: Action, decision: Decision, refusal: str) -> None:
        """Keeps what became of an action for a list; `refusal` is why it was not done, "" where it was."""
        allowed = "allowed by you" if decision.verdict is Verdict.ASK else "allowed"
        self.decided.append(PastDecision(action, "not done" if refusal else allowed, refusal or decision.reason))

    def decide(self, action: Action, *, tainted: str = "", skills: Sequence[Rule] = ()) -> Decision:
        """The decision. `tainted` names what untrusted text the turn has read; "" for none. `skills` are the allow
        rules of the skills in use."""
        self.rules.refresh()
        if self.mode is not PermissionMode.PLAN:
            self.mode_before_plan = self.mode
        decision = self._decide(action, tainted, skills)
        if decision.verdict is Verdict.ASK and action.destroys:
            return structs.replace(decision, reason=f"{decision.reason} {_DESTROYS}")
        return decision

    def _decide(self, action: Action, tainted: str, skills: Sequence[Rule]) -> Decision:
        if rule := self._first(Verdict.DENY, action):
            return Decision(Verdict.DENY, f"{rule.where} denies it: {rule}.", rule)
        may_change = action.access not in _FREE and not self._is_free(action.reads)
        if self.mode in {PermissionMode.READ_ONLY, PermissionMode.PLAN} and may_change:
            return Decision(Verdict.DENY, f"Mode “{self.mode}”: nothing is changed, run or sent.")
        if self.rules.problem and action.access is not Access.PERSON:
            return Decision(Verdict.ASK, self.rules.problem, asks_always=True)
        if concern := action.concern or self._concern(action, tainted):
            return Decision(Verdict.ASK, concern, asks_always=True)
        if rule := self._first(Verdict.ASK, action):
            return Decision(Verdict.ASK, f"{rule.where} requires confirmation: {rule}.", rule, asks_always=True)
        reading = Decision(Verdict.ALLOW, "Reading needs no permission.")
        return reading if action.access in _FREE else self._by_rule_or_mode(action, skills)

    def _first(self, verdict: Verdict, action: Action) -> Rule | None:
        """The first rule about the action, or about reading the files that its command names."""
        of_files = _reading(action.reads.tool, action.reads.named) if action.reads else None
        return self.rules.first(verdict, action) or (of_files and self.rules.first(verdict, of_files))

    def _is_free(self, reads: FilesRead | None) -> bool:
        """Whether a command that only reads needs no permission: a file tool would not ask for any of the files."""
        if reads is None or reads.asks:
            return False
        below = _reading(reads.tool, reads.below)
        return not (below and any(self.rules.first(verdict, below) for verdict in (Verdict.DENY, Verdict.ASK)))

    def _concern(self, action: Action, tainted: str) -> str:
        """Why the action asks whatever the rules allow."""
        if tainted and action.access in _GUARDED_IN_TAINTED_TURNS and not action.is_contained:
            return f"The context contains output of “{tainted}”, which is untrusted."
        return "Writing memory always needs confirmation." if action.access is Access.NOTE else ""

    def offers(self, action: Action) -> tuple[Rule, ...]:
        """The rules that may be remembered where the person allows the action for longer: the narrowest first."""
        return offered_rules(action)

    def withheld(self, action: Action) -> Callable[[str], bool]:
        """Whether the rules keep a file, by its path, from a permitted action that reads many.

        Those that deny it do, and those that ask for it, where they have not asked for the action itself.
        """
        rules = [rule for rule in self.rules.rules if rule.pattern and rule.verdict is not Verdict.ALLOW]
        rules = [rule for rule in rules if rule.verdict is Verdict.DENY or not rule.matches(action)]
        return lambda path: any(rule.matches(structs.replace(action, subject=path, also=())) for rule in rules)

    def remember(self, action: Action, answer: PermissionAnswer) -> Rule | None:
        """Adds the rule that the answer asks for; gives it, None where the permission was for this call alone.

        Raises PalimpsestError or OSError where it cannot be stored; it holds for the session then.
        """
        if answer.granted and answer.all_edits and self.mode is not PermissionMode.AUTO:
            self.set_mode(PermissionMode.EDIT)
        offers = self.offers(action)
        if not answer.granted or answer.scope is Scope.ONCE or not offers:
            return None
        rule = next((rule for rule in offers if rule.text == answer.rule), offers[0])
        if answer.scope is Scope.PROJECT and self.rules.keeps_projects:
            try:
                self.rules.add(stored := structs.replace(rule, source=RuleSource.PROJECT))
            except (PalimpsestError, OSError):
                self.rules.add(rule)
                raise
            return stored
        self.rules.add(rule)
        return rule

    def _by_rule_or_mode(self, action: Action, skills: Sequence[Rule]) -> Decision:
        is_command = action.access is Access.RUN
        if is_command and not self.rules.allows_exactly(action) and (rule := self.rules.uncertain(action)):
            reason = (
                f"Part of this command cannot be parsed, and {rule.where[:1].lower()}{rule.where[1:]} applies: {rule}."
            )
            return Decision(Verdict.ASK, reason, rule)
        of_skill = next((rule for rule in skills if rule.matches(action)), None)
        if rule := self.rules.first(Verdict.ALLOW, action) or of_skill:
            return Decision(Verdict.ALLOW, f"{rule.where} allows it: {rule}.", rule)
        if self._is_free(action.reads):
            return Decision(Verdict.ALLOW, "It is a read-only command in the sandbox.")
        if action.access is Access.EDIT and self.mode in {PermissionMode.EDIT, PermissionMode.AUTO}:
            return Decision(Verdict.ALLOW, f"Mode “{self.mode}” allows edits in the project.")
        needs_sandbox = is_command and not action.destroys and self.mode is PermissionMode.AUTO
        if needs_sandbox and self.sandboxed:
            return Decision(Verdict.ALLOW, "Mode “auto” allows commands in the sandbox.")
        hint = " There is no sandbox for commands here." if needs_sandbox else ""
        return Decision(Verdict.ASK, f"No rule matches. Mode “{self.mode}” needs your confirmation.{hint}")


def _reading(tool: str, paths: tuple[str, ...]) -> Action | None:
    """The action of the tool that reads these files; None for no files."""
    return Action(tool=tool, access=Access.READ, summary="", subject=paths[0], also=paths[1:]) if paths else None


MAX_DECIDED = 50
_DESTROYS = "/undo cannot restore what it may remove."
_FREE = {Access.MEMORY, Access.READ, Access.PERSON}
_GUARDED_IN_TAINTED_TURNS = {Access.NETWORK, Access.NOTE, Access.RUN}
