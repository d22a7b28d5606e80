"""Counts the pieces of a request with the model's own counter, so that they sum to the whole request."""

from enum import StrEnum

from msgspec import Struct

from models.chat.port import ImageRule, TokenCounter
from models.messages import Image, Message, MessagePart, RecalledSpan, Role, ToolCall, render
from models.recalled import passage_lines
from models.tokens import image_tokens, message_tokens


class Layer(StrEnum):
    """The four layers, in order."""

    SYSTEM = "system"
    PROJECT = "project"
    CONVERSATION = "conversation"
    MESSAGE = "message"


class MessagePiece(Struct, frozen=True):
    """A part of a message, before it is counted."""

    layer: Layer
    source: str
    part: MessagePart


class CountedMessage(Struct, frozen=True):
    """A message with the tokens of its pieces, which sum to the message's."""

    message: Message
    pieces: tuple[tuple[MessagePiece, int], ...]

    @property
    def tokens(self) -> int:
        return sum(tokens for _, tokens in self.pieces)


def gathered(role: Role, pieces: tuple[MessagePiece, ...]) -> Message:
    """One message of these pieces."""
    return Message(role, tuple(piece.part for piece in pieces))


class MessageCounter:
    """One token counter and one rule for pictures. `key` names the cache of its counts."""

    def __init__(self, counter: TokenCounter, images: ImageRule) -> None:
        self.counter = counter
        self.images = images
        self.key = f"{counter.name}/{images.value}"

    def text(self, text: str) -> int:
        return self.counter.count(text)

    def part(self, part: MessagePart) -> int:
        """Tokens of one part alone."""
        match part:
            case Image(width=width, height=height):
                return image_tokens(self.images, width, height)
            case ToolCall(name=name, arguments=arguments):
                return self.counter.count(name) + self.counter.count(arguments)
            case _:
                return self.counter.count(render(part))

    def after(self, part: MessagePart, before: MessagePiece | None) -> int:
        """Tokens that a part adds after another: recalled passages share a block."""
        if isinstance(part, RecalledSpan) and before is not None and isinstance(before.part, RecalledSpan):
            return self.counter.count(f"\n{passage_lines(part, before.part)}")
        return self.part(part)

    def message(self, message: Message) -> int:
        """Tokens of one message, its frame included."""
        return message_tokens(message, self.counter, self.images)

    def weighed(self, role: Role, pieces: tuple[MessagePiece, ...]) -> CountedMessage:
        """One message of these pieces. The tokens of the frame, and what joining saves, count to the largest piece."""
        message = gathered(role, pieces)
        if len(pieces) == 1:
            return CountedMessage(message, ((pieces[0], self.message(message)),))
        counts = [self.after(piece.part, before) for before, piece in zip((None, *pieces), pieces, strict=False)]
        rest = self.message(message) - sum(counts)
        largest = max(range(len(counts)), key=counts.__getitem__)
        counts[largest] += rest
        return CountedMessage(message, tuple(zip(pieces, counts, strict=True)))


def fit_lines(text: str, limit: int, counting: MessageCounter, note: str) -> tuple[str, int]:
    """As many leading lines as fit `limit` tokens, with `note` as the last line where some are missing.

    Gives "" where not even one line fits; the second value is the tokens left out.
    """
    whole = counting.text(text)
    if whole <= limit:
        return text, 0
    lines = text.split("\n")
    low, high = 0, len(lines)
    while low < high:  # the most lines that fit with the note
        middle = (low + high + 1) // 2
        if counting.text("\n".join([*lines[:middle], note])) <= limit:
            low = middle
        else:
            high = middle - 1
    if low:
        kept = "\n".join([*lines[:low], note])
        return kept, max(0, whole - counting.text(kept))
    return _fitted_line(text, limit, counting, note, whole)


def _fitted_line(text: str, limit: int, counting: MessageCounter, note: str, whole: int) -> tuple[str, int]:
    low, high = 0, len(text.split("\n", 1)[0])
    while low < high:
        middle = (low + high + 1) // 2
        if counting.text(f"{text[:middle]}…\n{note}") <= limit:
            low = middle
        else:
            high = middle - 1
    if low < 20:
        return "", whole
    kept = f"{text[:low]}…\n{note}"
    return kept, max(0, whole - counting.text(kept))
