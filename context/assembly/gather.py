"""Collects the tail of a request: matching rules, called skills, recalled passages, attachments."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from context.assembly.budget import Budget
from context.assembly.excerpts import is_attached_text
from context.assembly.head import HeadSources
from context.assembly.tail import RequestTail, TailInput, bound_tail
from context.assembly.tokens import Layer, MessageCounter, MessagePiece
from context.assembly.view import BranchView
from context.layers.message import (
    LoadedAttachment,
    ReadImage,
    attachment_source,
    load_for_model,
    message_piece,
    recalled_pieces,
)
from context.layers.project import changes_piece, skill_piece, skills_called
from context.layers.system import (
    hook_pieces,
    instruction_pieces,
    intent_pieces,
    knowledge_pieces,
    language_pieces,
    matching_rules,
)
from context.notice import FileNotice
from context.recall.guide import guide_for
from context.report import DroppedSource
from context.settings import ContextSettings
from context.sources.changes import SourceChange
from context.sources.conditions import MOST_MESSAGES, ConditionInput
from context.sources.skills import Skill, find_skill
from context.sources.standing_intents import MOST_FIRED, StandingIntent, standing_intents
from context.types import Attachment, Turn
from foundation.privacy import TextSource, clear
from memory.records import EntryKind
from models.chat.port import Profile
from models.cleared_parts import ClearedParts, cleared_parts
from models.excerpts import Excerpt, line_count, split_excerpt
from models.fence import new_nonce
from models.messages import MessagePart, RecalledSpan, Role, Text

_EARLIER_CHARACTERS: Final = 20_000  # of each message before the present one that conditions see
SEARCH_TOO_LATE: Final = FileNotice(
    "warning", "The memory search took too long. This message is sent without recalled passages."
)


class TailInputs(Struct, frozen=True):
    """Inputs of `gather_tail`."""

    sources: HeadSources
    profile: Profile
    budget: Budget
    settings: ContextSettings
    counting: MessageCounter
    now: datetime  # local
    read_image: ReadImage | None = None


class GatheredTail(Struct, frozen=True):
    """The tail within its budget, and the changes that it reports."""

    tail: RequestTail
    changes: tuple[SourceChange, ...]
    changes_part: MessagePart | None
    notices: tuple[FileNotice, ...] = ()
    skill: Skill | None = None  # that the person sent with the message


def gather_tail(
    inputs: TailInputs,
    turn: Turn,
    view: BranchView,
    changes: Sequence[SourceChange],
    recalled: Sequence[RecalledSpan],
    *,
    tools: MessagePiece | None = None,
) -> GatheredTail:
    """Collects the tail for a turn with a message; `tools` lists those that it needs. Raises NoSuchSkill,
    BadAttachment."""
    attached = [_load(inputs, turn, n) for n in range(len(turn.attachments))]
    kinds = frozenset(kind for attachment in attached for kind in attachment.kinds)
    moment = ConditionInput(turn.text, inputs.now, kinds, earlier=_earlier_messages(view))
    in_view = _instructions_in_view(view)
    rules = matching_rules(inputs.sources.system, moment, in_view)
    intents = _fired_intents(inputs, turn.text, in_view)
    reported, changed, deferred = _reported_changes(inputs, changes)
    nonce = new_nonce()
    changed = _with_nonce((changed,), nonce)[0] if changed else None
    instructions = (
        *(language_pieces(turn.text) if inputs.profile.is_small else ()),
        *instruction_pieces(rules),
        *intent_pieces(intents),
        *(knowledge_pieces() if turn.brought is not None else ()),
        *hook_pieces(turn.hook_text, turn.notes),
    )
    parts = TailInput(
        tools=_with_nonce((tools,), nonce) if tools else (),
        instructions=_with_nonce(instructions, nonce),
        skills=_with_nonce(_called_skills(inputs, turn, view), nonce),
        changes=(changed,) if changed else (),
        recalled=_with_nonce(recalled_pieces(recalled), nonce),
        attachments=_with_nonce([attachment.piece for attachment in attached], nonce),
        message=(),
        guide=guide_for(turn.text, is_small=inputs.profile.is_small),
    )
    others = any((parts.tools, parts.instructions, parts.skills, parts.changes, parts.recalled, parts.attachments))
    if turn.text or not others:
        parts = _with_message(parts, turn.text)
    tail = bound_tail(parts, inputs.budget, inputs.settings, inputs.counting)
    if deferred:
        tail = RequestTail(tail.pieces, (*tail.dropped, (Layer.PROJECT, deferred)))
    notices = (
        *(attachment.notice for attachment in attached if attachment.notice),
        *(FileNotice("info", f"reminder: {intent.reminder}", intent.path, intent.line) for intent in intents),
    )
    skill = find_skill(inputs.sources.skills, turn.skill)
    return GatheredTail(tail, reported, changed.part if changed else None, notices, skill)


def excerpts_of(pieces: Sequence[MessagePiece], attachments: Sequence[Attachment]) -> list[tuple[str, Excerpt]]:
    """The attached texts that the request does not hold as a whole, by name. `pieces` are those of its tail."""
    shown = {piece.source: piece.part.text for piece in pieces if is_attached_text(piece.part)}
    excerpts: list[tuple[str, Excerpt]] = []
    for attachment in attachments:
        if attachment.is_picture:
            continue
        text = shown.get(attachment_source(attachment.name))
        if text is None:
            excerpts.append((attachment.name, Excerpt(0, line_count(attachment.text), ref=attachment.archive)))
        elif excerpt := split_excerpt(text)[1]:
            excerpts.append((attachment.name, excerpt))
    return excerpts


def excerpt_notices(excerpts: Sequence[tuple[str, Excerpt]]) -> list[FileNotice]:
    """A notice for each attached text that is not whole in the request."""
    return [
        FileNotice("info" if excerpt.ref else "warning", excerpt.sentence(name), name) for name, excerpt in excerpts
    ]


def stored_parts(parts: Sequence[MessagePart]) -> ClearedParts:
    """The parts with private text removed, as they are stored with their entry."""
    return cleared_parts(
        tuple(
            replace(part, text=clear(part.text, TextSource.OTHER)) if isinstance(part, Text) else part for part in parts
        )
    )


def _with_nonce(pieces: Sequence[MessagePiece], nonce: str) -> tuple[MessagePiece, ...]:
    """Sets this request's nonce in the tags of the pieces. The nonce is stored with them, so that later requests send
    the same bytes."""
    return tuple(
        replace(piece, part=replace(piece.part, nonce=nonce)) if isinstance(piece.part, Text | RecalledSpan) else piece
        for piece in pieces
    )


def _with_message(parts: TailInput, text: str) -> TailInput:
    return replace(parts, message=(message_piece(text),))


def _load(inputs: TailInputs, turn: Turn, n: int) -> LoadedAttachment:
    return load_for_model(turn.attachments[n], vision=inputs.profile.vision, read_image=inputs.read_image)


def _earlier_messages(view: BranchView) -> tuple[str, ...]:
    """The person's messages that conditions see besides the present one, the newest first."""
    own = (entry for entry in reversed(view.entries) if entry.kind is EntryKind.MESSAGE and entry.role is Role.USER)
    return tuple((entry.text or "")[:_EARLIER_CHARACTERS] for entry in islice(own, MOST_MESSAGES - 1))


def _instructions_in_view(view: BranchView) -> list[str]:
    """The lines of rules that went with messages in view."""
    parts = (part for entry in view.entries for part in entry.sent)
    return [part.text for part in parts if isinstance(part, Text) and part.injected == "instructions"]


def _fired_intents(inputs: TailInputs, text: str, in_view: Sequence[str]) -> tuple[StandingIntent, ...]:
    """The standing intents that the message fires, but those that an earlier message in view has fired."""
    known = {line for part in in_view for line in part.split("\n")}
    fired = (intent for intent in standing_intents(inputs.sources.notes) if intent.fires(text))
    return tuple(islice((i for i in fired if clear(i.instruction, TextSource.OTHER) not in known), MOST_FIRED))


def _called_skills(inputs: TailInputs, turn: Turn, view: BranchView) -> tuple[MessagePiece, ...]:
    """The bodies of the called skills; a skill called by a trigger is omitted while its body is still in view."""
    in_view = {replace(part, nonce="") for entry in view.entries for part in entry.sent if isinstance(part, Text)}
    named = turn.skill.strip().casefold()
    called = [(skill, skill_piece(skill)) for skill in skills_called(inputs.sources.skills, turn.skill, turn.text)]
    return tuple(piece for skill, piece in called if skill.name.casefold() == named or piece.part not in in_view)


def _reported_changes(
    inputs: TailInputs, changes: Sequence[SourceChange]
) -> tuple[tuple[SourceChange, ...], MessagePiece | None, DroppedSource | None]:
    """The changes that fit a quarter of the project's share; later messages report the rest."""
    limit = inputs.budget.shares[Layer.PROJECT] // 4
    reported: list[SourceChange] = []
    lines: list[str] = []
    for change in changes:
        piece = changes_piece([*lines, change.line])
        if inputs.counting.part(piece.part) <= limit:
            reported.append(change)
            lines.append(change.line)
    waiting = [change for change in changes if change not in reported]
    tokens = sum(inputs.counting.text(change.line) for change in waiting)
    deferred = DroppedSource(f"changes ({len(waiting)})", tokens, "delayed until the next message") if waiting else None
    return tuple(reported), changes_piece(lines) if reported else None, deferred
