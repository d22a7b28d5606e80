"""Beginnings of attachments that are too large for their share: as many lines as fit, and a note of which they are."""

from collections.abc import Callable, Sequence
from typing import Final, TypeGuard

from msgspec.structs import replace

from context.assembly.tokens import MessageCounter, MessagePiece
from foundation.privacy import examine
from models.excerpts import Excerpt, line_count, split_excerpt
from models.messages import MessagePart, Text

_CHARS_A_TOKEN: Final = 16  # more than any text has: what follows cannot fit, and is not counted
_WORD: Final = 80  # characters; a longer one is cut anywhere
_ENOUGH: Final = 0.8  # of the room: with less, the next line is cut


def fair_limits(wanted: Sequence[int], room: int) -> list[int]:
    """Splits `room` tokens: what wants less than an equal share gets it, the others share the rest equally."""
    limits = [0] * len(wanted)
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    for position, index in enumerate(order):
        limits[index] = min(wanted[index], max(0, room) // (len(order) - position))
        room -= limits[index]
    return limits


def shorten_attachment(piece: MessagePiece, limit: int, counting: MessageCounter) -> MessagePiece | None:
    """The attachment's name, the beginning of its text and a note, in `limit` tokens; None where the note does not fit.

    The piece may have been shortened before. A private span is not cut through: the text ends before it.
    """
    assert isinstance(piece.part, Text)
    name, _, rest = piece.part.text.partition("\n")
    text, earlier = split_excerpt(rest)
    total = earlier.lines if earlier else line_count(text)
    note = Excerpt(total, total, partial=True, ref=piece.archive).note  # the longest
    room = limit - counting.part(replace(piece.part, text=f"{name}\n\n{note}"))
    if room < 0:
        return None
    shown = _without_cut_span(_beginning(text, room, counting))
    partial = bool(shown) and text[len(shown) : len(shown) + 1] not in {"", "\n"}
    excerpt = Excerpt(line_count(shown) if shown else 0, total, partial=partial, ref=piece.archive)
    body = f"{name}\n{shown}{'…' * partial}\n{excerpt.note}" if shown else f"{name}\n{excerpt.note}"
    return replace(piece, part=replace(piece.part, text=body))


def is_attached_text(part: MessagePart) -> TypeGuard[Text]:
    """Whether the part is an attachment's text."""
    return isinstance(part, Text) and part.injected == "attachment"


def _beginning(text: str, room: int, counting: MessageCounter) -> str:
    """The whole lines that fit `room` tokens; with a part of the next one where they are few."""
    text = text[: room * _CHARS_A_TOKEN]
    if counting.text(text) <= room:
        return text.removesuffix("\n")
    ends = [offset for offset, sign in enumerate(text) if sign == "\n"]
    lines = _longest(len(ends), lambda count: counting.text(text[: ends[count - 1]]) <= room)
    end = ends[lines - 1] if lines else 0
    if counting.text(text[:end]) < room * _ENOUGH:
        end = _longest(len(text), lambda count: counting.text(text[:count]) <= room)
        end = max(text.rfind(" ", end - _WORD, end), 0) or end if end > _WORD else end
    return text[:end]


def _longest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest count up to `most` that fits; 0 fits always."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _without_cut_span(text: str) -> str:
    """The text without the private span that it ends in the middle of."""
    unclosed = examine(text).unclosed
    if not unclosed:
        return text
    return text[: max(text.rfind("<", 0, len(text) - unclosed), 0)].rstrip("\n")
