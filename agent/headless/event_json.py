"""Events as lines of stream-json, and as notices on stderr."""

from typing import Any, Final

import msgspec

from agent import events
from agent.cli import output
from agent.events import SessionEvent
from agent.permissions.action import Action
from agent.permissions.policy import Decision
from agent.permissions.rules import Verdict
from agent.turn.tool_calls import UNATTENDED
from context.working_set.receipt import CAUSE_WORKING_SET
from foundation.program import PROGRAM
from models.messages import RecalledSpan, Usage

_TEXTS: Final = {
    events.TextDelta: "text",
    events.ReasoningDelta: "reasoning",
    events.TextWithdrawn: "text_withdrawn",
}


def event_object(event: SessionEvent) -> dict[str, Any] | None:
    """The event as stream-json prints it; None for narration, and for what is in the last line."""
    match event:
        case events.UserStored(conversation=conversation, entry=entry, steers=steers):
            return {"type": "user", "entry": entry, "conversation": conversation, "steers": steers}
        case events.TextDelta(text=text) | events.ReasoningDelta(text=text) | events.TextWithdrawn(text=text):
            return {"type": _TEXTS[type(event)], "text": text}
        case events.Compacted() | events.ResultsReduced():
            return _compaction_object(event)
        case events.ContextOverflowed(window=window, prompt_tokens=tokens, stated=stated):
            return {"type": "overflow", "text": event.text, "window": window, "stated": stated, "prompt_tokens": tokens}
        case events.UsageKnown(usage=figures_of, seconds=seconds, tokens_per_second=speed):
            figures = {"seconds": round(seconds, 3), "tokens_per_second": round(speed, 1)}
            return {"type": "usage", **usage_object(figures_of), **figures}
        case _:
            return _tool_object(event)


def _compaction_object(event: events.Compacted | events.ResultsReduced) -> dict[str, Any]:
    """Turns that were archived, or results that became a line each: the same fields, those of the other empty."""
    done = event.receipt if isinstance(event, events.Compacted) else None
    return {
        "type": "compaction",
        "cause": done.cause if done else CAUSE_WORKING_SET,
        "text": event.receipt.text,
        "summary_entry": done.summary_entry if done else "",
        "tokens_before": event.receipt.tokens_before,
        "tokens_after": event.receipt.tokens_after,
        "audited": done.audited if done else 0,
        "carried": done.carried if done else 0,
        "focus": done.focus if done else "",
        "focus_lines": done.focus_lines if done else 0,
        "reduced": msgspec.to_builtins(event.receipt.reductions if isinstance(event, events.ResultsReduced) else ()),
    }


def _tool_object(event: SessionEvent) -> dict[str, Any] | None:  # noqa: PLR0911 - a line for each event
    match event:
        case events.ToolStarted(call=call, summary=summary, action=action, decision=decision):
            return {
                "type": "tool_call",
                "id": call.id,
                "name": call.name,
                "arguments": call.arguments,
                "summary": summary,
                "access": action.access.value if action else None,
                "subject": action.subject if action else None,
                "decision": decision_object(decision) if decision else None,
            }
        case events.ToolProgress(call=call, text=text):
            return {"type": "tool_progress", "id": call.id, "text": text}
        case events.PlanUpdated(plan=plan):
            return {"type": "plan", "steps": [{"text": step.text, "state": step.state.value} for step in plan.steps]}
        case events.CheckpointMade():
            return {"type": "checkpoint", **event.as_json()}
        case events.VersionMade(version=version):
            return {"type": "version", "path": version.path, "number": version.number, "reason": version.reason}
        case events.ToolFinished(call=call, shown=shown, chars=chars, failed=failed, entry=entry):
            fields = {"id": call.id, "name": call.name, "chars": chars, "failed": failed, "entry": entry}
            return {"type": "tool_result", **fields, "text": shown}
        case events.PermissionDenied(call=call, action=action, reason=reason, decision=decision):
            return permission_object(call.id, action, decision, granted=False, reason=reason)
        case _:
            return None


def decision_object(decision: Decision) -> dict[str, Any]:
    """What the policy decided: `rule` is the rule that decided, None for the mode."""
    rule = decision.rule
    return {
        "verdict": decision.verdict.value,
        "reason": decision.reason,
        "rule": str(rule) if rule else None,
        "rule_of": rule.source.value if rule else None,
    }


def permission_object(
    call_id: str, action: Action, decision: Decision | None, *, granted: bool, reason: str
) -> dict[str, Any]:
    """The outcome of a permission that was not simply allowed. `by`: rule, mode, answer, or nobody could be asked."""
    by = "nobody" if reason == UNATTENDED else "answer"
    if decision is not None and decision.verdict is Verdict.DENY:
        by = "rule" if decision.rule else "mode"
    return {
        "type": "permission",
        "id": call_id,
        "tool": action.tool,
        "summary": action.summary,
        "granted": granted,
        "by": by,
        "rule": str(decision.rule) if decision and decision.rule else None,
        "reason": reason,
    }


def request_object(request: events.PermissionRequested) -> dict[str, Any]:
    """A request for permission, for the program that answers it."""
    action = request.action
    return {
        "type": "permission_request",
        "id": request.call.id,
        "tool": action.tool,
        "access": action.access.value,
        "summary": action.summary,
        "subject": action.subject,
        "detail": action.detail,
        "is_diff": action.is_diff,
        "reason": request.reason,
        "once_only": request.once_only,
        "offers": list(request.offers),
    }


def question_object(asked: events.QuestionAsked) -> dict[str, Any]:
    """A question of the model, for the program that answers it."""
    return {
        "type": "question",
        "id": asked.call.id,
        "text": asked.question.text,
        "options": list(asked.question.options),
    }


def narrate(event: SessionEvent) -> None:
    """Writes notices about the event to stderr."""
    match event:
        case events.Notice(text=text):
            output.narrate(text)
        case events.Archiving(names=names):
            output.narrate(f"Archiving {', '.join(names)} …")
        case events.WordsHidden() | events.Retrying() | events.ContextOverflowed():
            output.narrate(event.text)
        case events.Summarising():
            output.narrate("Summarising older messages …")
        case events.Compacted(receipt=receipt) | events.ResultsReduced(receipt=receipt):
            output.narrate(receipt.text)
        case events.ToolStarted(summary=summary):
            output.narrate(f"Tool: {summary}")
        case events.VersionMade():
            output.narrate(f"{event.text}. `{PROGRAM} memory undo` undoes it.")
        case events.PermissionDenied(reason=reason):
            output.narrate(f"Not done: {reason}")
        case _:
            pass


def usage_object(tokens: Usage) -> dict[str, Any]:
    """Token counts as JSON."""
    return {
        "prompt_tokens": tokens.prompt_tokens,
        "completion_tokens": tokens.completion_tokens,
        "cached_tokens": tokens.cached_tokens,
        "estimated": tokens.estimated,
    }


def recalled_object(part: RecalledSpan) -> dict[str, Any]:
    """A recalled passage as JSON."""
    return {
        "ref": part.citation.ref,
        "citation": str(part.citation),
        "device": part.citation.device or None,
        "title": part.citation.title,
        "place": part.citation.place,
        "conversation": part.citation.conversation,
        "time": part.time,
        "trust": part.trust.value,
        "score": part.score,
        "likelihood": part.likelihood,
        "beside": part.beside,
        "off_branch": part.off_branch,
        "superseded": part.superseded,
        "text": part.text,
    }
