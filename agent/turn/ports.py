"""The ports of a turn: the model, the tools, the store, and how a request is made."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, Protocol

from msgspec import Struct

from agent.events import SessionEvent
from agent.hooks.hooks import SessionHooks
from agent.permissions.policy import Policy
from agent.spending.budget import Limit
from agent.tools.registry import Toolbox, ToolOutput
from agent.turn.forgetting_watch import Forgettings
from agent.turn.recorder import AnswerRecorder
from context import AssembledRequest, Attachment, Turn
from context.compaction.compact import CompactionReceipt
from context.compaction.projection import ProjectedCompaction
from context.notice import FileNotice
from context.recall.prefetch import Prefetch
from context.settings import ContextSettings
from foundation.privacy import Cleared
from memory.records import Conversation, Entry
from models.chat.port import AnswerEnd, AnswerError, ChatModel, Profile, TokenCounter
from models.messages import PromptCacheSlot, RecalledSpan, ToolCall, Usage

SMALL: Final = 2_000  # characters: a message with less, its files included, is not checked for its size


class TurnInput(Struct, frozen=True):
    """What a person sends.

    `brought` is what knowledge has on it; nothing else is recalled for it then. `pastes` are the parts of `text` that
    were pasted or piped: where the message is too large, they are attached. `whole` is the text before that; "" where
    nothing was. `archives` are the conversations that hold its archived attachments (their ids). `again` is the stored
    message (its seq) that gets another answer; None for a new one. `delegated_by` is the tool result (its id) that a
    model worded it for; "" for a person's. `delegated_in` is the conversation (source and id) where it did. A message
    that `steers` is sent into the running turn.
    """

    text: str
    attachments: tuple[Attachment, ...] = ()
    skill: str = ""
    brought: tuple[RecalledSpan, ...] | None = None
    pastes: tuple[str, ...] = ()
    whole: str = ""
    archives: tuple[str, ...] = ()
    again: int | None = None
    delegated_by: str = ""
    delegated_in: tuple[str, str] | None = None
    steers: bool = False

    @property
    def may_be_large(self) -> bool:
        """Whether it might not fit a small window."""
        return len(self.text) + sum(len(file.data) for file in self.attachments if not file.is_picture) > SMALL


class LargeTextPort(Protocol):
    """Archives the texts that do not fit the request. Both methods block."""

    def fold(self, message: TurnInput) -> tuple[TurnInput, tuple[Attachment, ...]]:
        """The message, with parts of it attached where it does not fit, and the attachments to archive."""
        ...

    def archive(
        self, message: TurnInput, attachments: Sequence[Attachment], is_stopped: Callable[[], bool]
    ) -> tuple[TurnInput, list[str]]:
        """Archives the attachments; the message with their references, and a sentence for each that failed."""
        ...


class TurnStore(Protocol):
    """Persistence, as the turn's first subscriber. Each method blocks, and returns when the step is on disk."""

    @property
    def conversation(self) -> Conversation:
        """The message's conversation. Not before `message`."""
        ...

    @property
    def newest(self) -> Entry:
        """The newest entry of the turn. Not before `message`."""
        ...

    def message(self, message: TurnInput) -> Sequence[SessionEvent]:
        """Stores the message; gives UserStored, and WordsHidden where words were hidden."""
        ...

    def compacted(self, receipt: CompactionReceipt) -> None:
        """Continues after the summary that a compaction wrote."""
        ...

    def request(self, assembled: AssembledRequest, turn: Turn) -> PromptCacheSlot:
        """Records the request that is about to be sent; gives where a model may keep what it computes of it."""
        ...

    def begin_answer(self, calls: int, arguments: int) -> AnswerRecorder:
        """Begins an answer with at most so many tool calls, and characters of their arguments."""
        ...

    def end_answer(
        self, recorder: AnswerRecorder, assembled: AssembledRequest, outcome: AnswerEnd | AnswerError | None
    ) -> Sequence[SessionEvent]:
        """Stores the answer as it ended; gives UsageKnown and AnswerStored, or Stopped, or TurnFailed."""
        ...

    def has_skill(self, path: str) -> bool:
        """Whether the skill with this file is as the user trusted it, now."""
        ...

    def permitted(self, call: ToolCall) -> ToolCall:
        """The call without the words that the person hid, where its tool stores its arguments."""
        ...

    def untrusted_in_view(self) -> str:
        """Names what the newest untrusted text in view was read from, summarised or not; "" where there is none."""
        ...

    def tool_result(self, call: ToolCall, output: ToolOutput, id_: Cleared, summary: str) -> Entry:
        """Stores what a tool gave, under this id, with the line that the person saw of the call."""
        ...


class SummariesPort(Protocol):
    """Has a model write the summary of a compaction."""

    async def write(self, compaction: ProjectedCompaction, counter: TokenCounter) -> ProjectedCompaction | None:
        """The compaction with that summary; None where `stop` was called meanwhile."""
        ...

    def stop(self) -> None:
        """Stops the model, from anywhere on the loop."""
        ...


class SteeringPort(Protocol):
    """Whoever keeps the messages that are sent into a turn, until it takes them."""

    @property
    def waits(self) -> bool:
        """Whether there is a message to take."""
        ...

    async def take(self) -> TurnInput | None:
        """The messages that wait, as one; None where they were taken back meanwhile. They wait no longer then."""
        ...


class NoSteering:
    """The port of a turn that nobody steers."""

    waits = False

    async def take(self) -> TurnInput | None:
        return None


class BudgetPort(Protocol):
    """What may still be spent."""

    @property
    def calls_left(self) -> int:
        """Tool calls that may still be made."""
        ...

    def reached(self, profile: Profile, prompt_tokens: int) -> Limit | None:
        """The limit that a request of so many tokens would pass. Blocks."""
        ...

    def take(self, profile: Profile, usage: Usage) -> None:
        """Counts what a request used."""
        ...

    def take_calls(self, calls: int) -> None:
        """Counts tool calls that are made."""
        ...

    def lift(self, limit: Limit) -> None:
        """Goes on past the limit."""
        ...


class TurnPorts(Struct, frozen=True, kw_only=True):
    """Everything that a turn calls. The callables block, and are called off the event loop; `prepare` is awaited."""

    model: ChatModel
    tools: Toolbox
    store: TurnStore
    permissions: Policy
    budget: BudgetPort
    large_texts: LargeTextPort
    prepare: Callable[[], Awaitable[None]]  # learns the model's window and abilities
    prefetch: Callable[[str], Prefetch | None]  # the search for what a message recalls
    reload: Callable[[], tuple[FileNotice, ...]]  # reads the workspace's files that changed
    refresh_tools: Callable[[Callable[[], bool]], Awaitable[Sequence[str]]]  # takes those of servers; gives notices
    assemble: Callable[[Turn], AssembledRequest]
    compact: Callable[[ProjectedCompaction, str], CompactionReceipt]  # with its cause
    context_settings: ContextSettings
    forgettings: Forgettings
    summaries: SummariesPort | None = None  # None: the extract, which every planned compaction has
    hooks: SessionHooks | None = None
    steering: SteeringPort = NoSteering()
    notes: Callable[[], Sequence[str]] = tuple  # what the model is told with the next message, once
    warnings: Callable[[], Iterable[str]]  # trouble with the archive, each reported once
