"""What the tests of the cold store write, in few words."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from foundation.clock import Clock, SystemClock
from foundation.privacy import Cleared
from memory.cold import ColdStore
from memory.records import EntryDraft, EntryKind
from models.messages import Role


class FakeTerms(Struct, frozen=True):
    packed: bytes
    length: int
    analyser: str = "fake"


class FakeAnalyser:
    """The words as they stand: enough to see that they were stored."""

    version = "fake"
    kinds: tuple[str, ...] = ()
    problem = ""

    def __call__(self, text: str, speaker: str = "", meta: object = None, at: object = None, /) -> FakeTerms:
        words = f"{speaker} {text}".split()
        return FakeTerms(" ".join(words)[:200].encode("utf-8", "surrogatepass"), len(words))


fake_analyse = FakeAnalyser()


def open_store(path: Path, clock: Clock | None = None, **options: Any) -> ColdStore:
    return ColdStore.open(path, analyse=fake_analyse, clock=clock or SystemClock(), **options)


def said(conversation: int, text: str, parent: int | None = None, **rest: Any) -> EntryDraft:
    """What a user said."""
    rest.setdefault("kind", EntryKind.MESSAGE)
    rest.setdefault("role", Role.USER)
    return EntryDraft(conversation=conversation, parent=parent, text=Cleared(text), **rest)


def answered(conversation: int, text: str, parent: int | None = None, **rest: Any) -> EntryDraft:
    return said(conversation, text, parent, role=Role.ASSISTANT, **rest)


def summed_up(conversation: int, parent: int, first_kept: int | None, prior: tuple[int, ...] = ()) -> EntryDraft:
    meta = {"covers": [1, 1], "first_kept": first_kept, "prior": list(prior)}
    return said(conversation, "In short.", parent, kind=EntryKind.SUMMARY, meta=meta)
