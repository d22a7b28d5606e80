"""Zone D: one user message of what was fired, called, changed, recalled and attached, and the message itself."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from context.assembly.budget import Budget
from context.assembly.tokens import Counting, Layer, Piece, Weighed, fitted
from context.errors import TooLarge
from context.report import Dropped
from context.settings import ContextSettings
from models.messages import Image, Part, Recalled, Role, Text

MARGIN = 4  # tokens that joining parts may add to one of them
_SHARE = "its share is full"
_ROOM = "there is no room beside the conversation and the message"

# What goes first where there is no room; the message itself never does.
_RANKS = {"changes": 1, "skill": 2, "instructions": 3, "attachment": 4}


class Tail(Struct, frozen=True):
    """The tail's pieces in their order, and what did not fit, with the layer it belongs to."""

    pieces: tuple[Piece, ...]
    dropped: tuple[tuple[Layer, Dropped], ...] = ()

    @property
    def recalled(self) -> tuple[Recalled, ...]:
        return tuple(piece.part for piece in self.pieces if isinstance(piece.part, Recalled))

    @property
    def injected(self) -> tuple[Part, ...]:
        """All parts but the message itself."""
        return tuple(piece.part for piece in self.pieces if not _is_message(piece))


class Wanted(Struct, frozen=True, kw_only=True):
    """What should join the tail."""

    instructions: tuple[Piece, ...] = ()
    skills: tuple[Piece, ...] = ()
    changes: tuple[Piece, ...] = ()
    recalled: tuple[Piece, ...] = ()
    attachments: tuple[Piece, ...] = ()
    message: tuple[Piece, ...] = ()


def bounded_tail(wanted: Wanted, budget: Budget, settings: ContextSettings, counting: Counting) -> Tail:
    """The tail within each group's share. (What is recalled was bounded when it was recalled.)"""
    dropped: list[tuple[Layer, Dropped]] = []
    project = budget.shares[Layer.PROJECT]

    def within(pieces: tuple[Piece, ...], limit: int) -> tuple[Piece, ...]:
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
    return Tail(pieces, tuple(dropped))


def squeezed(tail: Tail, room: int, counting: Counting) -> tuple[Tail, Weighed]:
    """The tail within `room` tokens: what is recalled goes first, then changes, skills, instructions, attachments.

    Raises TooLarge where the message alone takes more.
    """
    pieces = list(tail.pieces)
    dropped = list(tail.dropped)
    while True:
        weighed = counting.weighed(Role.USER, tuple(pieces))
        over = weighed.tokens - room
        if over <= 0:
            return Tail(tuple(pieces), tuple(dropped)), weighed
        victim = _least(pieces)
        if victim is None:
            raise TooLarge("Too large", f"{weighed.tokens:,} tokens do not fit {max(0, room):,}.")
        tokens = counting.part(pieces[victim].part)
        shorter, left = _shortened(pieces[victim], tokens - over - MARGIN, counting)
        dropped.append((pieces[victim].layer, Dropped(pieces[victim].source, left, _ROOM)))
        pieces[victim : victim + 1] = [shorter] if shorter and left else []


def _bounded(
    pieces: Sequence[Piece], limit: int, counting: Counting
) -> tuple[tuple[Piece, ...], list[tuple[Layer, Dropped]]]:
    kept: list[Piece] = []
    dropped: list[tuple[Layer, Dropped]] = []
    room = limit
    for piece in pieces:
        tokens = counting.part(piece.part) + MARGIN
        if tokens <= room:
            kept.append(piece)
            room -= tokens
            continue
        shorter, left = _shortened(piece, room - MARGIN, counting)
        dropped.append((piece.layer, Dropped(piece.source, left, _SHARE)))
        if shorter:
            kept.append(shorter)
            room -= counting.part(shorter.part) + MARGIN
    return tuple(kept), dropped


def _shortened(piece: Piece, limit: int, counting: Counting) -> tuple[Piece | None, int]:
    """The piece in at most `limit` tokens, and how many were left out; None where nothing of it can stand alone."""
    whole = counting.part(piece.part)
    if not isinstance(piece.part, Text):
        return None, whole
    part = piece.part
    frame = counting.part(replace(part, text=""))
    text, left = fitted(part.text, limit - frame, counting, f"… (the rest of {piece.source} did not fit)")
    if not text or not left:
        return None, whole
    return Piece(piece.layer, piece.source, replace(part, text=text)), left


def _least(pieces: Sequence[Piece]) -> int | None:
    """What goes next: the last of the lowest rank."""
    ranked = [(rank, -n) for n, piece in enumerate(pieces) if (rank := _rank(piece)) is not None]
    return -min(ranked)[1] if ranked else None


def _rank(piece: Piece) -> int | None:
    match piece.part:
        case Recalled():
            return 0
        case Text(injected=""):
            return None
        case Text(injected=what):
            return _RANKS.get(what, 1)
        case Image():
            return 4
        case _:
            return None


def _is_message(piece: Piece) -> bool:
    return isinstance(piece.part, Text) and not piece.part.injected
