"""The result of a turn, collected from its events."""

import shlex
from typing import Any, Final

import msgspec

from agent import events
from agent.events import SessionEvent
from agent.headless.event_json import recalled_object, usage_object
from agent.headless.options import Ending
from agent.permissions.action import Access, Action
from agent.permissions.rules import Verdict, offered_rules
from agent.spending.budget import Limit, SpendingBudget
from agent.turn.tool_calls import NO_MORE_CALLS
from context.report import ContextReport
from models.chat.port import StopReason
from models.messages import RecalledSpan, Usage

_ENDED: Final[dict[str, str]] = {
    StopReason.LENGTH: "The answer was cut off at the length limit.",
    StopReason.CUT_CALL: "No tool ran: the answer was cut off at the length limit, within a tool call.",
    StopReason.FILTERED: "The answer was stopped by the service's content filter.",
}


class Denials:
    """The actions of a turn that were not permitted."""

    def __init__(self) -> None:
        self.is_unfinished = False  # whether nothing but reading was done after the last one
        self._denied: list[events.PermissionDenied] = []
        self._actions: dict[str, Action | None] = {}

    def take(self, event: SessionEvent) -> None:
        match event:
            case events.PermissionDenied(reason=reason) if reason == NO_MORE_CALLS:
                pass  # the limit ends the run, and no permission would change that
            case events.PermissionDenied():
                self._denied.append(event)
                self.is_unfinished = True
            case events.ToolStarted(call=call, action=action):
                self._actions[call.id] = action
            case events.ToolFinished(call=call, failed=failed):
                action = self._actions.get(call.id)
                if action and not failed and not action.access.only_reads:
                    self.is_unfinished = False
            case _:
                pass

    def objects(self) -> list[dict[str, Any]]:
        """As the result lists them."""
        return [_denied_object(denial) for denial in self._denied]

    def hint(self) -> str:
        """The flags that would allow what was denied, on lines of their own; "" where nothing was denied."""
        if not self._denied:
            return ""
        ways = list(dict.fromkeys(map(_way_to_allow, self._denied)))
        actions = "1 action was" if len(self._denied) == 1 else f"{len(self._denied)} actions were"
        return "\n".join([f"{actions} not permitted. To permit:", *(f"  {way}" for way in ways)])


class TurnTotals:
    """Collects the result of a turn from its events. `limit` is set where a limit ended it."""

    def __init__(self) -> None:
        self.failure: events.TurnFailed | None = None
        self.limit: Limit | None = None
        self.denials = Denials()
        self._stopped = self._is_empty = self._is_broken_off = False
        self.ended: str | None = None  # why the model stopped; None where its answer did not come to an end
        self._conversation = self._entry = self._text = self._model = ""
        self._streamed: list[str] = []
        self._usage = Usage(estimated=True)
        self._recalled: tuple[RecalledSpan, ...] = ()
        self._report: ContextReport | None = None

    def take(self, event: SessionEvent) -> None:
        self.denials.take(event)
        match event:
            case events.UserStored(conversation=conversation):
                self._conversation = conversation
            case events.Recall(recalled=recalled):
                self._recalled = recalled
            case events.ContextReady(report=report):
                self._report = report
                self._streamed = []
            case events.TextDelta(text=text):
                self._streamed.append(text)
            case events.TextWithdrawn():
                self._streamed = []
            case events.UsageKnown(usage=usage):
                self._usage = usage
            case events.AnswerStored(entry=entry, text=text, usage=usage, model=model, reason=reason):
                self._entry, self._text, self._usage, self._model = entry, text, usage, model
                self.ended, self._is_broken_off = reason, reason == StopReason.REPETITION
                self._is_empty = not text.strip()
            case events.Stopped(entry=entry, text=text):
                self._entry, self._text, self._stopped = entry, text or "".join(self._streamed), True
            case events.TurnFailed():
                self.failure = event
            case _:
                pass

    @property
    def ending_sentence(self) -> str:
        """Why the answer may not be whole; "" where it is, or where something else tells it."""
        return _ENDED.get(self.ended or "", "")

    @property
    def prompt_tokens(self) -> int:
        """Of the request under way, as counted before it was sent."""
        return self._report.total_tokens if self._report else 0

    @property
    def ending(self) -> Ending:
        if self.limit is not None:
            return Ending.LIMIT
        if self.failure is not None or self._is_broken_off:
            return Ending.FAILED
        if self._stopped:
            return Ending.STOPPED
        if self.denials.is_unfinished:
            return Ending.DENIED
        return Ending.EMPTY if self._is_empty else Ending.ANSWERED

    def failure_object(self, failure: events.TurnFailed) -> dict[str, str]:
        """The error in place of a result, with the text that came before it and the entry that holds the text."""
        text = failure.text or "".join(self._streamed)
        return {**failure.as_json(), "text": text, "conversation": self._conversation, "entry": failure.entry}

    def result(self, spec: str, budget: SpendingBudget) -> dict[str, Any]:
        """The last line of stream-json, and the only one of json."""
        return {
            "type": "result",
            "text": self._text or "".join(self._streamed),
            "conversation": self._conversation,
            "entry": self._entry,
            "usage": usage_object(self._usage),
            "model": self._model or spec,
            "status": self.ending.value,
            "ended": self.ended,
            "stopped": self._stopped,
            "limit": {"name": self.limit.name, "sentence": self.limit.sentence} if self.limit else None,
            "denied": self.denials.objects(),
            "run": run_object(budget),
            "recalled": [recalled_object(part) for part in self._recalled],
            "context": _without_words(self._report) if self._report else {},
        }


def run_object(budget: SpendingBudget) -> dict[str, Any]:
    """What the run has used. `priced` is false where the price of a model is not known."""
    return {
        "calls": budget.calls,
        "tokens": budget.tokens,
        "cost": [{"amount": amount, "currency": currency} for currency, amount in sorted(budget.spent.items())],
        "priced": budget.is_priced,
    }


def _denied_object(denial: events.PermissionDenied) -> dict[str, Any]:
    rule = denial.decision.rule if denial.decision else None
    return {
        "tool": denial.action.tool,
        "summary": denial.action.summary,
        "reason": denial.reason,
        "rule": str(rule) if rule else None,
    }


def _way_to_allow(denial: events.PermissionDenied) -> str:
    action, decision = denial.action, denial.decision
    if decision and decision.rule and decision.verdict is Verdict.DENY:
        return f"{action.summary}: without the rule {shlex.quote(str(decision.rule))}"
    if decision and decision.verdict is Verdict.DENY:
        return f"{action.summary}: with another --mode"
    if decision and decision.asks_always:
        return f"{action.summary}: confirmation by the program using --input-format stream-json, or on screen"
    flags = [f"--allow {shlex.quote(rule.text)}" for rule in offered_rules(action)[:1]]
    return " or ".join(["--mode edit,", *flags] if action.access is Access.EDIT and flags else flags or ["--mode edit"])


def _without_words(report: ContextReport) -> dict[str, Any]:
    """The request's report without its messages, which `palimpsest context` shows."""
    return {key: value for key, value in msgspec.to_builtins(report).items() if key != "messages"}
