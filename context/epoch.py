"""An epoch: a run of turns in which each request begins with the whole previous one.

Its head is stored when it begins, so that another process continues with the same bytes.
"""

import msgspec
from msgspec import Struct

from context.pages.recipe import ChapterStart, PageRecipe
from context.report import DroppedSource
from foundation.privacy import ClearedBytes, encoded_struct


class HeadPiece(Struct, frozen=True):
    """One part of the head: its layer, its source, its text, its tag."""

    layer: str
    source: str
    text: str
    injected: str = ""


class ReportedChange(Struct, frozen=True):
    """A change that a message reported during the epoch: its digest, the message's entry, the words."""

    digest: str
    entry: int
    words: str = ""


class EpochState(Struct, frozen=True, kw_only=True):
    """Everything that is fixed during an epoch, as it is stored."""

    number: int = 1
    reason: str = ""  # why it began; "" for a conversation's first
    model: str = ""  # spec
    window: int = 0
    tools: str = ""  # digest of the tools offered
    nonce: str = ""  # in the tags of the head, summaries and pages; "" in one that an older version began
    pieces: tuple[HeadPiece, ...] = ()
    dropped: tuple[tuple[str, DroppedSource], ...] = ()  # layer, what did not fit
    files: dict[str, str] = msgspec.field(default_factory=dict)  # digests of what moves the head when edited
    notes: dict[str, str] = msgspec.field(default_factory=dict)  # digest of each note when it began, by id
    skills: dict[str, str] = msgspec.field(default_factory=dict)
    in_head: tuple[str, ...] = ()  # ids of the notes that the head holds
    summary: int | None = None  # seq of the newest summary in view
    told: dict[str, ReportedChange] = msgspec.field(default_factory=dict)
    pages: tuple[PageRecipe, ...] = ()  # in view, oldest first
    pages_digest: str = ""  # of their very bytes
    pages_begin: ChapterStart | None = None
    hidden: tuple[int, ...] = ()  # summaries not said, for every word they stand for stands on a page


class EpochBasis(Struct, frozen=True, kw_only=True):
    """What an epoch depends on, as it is now."""

    model: str
    window: int
    tools: str
    files: dict[str, str]
    summary: int | None


_decoder = msgspec.json.Decoder(EpochState)


def encode_epoch(state: EpochState) -> ClearedBytes:
    """Encodes the state for `NewEpoch`."""
    return encoded_struct(state)


def decode_epoch(data: bytes) -> EpochState | None:
    """The inverse of `encoded`; None where it is empty or of another version: then a new epoch begins."""
    if not data:
        return None
    try:
        return _decoder.decode(data)
    except msgspec.DecodeError:
        return None


def reason_to_end(state: EpochState, now: EpochBasis) -> str:
    """Why the epoch must end, as a sentence; "" where it continues."""
    if state.model != now.model:
        return "the model changed"
    if now.window < state.window:
        return "the model's window is smaller"
    if state.tools != now.tools:
        return "the tools changed"
    edited = [name for name in now.files if state.files.get(name) != now.files[name]]
    if edited:
        return f"{' and '.join(edited)} changed"
    if state.summary != now.summary:
        newer = now.summary is not None and (state.summary is None or now.summary > state.summary)
        return "older turns were archived" if newer else "another branch"
    return ""
