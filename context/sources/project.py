"""Instructions of the project for agents, as the head takes them."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from context.notice import FileNotice


class InstructionText(Struct, frozen=True):
    """An instruction file that the user trusts: its path, as shown, and its text."""

    path: str
    text: str


class UnusedInstructions(Struct, frozen=True):
    """An instruction file that is not sent. `why` is a phrase that follows the path."""

    path: str
    why: str


class InstructionsPort(Protocol):
    """The instruction files of the project where the user is."""

    @property
    def trusted(self) -> Sequence[InstructionText]:
        """In the order in which they are sent."""
        ...

    @property
    def unused(self) -> Sequence[UnusedInstructions]: ...

    def refresh(self, *, sending: bool = False) -> Sequence[FileNotice]: ...
