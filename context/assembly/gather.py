"""Gathers the tail of a turn: what its message fires, calls, recalls and brings along."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from context.assembly.budget import Budget
from context.assembly.head import Shelf
from context.assembly.tail import Tail, Wanted, bounded_tail
from context.assembly.tokens import Counting, Layer, Piece
from context.assembly.view import View
from context.layers.message import ReadImage, Seen, message_piece, recalled_pieces, seen
from context.layers.project import changes_piece, skill_piece, skills_called
from context.layers.system import fired, instruction_pieces, knowledge_pieces
from context.notice import Notice
from context.report import Dropped
from context.settings import ContextSettings
from context.sources.changes import Change
from context.sources.conditions import Moment
from context.types import Turn
from models.chat.port import Profile
from models.fence import new_nonce
from models.messages import Part, Recalled, Text


class Desk(Struct, frozen=True):
    """What the tail is gathered with."""

    shelf: Shelf
    profile: Profile
    budget: Budget
    settings: ContextSettings
    counting: Counting
    now: datetime  # local
    read_image: ReadImage | None = None


class Gathered(Struct, frozen=True):
    """The tail within its shares, and the changes that it tells."""

    tail: Tail
    changes: tuple[Change, ...]
    changes_part: Part | None
    notices: tuple[Notice, ...] = ()


def gathered_tail(
    desk: Desk, turn: Turn, view: View, changes: Sequence[Change], recalled: Sequence[Recalled]
) -> Gathered:
    """The tail of a turn with a message. Raises NoSuchSkill, BadAttachment."""
    attached = [_seen(desk, turn, n) for n in range(len(turn.attachments))]
    kinds = frozenset(kind for one in attached for kind in one.kinds)
    rules = fired(desk.shelf.system, Moment(turn.text, desk.now, kinds))
    told, changed, left = _changes(desk, changes)
    nonce = new_nonce()
    changed = _stamped((changed,), nonce)[0] if changed else None
    instructions = (*instruction_pieces(rules), *(knowledge_pieces() if turn.brought is not None else ()))
    wanted = Wanted(
        instructions=_stamped(instructions, nonce),
        skills=_stamped(_skills(desk, turn, view), nonce),
        changes=(changed,) if changed else (),
        recalled=_stamped(recalled_pieces(recalled), nonce),
        attachments=_stamped([one.piece for one in attached], nonce),
        message=(),
    )
    others = any((wanted.instructions, wanted.skills, wanted.changes, wanted.recalled, wanted.attachments))
    if turn.text or not others:
        wanted = _with_message(wanted, turn.text)
    tail = bounded_tail(wanted, desk.budget, desk.settings, desk.counting)
    if left:
        tail = Tail(tail.pieces, (*tail.dropped, (Layer.PROJECT, left)))
    notices = tuple(one.notice for one in attached if one.notice)
    return Gathered(tail, told, changed.part if changed else None, notices)


def _stamped(pieces: Sequence[Piece], nonce: str) -> tuple[Piece, ...]:
    """The pieces, their tags with this request's nonce: it is stored with them, so that it is sent again."""
    return tuple(
        replace(piece, part=replace(piece.part, nonce=nonce)) if isinstance(piece.part, Text | Recalled) else piece
        for piece in pieces
    )


def _with_message(wanted: Wanted, text: str) -> Wanted:
    return Wanted(
        instructions=wanted.instructions,
        skills=wanted.skills,
        changes=wanted.changes,
        recalled=wanted.recalled,
        attachments=wanted.attachments,
        message=(message_piece(text),),
    )


def _seen(desk: Desk, turn: Turn, n: int) -> Seen:
    return seen(turn.attachments[n], vision=desk.profile.vision, read_image=desk.read_image)


def _skills(desk: Desk, turn: Turn, view: View) -> tuple[Piece, ...]:
    """The bodies called; one that a trigger calls is not said again while it is in view."""
    in_view = {replace(part, nonce="") for entry in view.entries for part in entry.sent if isinstance(part, Text)}
    named = turn.skill.strip().casefold()
    called = [(skill, skill_piece(skill)) for skill in skills_called(desk.shelf.skills, turn.skill, turn.text)]
    return tuple(piece for skill, piece in called if skill.name.casefold() == named or piece.part not in in_view)


def _changes(desk: Desk, changes: Sequence[Change]) -> tuple[tuple[Change, ...], Piece | None, Dropped | None]:
    """As many changes as a fourth of the project's share holds; the rest are told by the next messages."""
    limit = desk.budget.shares[Layer.PROJECT] // 4
    told: list[Change] = []
    for change in changes:
        piece = changes_piece([one.line for one in [*told, change]])
        if desk.counting.part(piece.part) <= limit:
            told.append(change)
    waiting = [change for change in changes if change not in told]
    tokens = sum(desk.counting.text(change.line) for change in waiting)
    left = Dropped(f"changes ({len(waiting)})", tokens, "they wait for the next message") if waiting else None
    return tuple(told), changes_piece([one.line for one in told]) if told else None, left
