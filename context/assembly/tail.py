"""Zone D: one user message of instructions, skills, changes, recalled passages, attachments, and the message itself."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from context.assembly.budget import Budget
from context.assembly.excerpts import fair_limits, shorten_attachment
from context.assembly.tokens import CountedMessage, Layer, MessageCounter, MessagePiece, fit_lines
from context.errors import RequestTooLarge
from context.recall.guide import with_guide
from context.report import DroppedSource
from context.settings import ContextSettings
from models.messages import Image, MessagePart, RecalledSpan, Role, Text

MARGIN = 4  # tokens that joining may add to a part
_SHARE_FULL = "its share is full"
_ARCHIVED = "it is archived, and can be recalled"
_NO_ROOM = "the conversation and the message leave no room"

# Drop order where the tail does not fit, lowest first; the message itself is never dropped.
_RANKS = {"changes": 1, "skill": 2, "instructions": 3, "attachment": 4, "tools": 5, "language": 5}


class RequestTail(Struct, frozen=True):
    """Pieces of the tail in order, and the dropped sources by layer."""

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
    """Candidate pieces of the tail, before any is dropped."""

    tools: tuple[MessagePiece, ...] = ()
    instructions: tuple[MessagePiece, ...] = ()
    skills: tuple[MessagePiece, ...] = ()
    changes: tuple[MessagePiece, ...] = ()
    recalled: tuple[MessagePiece, ...] = ()
    attachments: tuple[MessagePiece, ...] = ()
    message: tuple[MessagePiece, ...] = ()
    guide: str = "use"  # section of the prompt `recall`


def bound_tail(parts: TailInput, budget: Budget, settings: ContextSettings, counting: MessageCounter) -> RequestTail:
    """Limits each group of pieces to its share. Recalled passages were limited by recall itself."""
    dropped: list[tuple[Layer, DroppedSource]] = []
    project = budget.shares[Layer.PROJECT]

    def within(pieces: tuple[MessagePiece, ...], limit: int) -> tuple[MessagePiece, ...]:
        included, left_out = _bounded(pieces, limit, counting)
        dropped.extend(left_out)
        return included

    attachments = _bounded_attachments(parts.attachments, int(budget.total * settings.attachment_share), counting)
    dropped.extend(attachments.dropped)
    shown = [piece.part.text for piece in attachments.pieces if isinstance(piece.part, Text)]

    recalled = [p for p in parts.recalled if isinstance(p.part, RecalledSpan) and not is_in_view(p.part, shown)]
    found = [piece.part for piece in recalled if isinstance(piece.part, RecalledSpan)]
    spans = with_guide(found, parts.guide)
    pieces = (
        *parts.tools,
        *within(parts.instructions, budget.shares[Layer.SYSTEM]),
        *within(parts.skills, project),
        *within(parts.changes, project // 2),
        *(replace(piece, part=span) for piece, span in zip(recalled, spans, strict=True)),
        *attachments.pieces,
        *parts.message,
    )
    return RequestTail(pieces, tuple(dropped))


def squeeze(tail: RequestTail, room: int, counting: MessageCounter) -> tuple[RequestTail, CountedMessage]:
    """Truncates the tail to `room` tokens: recalled passages first, then changes, skills, instructions, attachments.

    Of two attachments the larger one is truncated.

    Raises RequestTooLarge where the message alone does not fit.
    """
    pieces = list(tail.pieces)
    dropped = list(tail.dropped)
    while True:
        counted = counting.counted_message(Role.USER, tuple(pieces))
        excess = counted.tokens - room
        if excess <= 0:
            return RequestTail(tuple(pieces), tuple(dropped)), counted
        lowest = _lowest_ranked(pieces, counting)
        if lowest is None:
            raise RequestTooLarge("Too large", f"{counted.tokens:,} tokens do not fit {max(0, room):,}.")
        tokens = counting.part(pieces[lowest].part)
        shorter, dropped_tokens = _shortened(pieces[lowest], tokens - excess - MARGIN, counting)
        why = _ARCHIVED if pieces[lowest].archive else _NO_ROOM
        dropped.append((pieces[lowest].layer, DroppedSource(pieces[lowest].source, dropped_tokens, why)))
        pieces[lowest : lowest + 1] = [shorter] if shorter and dropped_tokens else []


def _bounded(
    pieces: Sequence[MessagePiece], limit: int, counting: MessageCounter
) -> tuple[tuple[MessagePiece, ...], list[tuple[Layer, DroppedSource]]]:
    included: list[MessagePiece] = []
    dropped: list[tuple[Layer, DroppedSource]] = []
    room = limit
    for piece in pieces:
        tokens = counting.part(piece.part) + MARGIN
        if tokens <= room:
            included.append(piece)
            room -= tokens
            continue
        shorter, dropped_tokens = _shortened(piece, room - MARGIN, counting)
        dropped.append((piece.layer, DroppedSource(piece.source, dropped_tokens, _SHARE_FULL)))
        if shorter:
            included.append(shorter)
            room -= counting.part(shorter.part) + MARGIN
    return tuple(included), dropped


def _bounded_attachments(pieces: Sequence[MessagePiece], limit: int, counting: MessageCounter) -> RequestTail:
    """The attachments in `limit` tokens: small ones whole, the others with equal shares of the rest."""
    included: list[MessagePiece] = []
    dropped: list[tuple[Layer, DroppedSource]] = []
    tokens = [counting.part(piece.part) + MARGIN for piece in pieces]
    for piece, wanted, room in zip(pieces, tokens, fair_limits(tokens, limit), strict=True):
        if wanted <= room:
            included.append(piece)
            continue
        shorter, dropped_tokens = _shortened(piece, room - MARGIN, counting)
        dropped.append(
            (piece.layer, DroppedSource(piece.source, dropped_tokens, _ARCHIVED if piece.archive else _SHARE_FULL))
        )
        included += [shorter] if shorter else []
    return RequestTail(tuple(included), tuple(dropped))


def is_in_view(recalled: MessagePart, shown: Sequence[str]) -> bool:
    """Whether one of the attachments' texts in the request shows the recalled passage already."""
    return isinstance(recalled, RecalledSpan) and any(recalled.text.strip("… \n") in text for text in shown)


def _shortened(piece: MessagePiece, limit: int, counting: MessageCounter) -> tuple[MessagePiece | None, int]:
    """The piece truncated to `limit` tokens (None where no part of it is usable), and the number of dropped tokens."""
    tokens = counting.part(piece.part)
    if not isinstance(piece.part, Text):
        return None, tokens
    part = piece.part
    if part.injected == "attachment":
        shorter = shorten_attachment(piece, limit, counting)
        return shorter, tokens - (counting.part(shorter.part) if shorter else 0)
    frame = counting.part(replace(part, text=""))
    text, dropped_tokens = fit_lines(part.text, limit - frame, counting, f"… (the rest of {piece.source} did not fit)")
    if not text or not dropped_tokens:
        return None, tokens
    return MessagePiece(piece.layer, piece.source, replace(part, text=text)), dropped_tokens


def _lowest_ranked(pieces: Sequence[MessagePiece], counting: MessageCounter) -> int | None:
    """Index of the piece to drop next: the last of the lowest rank, of attachments the largest."""
    ranked = [(rank, -n) for n, piece in enumerate(pieces) if (rank := _rank(piece)) is not None]
    if not ranked:
        return None
    lowest, last = min(ranked)
    if lowest < _RANKS["attachment"]:
        return -last
    attachments = [-n for rank, n in ranked if rank == lowest]
    return max(attachments, key=lambda index: (counting.part(pieces[index].part), index))


def _rank(piece: MessagePiece) -> int | None:
    match piece.part:
        case RecalledSpan():
            return 0
        case Text(injected=""):
            return None
        case Text(injected=tag):
            return _RANKS.get(tag, 1)
        case Image():
            return 4
        case _:
            return None


def _is_message(piece: MessagePiece) -> bool:
    return isinstance(piece.part, Text) and not piece.part.injected
