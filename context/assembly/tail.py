"""Zone D: one user message of instructions, skills, changes, recalled passages, attachments, and the message itself."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from context.assembly.budget import Budget
from context.assembly.tokens import CountedMessage, Layer, MessageCounter, MessagePiece, fit_lines
from context.errors import RequestTooLarge
from context.report import DroppedSource
from context.settings import ContextSettings
from models.messages import Image, MessagePart, RecalledSpan, Role, Text

MARGIN = 4  # tokens that joining parts may add to one of them
_SHARE = "its share is full"
_ROOM = "there is no room beside the conversation and the message"

# What goes first where there is no room; the message itself never does.
_RANKS = {"changes": 1, "skill": 2, "instructions": 3, "attachment": 4}


class RequestTail(Struct, frozen=True):
    """The tail's pieces in order, and what did not fit, by layer."""

    pieces: tuple[MessagePiece, ...]
    dropped: tuple[tuple[Layer, DroppedSource], ...] = ()

    @property
    def recalled(self) -> tuple[RecalledSpan, ...]:
        return tuple(piece.part for piece in self.pieces if isinstance(piece.part, RecalledSpan))

    @property
    def injected(self) -> tuple[MessagePart, ...]:
        """All parts except the message itself."""
        return tuple(piece.part for piece in self.pieces if not _is_message(piece))


class TailInput(Struct, frozen=True, kw_only=True):
    """The pieces that the tail should hold."""

    instructions: tuple[MessagePiece, ...] = ()
    skills: tuple[MessagePiece, ...] = ()
    changes: tuple[MessagePiece, ...] = ()
    recalled: tuple[MessagePiece, ...] = ()
    attachments: tuple[MessagePiece, ...] = ()
    message: tuple[MessagePiece, ...] = ()


def bound_tail(wanted: TailInput, budget: Budget, settings: ContextSettings, counting: MessageCounter) -> RequestTail:
    """The tail within each group's share. Recalled passages were bounded when they were recalled."""
    dropped: list[tuple[Layer, DroppedSource]] = []
    project = budget.shares[Layer.PROJECT]

    def within(pieces: tuple[MessagePiece, ...], limit: int) -> tuple[MessagePiece, ...]:
        kept, left = _bounded(pieces, limit, counting)
        dropped.extend(left)
        return kept

    pieces = (
        *within(wanted.instructions, budget.shares[Layer.SYSTEM]),
        *within(wanted.skills, project),
        *within(wanted.changes, project // 2),
        *wanted.recalled,
        *within(wanted.attachments, int(budget.total * settings.attachment_share)),
        *wanted.message,
    )
    return RequestTail(pieces, tuple(dropped))


def squeeze(tail: RequestTail, room: int, counting: MessageCounter) -> tuple[RequestTail, CountedMessage]:
    """Cuts the tail to `room` tokens: recalled passages first, then changes, skills, instructions, attachments.

    Raises RequestTooLarge where the message alone does not fit.
    """
    pieces = list(tail.pieces)
    dropped = list(tail.dropped)
    while True:
        weighed = counting.weighed(Role.USER, tuple(pieces))
        over = weighed.tokens - room
        if over <= 0:
            return RequestTail(tuple(pieces), tuple(dropped)), weighed
        victim = _least(pieces)
        if victim is None:
            raise RequestTooLarge("Too large", f"{weighed.tokens:,} tokens do not fit {max(0, room):,}.")
        tokens = counting.part(pieces[victim].part)
        shorter, left = _shortened(pieces[victim], tokens - over - MARGIN, counting)
        dropped.append((pieces[victim].layer, DroppedSource(pieces[victim].source, left, _ROOM)))
        pieces[victim : victim + 1] = [shorter] if shorter and left else []


def _bounded(
    pieces: Sequence[MessagePiece], limit: int, counting: MessageCounter
) -> tuple[tuple[MessagePiece, ...], list[tuple[Layer, DroppedSource]]]:
    kept: list[MessagePiece] = []
    dropped: list[tuple[Layer, DroppedSource]] = []
    room = limit
    for piece in pieces:
        tokens = counting.part(piece.part) + MARGIN
        if tokens <= room:
            kept.append(piece)
            room -= tokens
            continue
        shorter, left = _shortened(piece, room - MARGIN, counting)
        dropped.append((piece.layer, DroppedSource(piece.source, left, _SHARE)))
        if shorter:
            kept.append(shorter)
            room -= counting.part(shorter.part) + MARGIN
    return tuple(kept), dropped


def _shortened(piece: MessagePiece, limit: int, counting: MessageCounter) -> tuple[MessagePiece | None, int]:
    """The piece cut to `limit` tokens, and how many were dropped; None where no part of it makes sense alone."""
    whole = counting.part(piece.part)
    if not isinstance(piece.part, Text):
        return None, whole
    part = piece.part
    frame = counting.part(replace(part, text=""))
    text, left = fit_lines(part.text, limit - frame, counting, f"… (the rest of {piece.source} did not fit)")
    if not text or not left:
        return None, whole
    return MessagePiece(piece.layer, piece.source, replace(part, text=text)), left


def _least(pieces: Sequence[MessagePiece]) -> int | None:
    """The piece to drop next: the last of the lowest rank."""
    ranked = [(rank, -n) for n, piece in enumerate(pieces) if (rank := _rank(piece)) is not None]
    return -min(ranked)[1] if ranked else None


def _rank(piece: MessagePiece) -> int | None:
    match piece.part:
        case RecalledSpan():
            return 0
        case Text(injected=""):
            return None
        case Text(injected=what):
            return _RANKS.get(what, 1)
        case Image():
            return 4
        case _:
            return None


def _is_message(piece: MessagePiece) -> bool:
    return isinstance(piece.part, Text) and not piece.part.injected
