"""Events of a turn. Every face subscribes to them, and to nothing else.

They come in this order: Notice*, Archiving?, Notice*, UserStored, WordsHidden?; for each request Summarising?,
Compacted?, Notice?, SpendingLimitReached*, EpochChanged?, ResultsReduced?, Notice*, Recall (the first request only),
ContextReady, then ContextOverflowed and the same request again, at most once a turn, or ModelConnected, Prefill,
Retrying, Notice, TextDelta, TextWithdrawn, ReasoningDelta and CallWritten in any order, UsageKnown, CallLimitReached?,
and for each tool call PermissionRequested?, then ToolStarted, PermissionDenied?, then ToolProgress, Notice,
QuestionAsked and PlanUpdated in any order, ToolFinished, CheckpointMade* and VersionMade* (calls that only read run
side by side, so that their events mix; the CheckpointMade of a command may come within the next answer instead), then
Notice? and CallLimitReached*; then the next request. A message that is
sent into the turn comes before its next request, or ends an answer, which has no UsageKnown then: Notice* up to
WordsHidden? as at the start, and its request has a Recall. The last event is exactly one of AnswerStored (after
UsageKnown, Notice*), Stopped and TurnFailed; the last two may come at any point. The text of a TextDelta was given to
the store before.
"""

import asyncio
from typing import Any, Final

from msgspec import Struct

from agent.checkpoints.change import CheckpointRecord
from agent.context_overflowed import ContextOverflowed
from agent.permissions.action import Action, PermissionAnswer, PersonQuestion
from agent.permissions.policy import Decision
from agent.spending.budget import Limit
from context.checklist import Checklist
from context.compaction.compact import CompactionReceipt
from context.report import ContextReport
from context.working_set.receipt import ReductionReceipt
from memory.versions.manifest import Version
from models.messages import RecalledSpan, ToolCall, Usage

REPEATED: Final = "{tool} was called {count:,} times in a row, with the same arguments and the same result."


class Notice(Struct, frozen=True):
    """A quiet line: a file was reloaded, a rule is broken. `level` is info, warning or error. `entries` are the seqs of
    the stored messages that it is about, oldest first."""

    level: str
    text: str
    entries: tuple[int, ...] = ()


class Archiving(Struct, frozen=True):
    """Texts that are too large for the request are archived as pages, by name. It may take some seconds."""

    names: tuple[str, ...]


class UserStored(Struct, frozen=True):
    """The user's message is on disk: committed and synced. `steers`: it was sent into the running turn."""

    conversation: str
    entry: str
    steers: bool = False


class WordsHidden(Struct, frozen=True):
    """Part of the user's message is not stored, though they may not have meant it.

    `unclosed` counts the characters after a `<private>` that is never closed, `injected` those between
    `<palimpsest-…>` tags, which stand for what the program itself puts into a request.
    """

    unclosed: int
    injected: int

    @property
    def text(self) -> str:
        unclosed = (
            f"<private> is not closed: the {self.unclosed:,} characters after it are sent with this "
            "request but not stored. End private text with </private>."
        )
        injected = (
            f"The {self.injected:,} characters between <palimpsest-…> tags are not stored: these "
            "tags are reserved for Palimpsest."
        )
        return " ".join([unclosed] * bool(self.unclosed) + [injected] * bool(self.injected))


class Recall(Struct, frozen=True):
    """What memory recalled for this message, most relevant first, each followed by what stands beside it; empty where
    nothing is relevant."""

    recalled: tuple[RecalledSpan, ...]


class EpochChanged(Struct, frozen=True):
    """The head of the requests changed, which invalidates the model's cache."""

    reason: str


class Summarising(Struct, frozen=True):
    """A model writes the summary of older turns. It may take as long as an answer."""


class Compacted(Struct, frozen=True):
    """Older turns were archived."""

    receipt: CompactionReceipt


class ResultsReduced(Struct, frozen=True):
    """Old tool results became a line each, and old messages lost what was recalled for them: the working set was
    passed, or a compaction reads all anew."""

    receipt: ReductionReceipt


class ContextReady(Struct, frozen=True):
    """The request is built; the model is called next.

    `unread`: about how many tokens a server on this machine reads before it answers, and how many it read a second the
    last time; 0 where unknown.
    """

    report: ContextReport
    unread: int = 0
    tokens_per_second: float = 0.0


class ModelConnected(Struct, frozen=True):
    """The model's server accepted the request."""


class CallWritten(Struct, frozen=True):
    """The model writes a tool call: its tool, and the characters of its arguments so far."""

    tool: str
    chars: int


class Prefill(Struct, frozen=True):
    """Progress of reading the prompt, in tokens."""

    done: int
    total: int


class Retrying(Struct, frozen=True):
    """The request failed and is sent again after a wait, which a stop ends. `number` of `most` retries; 0 while the
    server loads its model."""

    number: int
    most: int
    seconds: float
    reason: str

    @property
    def summary(self) -> str:
        """`Retry 2 of 3 in 4 s`."""
        if not self.number:
            return "The server is loading its model"
        return f"Retry {self.number} of {self.most} in {self.seconds:.2g} s"

    @property
    def text(self) -> str:
        """The summary with the reason."""
        return f"{self.summary}: {self.reason}"


class TextDelta(Struct, frozen=True):
    text: str


class ReasoningDelta(Struct, frozen=True):
    """`seconds`: since this answer's reasoning began."""

    text: str
    seconds: float = 0.0


class TextWithdrawn(Struct, frozen=True):
    """All TextDelta of this answer were reasoning, and so no part of it: `text` is what they held."""

    text: str


class PermissionRequested(Struct):
    """A tool asks to run. The face answers: `answer.set_result(PermissionAnswer(…))`.

    `reason` is a sentence that says why it asks. `once_only`: no answer holds for longer. `offers` are
    the rules that may be remembered, the narrowest first: `run_command(git log -1)`, `run_command(git log *)`.
    """

    call: ToolCall
    action: Action
    reason: str
    answer: asyncio.Future[PermissionAnswer]
    once_only: bool = False
    offers: tuple[str, ...] = ()
    decision: Decision | None = None


class CallLimitReached(Struct):
    """The turn has made as many tool calls as it may (`made`). The face answers whether it may make `more`.

    `repeated` is the tool that was called so often in a row, with the same arguments and the same result; "" where all
    calls of the turn are meant.
    Where nobody can be asked, the answer is not `attended`, and the turn fails; where a person declines, it stops.
    """

    made: int
    more: int
    answer: asyncio.Future[PermissionAnswer]
    repeated: str = ""

    @property
    def sentence(self) -> str:
        if self.repeated:
            return REPEATED.format(tool=self.repeated, count=self.made)
        return f"{self.made:,} calls in this turn."

    @property
    def question(self) -> str:
        return f"{self.sentence} Continue for another {self.more:,}?"


class SpendingLimitReached(Struct):
    """The next request would pass a limit of tokens or money. The face answers whether it is sent all the same.

    Where the answer is no, the turn stops.
    """

    limit: Limit
    answer: asyncio.Future[PermissionAnswer]

    @property
    def question(self) -> str:
        return f"{self.limit.sentence} Continue?"


class PermissionDenied(Struct, frozen=True):
    """A tool was not run: a rule, the mode or the person denied it. `reason` is a sentence; `decision` the policy's."""

    call: ToolCall
    action: Action
    reason: str
    decision: Decision | None = None


class ToolStarted(Struct, frozen=True):
    """`summary` is one line; `action` and `decision` are None where the call cannot be understood."""

    call: ToolCall
    summary: str
    action: Action | None = None
    decision: Decision | None = None


class ToolProgress(Struct, frozen=True):
    """A piece of the output of a tool that still runs."""

    call: ToolCall
    text: str


class QuestionAsked(Struct):
    """The model asks the person. The face answers with their words: `answer.set_result(…)`.

    "" where they leave it unanswered, None where nobody is there.
    """

    call: ToolCall
    question: PersonQuestion
    answer: asyncio.Future[str | None]


class PlanUpdated(Struct, frozen=True):
    """The model's plan for the conversation, as it is from now on."""

    plan: Checklist


class ToolFinished(Struct, frozen=True):
    """`shown` is what the model sees; the whole output is stored as `entry`. `diff` is the unified diff of a change."""

    call: ToolCall
    shown: str
    chars: int
    failed: bool
    entry: str
    diff: str = ""


class CheckpointMade(Struct, frozen=True):
    """A tool changed files, and what they held is kept: `/undo` and `/rewind` restore it."""

    record: CheckpointRecord

    def as_json(self) -> dict[str, Any]:
        """The checkpoint's id, the result (entry id) of the tool call, and each file with what happened to it."""
        files = [{"path": file.path, "folder": file.folder, "change": file.change} for file in self.record.files]
        return {"id": self.record.id, "entry": self.record.entry, "files": files}


class VersionMade(Struct, frozen=True):
    """A model's tool changed the notes, AGENTS.md, a skill or the like, which made this version; `text` is a line."""

    version: Version

    @property
    def text(self) -> str:
        return f"{self.version.path} was changed by the model: version {self.version.number}"


class UsageKnown(Struct, frozen=True):
    """The tokens of the request, and the speed of the answer (tokens a second, 0 where unknown)."""

    usage: Usage
    seconds: float
    tokens_per_second: float


class AnswerStored(Struct, frozen=True):
    """The turn is over and its answer is stored. `reason` is that of models.chat.port.StopReason."""

    conversation: str
    entry: str
    text: str
    usage: Usage
    model: str
    reason: str = "stop"


class Stopped(Struct, frozen=True):
    """The user stopped the answer; its text so far is stored."""

    conversation: str
    entry: str
    text: str


class TurnFailed(Struct, frozen=True):
    """The turn failed. The text so far is stored as `entry` ("" for none)."""

    code: str
    title: str
    message: str
    hint: str
    entry: str = ""
    text: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"code": self.code, "title": self.title, "message": self.message, "hint": self.hint}


SessionEvent = (
    Notice
    | Archiving
    | UserStored
    | WordsHidden
    | Recall
    | EpochChanged
    | ContextOverflowed
    | Summarising
    | Compacted
    | ResultsReduced
    | ContextReady
    | ModelConnected
    | CallWritten
    | Prefill
    | Retrying
    | TextDelta
    | ReasoningDelta
    | TextWithdrawn
    | SpendingLimitReached
    | PermissionRequested
    | CallLimitReached
    | PermissionDenied
    | ToolStarted
    | ToolProgress
    | QuestionAsked
    | PlanUpdated
    | ToolFinished
    | CheckpointMade
    | VersionMade
    | UsageKnown
    | AnswerStored
    | Stopped
    | TurnFailed
)
