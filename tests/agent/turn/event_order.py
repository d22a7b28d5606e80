"""The order of a turn's events (agent.events) as a grammar: the real session and the tests' fake both pass it."""

import re
from collections.abc import Iterable
from typing import Any

COMPACTION = "((Summarising )?Compacted (Notice )?)*(Summarising )?"
ONE_REQUEST = f"{COMPACTION}(SpendingLimitReached )*(EpochChanged )?(ResultsReduced )?(Notice )*{{recall}}ContextReady "
REQUEST = f"({ONE_REQUEST}((ModelConnected|Retrying|Notice) )*ContextOverflowed )?{ONE_REQUEST}"
ANSWER = "((ModelConnected|Prefill|Retrying|Notice|TextDelta|ReasoningDelta|CallWritten|CheckpointMade) )*"
MADE = "((CheckpointMade|VersionMade) )*"
RUN = "(PermissionDenied |((ToolProgress|Notice|QuestionAsked|PlanUpdated) )+)"
CALL = (
    f"(PermissionRequested (Notice )?ToolStarted ({RUN})?ToolFinished {MADE}|"
    f"ToolStarted {RUN}ToolFinished {MADE}|(ToolStarted )+(ToolFinished {MADE})+)"
)
MESSAGE = "(Notice )*(Archiving )?(Notice )*UserStored (WordsHidden )?" + REQUEST.format(recall="Recall ")
CALLS = f"{ANSWER}UsageKnown (CallLimitReached )?({CALL})+(Notice )?(CallLimitReached ){{0,2}}"
ROUNDS = f"{MESSAGE}({CALLS}{REQUEST.format(recall='')}|({CALLS}|{ANSWER}){MESSAGE})*{ANSWER}"
WHOLE = re.compile(f"{ROUNDS}(UsageKnown (Notice )*AnswerStored|Stopped|TurnFailed)")
NO_MORE_CALLS = re.compile(
    f"{ROUNDS}UsageKnown (CallLimitReached ({CALL})+|({CALL})+(Notice )?CallLimitReached )(Stopped|TurnFailed)"
)
FAILED_EARLY = re.compile(
    "(Notice )*(Archiving )?(Notice )*(UserStored (WordsHidden )?)?"
    f"({ONE_REQUEST.format(recall='(Recall )?')}((ModelConnected|Retrying|Notice) )*ContextOverflowed )?"
    f"{COMPACTION}(SpendingLimitReached )*(EpochChanged )?(ResultsReduced )?(Notice )*(Recall )?(TurnFailed|Stopped)"
)
IN_TOOLS = (
    f"((PermissionRequested )?(ToolStarted )?({RUN})?|(ToolStarted )+(ToolFinished )*|"
    f"{COMPACTION}(SpendingLimitReached )*(EpochChanged )?(ResultsReduced )?(Notice )*)"
)
FAILED_IN_TOOLS = re.compile(f"{ROUNDS}UsageKnown ({CALL})*({IN_TOOLS})(TurnFailed|Stopped)")


def names(events: Iterable[Any]) -> str:
    """The kinds of the events, in order, with blanks between."""
    return " ".join(type(event).__name__ for event in events)


def assert_in_order(events: Iterable[Any]) -> None:
    """Fails, with the order that was seen, where it is not one that agent.events tells."""
    order = names(events)
    assert any(grammar.fullmatch(order) for grammar in (WHOLE, FAILED_EARLY, FAILED_IN_TOOLS, NO_MORE_CALLS)), order
