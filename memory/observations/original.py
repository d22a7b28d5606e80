"""What an observation is made of, and what is known before it: the input of the makers."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, cast

from msgspec import Struct

from memory.observations.observation import MAX_FACT, MAX_TITLE, Importance, Observation, clipped
from memory.records import EntryKind
from models.messages import Role


class Original(Struct, frozen=True, kw_only=True):
    """An entry that is no repetition of others: a message, or a tool result with the call that it answers.

    `question` is the newest message of the person at or above it, with its id.
    """

    seq: int
    ref: str
    conversation: int  # seq
    kind: EntryKind
    role: Role
    time: datetime
    text: str
    tool: str = ""
    arguments: Mapping[str, Any] = {}
    failed: bool = False
    call_ref: str = ""  # the answer that called the tool
    question: str = ""
    question_ref: str = ""

    @property
    def whole(self) -> str:
        """All that an observation of it may name."""
        return "\n".join((self.text, self.tool, *_texts(self.arguments), self.question))

    def sources(self, *, called: bool = False, asked: bool = False) -> tuple[str, ...]:
        """Its id, with those of the call and of the question where they are used."""
        refs = (self.ref, self.call_ref if called else "", self.question_ref if asked else "")
        return tuple(dict.fromkeys(ref for ref in refs if ref))


class Known:
    """Earlier observations of one conversation, oldest first, for what is new beside them."""

    def __init__(self, observations: Iterable[Observation] = ()) -> None:
        self._of_subject: dict[str, list[Observation]] = {}
        self._facts = set[str]()
        for observation in observations:
            self.add(observation)

    def add(self, observation: Observation) -> None:
        self._facts.update((observation.title, *observation.facts))
        if observation.subject:
            self._of_subject.setdefault(observation.subject, []).append(observation)

    def has(self, fact: str) -> bool:
        """Whether an observation says this, word for word."""
        return clipped(fact, MAX_FACT) in self._facts or clipped(fact, MAX_TITLE) in self._facts

    def words_of(self, subject: str) -> str:
        """The texts of the observations on a subject."""
        return "\n".join(observation.text for observation in self._on(subject))

    def failure_of(self, subject: str) -> Observation | None:
        """The newest observation on the subject, where it is of a failure."""
        newest = next(iter(reversed(self._on(subject))), None)
        return newest if newest and newest.importance is Importance.CRITICAL else None

    def _on(self, subject: str) -> Sequence[Observation]:
        return self._of_subject.get(clipped(subject, MAX_FACT), ())


class ObservationMaker(Protocol):
    """Makes observations of originals; it does not check them, and stores nothing."""

    @property
    def name(self) -> str:
        """What made them, in their meta: `rules`, or the model's spec."""
        ...

    def make(self, originals: Sequence[Original], known: Mapping[int, Known]) -> Mapping[int, Observation]:
        """Observations of the originals that have something new, by their seq. `known` by conversation. Blocks."""
        ...


def _texts(value: object) -> Iterable[str]:
    """The keys and the values of decoded JSON, as texts."""
    match value:
        case Mapping():
            for key, item in cast("Mapping[str, object]", value).items():
                yield key
                yield from _texts(item)
        case list() | tuple():
            for item in cast("Sequence[object]", value):
                yield from _texts(item)
        case _:
            yield str(value)
