"""Inputs and outputs of the package: a turn, its attachments, and the assembled request."""

from msgspec import Struct

from context.assembly.parts import RequestPart
from context.compaction.projection import ProjectedCompaction
from context.epoch import EpochState
from context.notice import FileNotice
from context.recall.prefetch import Prefetch
from context.report import ContextReport
from context.sources.skills import Skill
from context.working_set.receipt import ReductionReceipt
from foundation.privacy import NO_BYTES, Cleared, ClearedBytes
from memory.records import Conversation
from models.chat.port import Profile
from models.cleared_parts import NO_PARTS, ClearedParts
from models.messages import Fact, Message, RecalledSpan, Request, Tool


class Attachment(Struct, frozen=True):
    """A file that is sent with a message, or a pasted text that is too large for it.

    `archive` is the reference of the archive that holds it (`#3`); "" for none.
    """

    name: str
    media_type: str
    data: bytes
    archive: str = ""
    pasted: bool = False

    @property
    def text(self) -> str:
        """The text of a file that is no picture. Raises UnicodeDecodeError."""
        return self.data.decode("utf-8-sig").replace("\r\n", "\n")

    @property
    def is_picture(self) -> bool:
        return self.media_type.startswith("image/") and self.media_type != "image/svg+xml"


class Turn(Struct, frozen=True, kw_only=True):
    """A turn to be sent.

    `leaf` is the seq at which the branch ends; `entry` is the seq of this message where it is already stored (it is
    then excluded from the branch and from recall). `continuing`: after tool results, without a new message.
    `steers`: the message belongs to the turn of the one before it.
    """

    conversation: Conversation | None = None
    leaf: int | None = None
    text: str = ""
    attachments: tuple[Attachment, ...] = ()
    skill: str = ""
    brought: tuple[RecalledSpan, ...] | None = None  # passages found in knowledge; nothing else is recalled then
    prefetch: Prefetch | None = None  # the search, where it was started earlier
    hook_text: str = ""  # what hooks of the user add to the message
    entry: int | None = None
    continuing: bool = False
    steers: bool = False
    notes: tuple[str, ...] = ()  # what the program tells the model with the message
    uncompacted: bool = False  # a compaction was refused: the request is made without

    @property
    def is_sent(self) -> bool:
        """Whether the request is about to be sent, and not only looked at."""
        return self.continuing or self.entry is not None


class AssemblyArguments(Struct, frozen=True):
    """What a request is assembled from. `recall`: memory may bring passages.

    `stated`: the names of the tools that the message must list, for a model that calls tools in text.
    `lists_skills`: the model can open a skill, so the head has their index.
    """

    turn: Turn
    profile: Profile
    tools: tuple[Tool, ...]
    facts: tuple[Fact, ...]
    recall: bool
    stated: frozenset[str] = frozenset()
    lists_skills: bool = True


class AssembledRequest(Struct, frozen=True, kw_only=True):
    """A request that is ready to be sent, and the parts of it that `Context.record` stores.

    `tail` holds the injected parts of the last message, private text removed, as they are stored beside its entry.
    `compaction`: older turns must leave first (`Context.compact`, then assemble again); the request is as it will be
    after the compaction.
    """

    request: Request
    report: ContextReport
    parts: tuple[RequestPart, ...] = ()  # in order; their tokens sum to the report's total
    recalled: tuple[RecalledSpan, ...] = ()
    tail: ClearedParts = NO_PARTS
    notices: tuple[FileNotice, ...] = ()  # about the sources of the tail
    skill: Skill | None = None  # that the person sent with the message
    shortened: tuple[str, ...] = ()  # names of attachments that are not in the request as a whole
    epoch_changed: str = ""
    compaction: ProjectedCompaction | None = None
    reduction: ReductionReceipt | None = None  # what the working set reduced since the last request
    epoch: EpochState
    new_epoch: bool = False
    sent: Message | None = None  # the last message, private text included; in memory only
    reported: tuple[tuple[str, str, Cleared], ...] = ()  # the changes that the tail reports: key, digest, text
    digest: ClearedBytes = NO_BYTES
    answers: int = 0  # seq of the entry that the request answers
