"""Inputs and outputs of the context: a turn, its attachments, and the request made for it."""

from msgspec import Struct

from context.compaction.projection import ProjectedCompaction
from context.epoch import EpochState
from context.notice import FileNotice
from context.recall.prefetch import Prefetch
from context.report import ContextReport
from foundation.privacy import NO_BYTES, Cleared, ClearedBytes
from memory.records import Conversation
from models.cleared_parts import NO_PARTS, ClearedParts
from models.messages import Message, RecalledSpan, Request


class Attachment(Struct, frozen=True):
    """A file that is sent with a message."""

    name: str
    media_type: str
    data: bytes


class Turn(Struct, frozen=True, kw_only=True):
    """What is to be sent.

    `leaf` is the seq at which the branch ends; `entry` that of this message where it is already stored (it is then left
    out of the branch and of recall). `continuing`: after tool results, without a new message.
    """

    conversation: Conversation | None = None
    leaf: int | None = None
    text: str = ""
    attachments: tuple[Attachment, ...] = ()
    skill: str = ""
    brought: tuple[RecalledSpan, ...] | None = None  # what knowledge has on it; then nothing else is recalled
    ahead: Prefetch | None = None  # the search for it, where it was begun before
    entry: int | None = None
    continuing: bool = False


class AssembledRequest(Struct, frozen=True, kw_only=True):
    """A request that is ready to be sent, and what `Context.record` stores of it.

    `tail` holds the injected parts of the last message, private words removed, as they are stored beside its entry.
    `compaction`: older turns must leave first (`Context.compact`, then assemble again); the request is as it will be
    then.
    """

    request: Request
    report: ContextReport
    recalled: tuple[RecalledSpan, ...] = ()
    tail: ClearedParts = NO_PARTS
    notices: tuple[FileNotice, ...] = ()  # about what goes along
    epoch_changed: str = ""
    compaction: ProjectedCompaction | None = None
    epoch: EpochState
    new_epoch: bool = False
    sent: Message | None = None  # the last message, private words included; RAM alone
    told: tuple[tuple[str, str, Cleared], ...] = ()  # the changes that the tail tells: key, digest, words
    digest: ClearedBytes = NO_BYTES
    answers: int = 0  # seq of the entry that the request answers
