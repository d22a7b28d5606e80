"""Token counts of a request's pieces, by the model's own counter; they sum to the count of the request."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from models.chat.port import ImageRule, Profile, TokenCounter
from models.chat.text_tools.prompt import reminders
from models.messages import Image, Message, MessagePart, RecalledSpan, Role, ToolCall, render
from models.recalled import passage_lines
from models.tokens import Estimate, image_tokens, message_tokens


class Layer(StrEnum):
    """The four layers of a request, in order."""

    SYSTEM = "system"
    PROJECT = "project"
    CONVERSATION = "conversation"
    MESSAGE = "message"


class MessagePiece(Struct, frozen=True):
    """A part of a message, before it is counted. `archive` is the reference of the archive that holds it, or ""."""

    layer: Layer
    source: str
    part: MessagePart
    archive: str = ""


class CountedMessage(Struct, frozen=True):
    """A message and the token counts of its pieces, which sum to the message's count."""

    message: Message
    pieces: tuple[tuple[MessagePiece, int], ...]

    @property
    def tokens(self) -> int:
        return sum(tokens for _, tokens in self.pieces)


class CountedHead(Struct, frozen=True):
    """Zone A: the system message, then the opening of the first user message. Either may be missing."""

    messages: tuple[CountedMessage, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(message.tokens for message in self.messages)

    @property
    def pieces(self) -> tuple[tuple[MessagePiece, int], ...]:
        return tuple(piece for message in self.messages for piece in message.pieces)


def joined_message(role: Role, pieces: tuple[MessagePiece, ...]) -> Message:
    """One message with these pieces as its parts."""
    return Message(role, tuple(piece.part for piece in pieces))


class MessageCounter:
    """A token counter and an image rule. `key` identifies the cache of its counts.

    `repeats_question`: the user's message is sent again after tool results.
    """

    def __init__(self, counter: TokenCounter, images: ImageRule, *, repeats_question: bool = False) -> None:
        self.repeats_question = repeats_question
        self.counter = counter
        self.images = images
        self.key = f"{counter.name}/{images.value}"

    @classmethod
    def of(cls, counter: TokenCounter, profile: Profile) -> "MessageCounter":
        """Returns the counter of requests to this model."""
        return cls(counter, profile.images, repeats_question=profile.repeats_question)

    def steady(self) -> "MessageCounter":
        """This counter as it was before it learned from a server: what it cuts to size is the same in each process."""
        if not isinstance(self.counter, Estimate):
            return self
        return MessageCounter(Estimate(), self.images, repeats_question=self.repeats_question)

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
        """Tokens that a part adds after `before`: adjacent recalled passages share a block."""
        if isinstance(part, RecalledSpan) and before is not None and isinstance(before.part, RecalledSpan):
            return self.counter.count(f"\n{passage_lines(part, before.part)}")
        return self.part(part)

    def message(self, message: Message) -> int:
        """Tokens of one message, its frame included."""
        return message_tokens(message, self.counter, self.images)

    def with_reminders(self, counted: Sequence[tuple[Message, int]]) -> list[int]:
        """The tokens of each message, with those of the user's message that is sent again behind it."""
        if not self.repeats_question:
            return [tokens for _, tokens in counted]
        sent = reminders([message for message, _ in counted])
        return [n + (self.message(again) if again else 0) for (_, n), again in zip(counted, sent, strict=True)]

    def counted_message(self, role: Role, pieces: tuple[MessagePiece, ...]) -> CountedMessage:
        """One message with the tokens of each piece.

        The frame's tokens, less the tokens saved by joining, count to the largest piece.
        """
        message = joined_message(role, pieces)
        if len(pieces) == 1:
            return CountedMessage(message, ((pieces[0], self.message(message)),))
        counts = [self.after(piece.part, before) for before, piece in zip((None, *pieces), pieces, strict=False)]
        remainder = self.message(message) - sum(counts)
        largest = max(range(len(counts)), key=counts.__getitem__)
        counts[largest] += remainder
        return CountedMessage(message, tuple(zip(pieces, counts, strict=True)))


def fit_lines(text: str, limit: int, counting: MessageCounter, note: str) -> tuple[str, int]:
    """The leading lines that fit `limit` tokens, with `note` as the last line where lines are missing.

    Returns "" where not even one line fits; the second value is the number of omitted tokens.
    """
    total = counting.text(text)
    if total <= limit:
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
        fitting = "\n".join([*lines[:low], note])
        return fitting, max(0, total - counting.text(fitting))
    return _fitted_line(text, limit, counting, note, total)


def _fitted_line(text: str, limit: int, counting: MessageCounter, note: str, total: int) -> tuple[str, int]:
    low, high = 0, len(text.split("\n", 1)[0])
    while low < high:
        middle = (low + high + 1) // 2
        if counting.text(f"{text[:middle]}…\n{note}") <= limit:
            low = middle
        else:
            high = middle - 1
    if low < 20:
        return "", total
    fitting = f"{text[:low]}…\n{note}"
    return fitting, max(0, total - counting.text(fitting))
