"""What a reader of a corpus gives: turns to remember, and questions whose evidence among them somebody else marked."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from foundation.errors import Misuse

ADVERSARIAL = "adversarial"
"""The category of questions whose right answer is that nothing is there."""


class Turn(Struct, frozen=True, kw_only=True):
    """One thing to remember: a turn of talk, or a passage. `time` is ISO 8601, or "" where none is known."""

    id: str
    conversation: str
    text: str
    speaker: str = ""
    time: str = ""


class Asked(Struct, frozen=True, kw_only=True):
    """One question. `evidence` are the ids of the turns that answer it; none where the right answer is that nothing is
    there. `answers` are words of which one stands in its evidence, where the corpus says so."""

    text: str
    category: str
    evidence: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


class Store(Struct, frozen=True, kw_only=True):
    """What is remembered together, and the questions asked of it."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Asked, ...]

    def as_lines(self, *, whole: bool = False) -> Iterator[dict[str, Any]]:
        """The turns as lines for the import of JSONL; with `whole` all of them as one conversation."""
        for turn in self.turns:
            yield {
                "id": turn.id,
                "conversation": "all" if whole else turn.conversation,
                "time": turn.time,
                "role": "user",
                "speaker": turn.speaker,
                "text": turn.text,
            }


class Corpus(Struct, frozen=True, kw_only=True):
    """A corpus: its name, and stores that know nothing of each other. `categories` says what each one asks for."""

    name: str
    stores: tuple[Store, ...]
    categories: dict[str, str] = {}

    def first(self, stores: int | None) -> "Corpus":
        """Only so many of its stores."""
        return (
            self if stores is None else Corpus(name=self.name, stores=self.stores[:stores], categories=self.categories)
        )


class NotThis(Misuse):
    """A file that is in none of the formats, or in one of them but broken: the sentence says where."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__("No corpus", message, hint)
