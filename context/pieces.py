"""A piece: one part of a request, the layer it counts to, and where it comes from."""

from enum import StrEnum

from msgspec import Struct

from models.messages import Message, Part, Role


class Layer(StrEnum):
    """The four layers, in their order."""

    SYSTEM = "system"
    PROJECT = "project"
    CONVERSATION = "conversation"
    MESSAGE = "message"


class Piece(Struct, frozen=True):
    """A part of a message, before it is counted."""

    layer: Layer
    source: str
    part: Part


class Weighed(Struct, frozen=True):
    """A message and what each of its pieces takes; the pieces' tokens sum to the message's."""

    message: Message
    pieces: tuple[tuple[Piece, int], ...]

    @property
    def tokens(self) -> int:
        return sum(tokens for _, tokens in self.pieces)


def gathered(role: Role, pieces: tuple[Piece, ...]) -> Message:
    """One message of these pieces."""
    return Message(role, tuple(piece.part for piece in pieces))
