"""Gathers the tail of a request: the rules that fire, the skills that are called, what was recalled, attachments."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from context.assembly.budget import Budget
from context.assembly.head import HeadSources
from context.assembly.tail import RequestTail, TailInput, bound_tail
from context.assembly.tokens import Layer, MessageCounter, MessagePiece
from context.assembly.view import BranchView
from context.layers.message import LoadedAttachment, ReadImage, load_for_model, message_piece, recalled_pieces
from context.layers.project import changes_piece, skill_piece, skills_called
from context.layers.system import instruction_pieces, knowledge_pieces, matching_rules
from context.notice import FileNotice
from context.report import DroppedSource
from context.settings import ContextSettings
from context.sources.changes import SourceChange
from context.sources.conditions import ConditionInput
from context.types import Turn
from models.chat.port import Profile
from models.fence import new_nonce
from models.messages import MessagePart, RecalledSpan, Text


class TailInputs(Struct, frozen=True):
    """Inputs of `gathered_tail`."""

    shelf: HeadSources
    profile: Profile
    budget: Budget
    settings: ContextSettings
    counting: MessageCounter
    now: datetime  # local
    read_image: ReadImage | None = None


class GatheredTail(Struct, frozen=True):
    """The tail within its shares, and the changes that it reports."""

    tail: RequestTail
    changes: tuple[SourceChange, ...]
    changes_part: MessagePart | None
    notices: tuple[FileNotice, ...] = ()


def gather_tail(
    desk: TailInputs, turn: Turn, view: BranchView, changes: Sequence[SourceChange], recalled: Sequence[RecalledSpan]
) -> GatheredTail:
    """The tail for a turn with a message. Raises NoSuchSkill, BadAttachment."""
    attached = [_seen(desk, turn, n) for n in range(len(turn.attachments))]
    kinds = frozenset(kind for one in attached for kind in one.kinds)
    rules = matching_rules(desk.shelf.system, ConditionInput(turn.text, desk.now, kinds))
    told, changed, left = _changes(desk, changes)
    nonce = new_nonce()
    changed = _stamped((changed,), nonce)[0] if changed else None
    instructions = (*instruction_pieces(rules), *(knowledge_pieces() if turn.brought is not None else ()))
    wanted = TailInput(
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
    tail = bound_tail(wanted, desk.budget, desk.settings, desk.counting)
    if left:
        tail = RequestTail(tail.pieces, (*tail.dropped, (Layer.PROJECT, left)))
    notices = tuple(one.notice for one in attached if one.notice)
    return GatheredTail(tail, told, changed.part if changed else None, notices)


def _stamped(pieces: Sequence[MessagePiece], nonce: str) -> tuple[MessagePiece, ...]:
    """Puts this request's nonce into the tags of the pieces. It is stored with them, so that they are sent unchanged
    again."""
    return tuple(
        replace(piece, part=replace(piece.part, nonce=nonce)) if isinstance(piece.part, Text | RecalledSpan) else piece
        for piece in pieces
    )


def _with_message(wanted: TailInput, text: str) -> TailInput:
    return TailInput(
        instructions=wanted.instructions,
        skills=wanted.skills,
        changes=wanted.changes,
        recalled=wanted.recalled,
        attachments=wanted.attachments,
        message=(message_piece(text),),
    )


def _seen(desk: TailInputs, turn: Turn, n: int) -> LoadedAttachment:
    return load_for_model(turn.attachments[n], vision=desk.profile.vision, read_image=desk.read_image)


def _skills(desk: TailInputs, turn: Turn, view: BranchView) -> tuple[MessagePiece, ...]:
    """The bodies of the called skills; one called by a trigger is left out while it is still in view."""
    in_view = {replace(part, nonce="") for entry in view.entries for part in entry.sent if isinstance(part, Text)}
    named = turn.skill.strip().casefold()
    called = [(skill, skill_piece(skill)) for skill in skills_called(desk.shelf.skills, turn.skill, turn.text)]
    return tuple(piece for skill, piece in called if skill.name.casefold() == named or piece.part not in in_view)


def _changes(
    desk: TailInputs, changes: Sequence[SourceChange]
) -> tuple[tuple[SourceChange, ...], MessagePiece | None, DroppedSource | None]:
    """As many changes as a quarter of the project's share holds; later messages report the rest."""
    limit = desk.budget.shares[Layer.PROJECT] // 4
    told: list[SourceChange] = []
    for change in changes:
        piece = changes_piece([one.line for one in [*told, change]])
        if desk.counting.part(piece.part) <= limit:
            told.append(change)
    waiting = [change for change in changes if change not in told]
    tokens = sum(desk.counting.text(change.line) for change in waiting)
    left = DroppedSource(f"changes ({len(waiting)})", tokens, "they wait for the next message") if waiting else None
    return tuple(told), changes_piece([one.line for one in told]) if told else None, left
