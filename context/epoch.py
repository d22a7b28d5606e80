"""Epoch: a run of turns in which each request begins with the whole previous one.

The head is stored when the epoch begins, so that another process continues with the same bytes.
"""

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from context.pages.recipe import ChapterStart, PageRecipe
from context.report import DroppedSource, ObservationUsage
from foundation.privacy import ClearedBytes, encoded_struct
from foundation.typed_json import decode_json


class HeadPiece(Struct, frozen=True):
    """One part of the head: its layer, its source, its text, its tag.

    `opens`: it begins the first user message. The other pieces are the system message.
    """

    layer: str
    source: str
    text: str
    injected: str = ""
    opens: bool = False


class ReportedChange(Struct, frozen=True):
    """A change that a message reported during the epoch: its digest, the message's entry, the new text."""

    digest: str
    entry: int
    words: str = ""


class EpochState(Struct, frozen=True, kw_only=True):
    """State that is fixed during an epoch, as stored."""

    number: int = 1
    reason: str = ""  # why the epoch began; "" for the first of a conversation
    model: str = ""  # spec
    window: int = 0
    tools: str = ""  # digest of the tools offered
    nonce: str = ""  # in the tags of the head, summaries and pages; "" in an epoch that an older version began
    pieces: tuple[HeadPiece, ...] = ()
    dropped: tuple[tuple[str, DroppedSource], ...] = ()  # layer, dropped source
    files: dict[str, str] = msgspec.field(default_factory=dict)  # digests of the files whose edits end the epoch
    notes: dict[str, str] = msgspec.field(default_factory=dict)  # digest of each note when the epoch began, by id
    skills: dict[str, str] = msgspec.field(default_factory=dict)
    in_head: tuple[str, ...] = ()  # ids of the notes that the head holds
    summary: int | None = None  # seq of the newest summary in view
    reading: str = ""  # what switches leave of the past (context.assembly.past)
    day: str = ""  # the date in the head
    told: dict[str, ReportedChange] = msgspec.field(default_factory=dict)
    pages: tuple[PageRecipe, ...] = ()  # in view, oldest first
    pages_digest: str = ""  # of the bytes of the pages
    pages_begin: ChapterStart | None = None
    reduced: dict[int, str] = msgspec.field(default_factory=dict)  # lines for tool results; "" for a message: its words
    whole: dict[int, int] = msgspec.field(default_factory=dict)  # tokens of a reduced entry before, by its seq
    observations: ObservationUsage | None = None  # figures of the index in the head
    earlier: tuple["EarlierEpoch", ...] = ()  # the epochs before the last compactions, oldest first
    hidden: tuple[int, ...] = ()  # omitted summaries: pages show all the text that they cover


class EarlierEpoch(Struct, frozen=True):
    """The epoch before a compaction: undoing it brings this state back. `summary` is the seq of its summary."""

    summary: int
    state: EpochState


MOST_EARLIER = 2  # compactions whose epochs are kept, so that the stored state stays small


def with_earlier(state: EpochState, before: EpochState) -> EpochState:
    """A state that begins, with the states that undoing brings back: `before` too, where a compaction ended it."""
    earlier = before.earlier
    is_compaction = state.summary is not None and (before.summary is None or state.summary > before.summary)
    if is_compaction and state.summary not in {kept.summary for kept in earlier}:
        assert state.summary is not None
        earlier = (*earlier, EarlierEpoch(state.summary, replace(before, earlier=())))
    return replace(state, earlier=earlier[-MOST_EARLIER:])


def before_compaction(current: EpochState | None, summary: int) -> EpochState | None:
    """The state before the compaction with that summary; None where it is not kept.

    What messages told since then is still in view: it counts as told.
    """
    if current is None:
        return None
    if current.summary != summary and not any(kept.summary == summary for kept in current.earlier):
        return current  # no request was sent since: the epoch of the compaction has not begun
    kept = tuple(earlier for earlier in current.earlier if earlier.summary < summary)
    found = next((earlier.state for earlier in current.earlier if earlier.summary == summary), None)
    return replace(found, earlier=kept, told={**found.told, **current.told}) if found else None


class EpochBasis(Struct, frozen=True, kw_only=True):
    """Current values of everything that an epoch depends on."""

    model: str
    window: int
    tools: str
    files: dict[str, str]
    summary: int | None
    reading: str = ""


NONCE_SEEN = "a text contains the marker of the head's tags"
READ_ANEW = "the switches reload earlier turns with each message"
"""A reason that is not news to a person."""

_decoder = msgspec.json.Decoder(EpochState)


def encode_epoch(state: EpochState) -> ClearedBytes:
    """Encodes the state for `NewEpoch`."""
    return encoded_struct(state)


def decode_epoch(data: bytes) -> EpochState | None:
    """The inverse of `encode_epoch`; None for empty data or another version: then a new epoch begins."""
    if not data:
        return None
    try:
        return decode_json(data, _decoder)
    except msgspec.DecodeError:
        return None


def reason_to_end(state: EpochState, current: EpochBasis) -> str:
    """Reason to end the epoch, as a phrase; "" where it continues."""
    if state.model != current.model:
        return "the model changed"
    if current.window < state.window:
        return "the model's window is smaller"
    if state.tools != current.tools:
        return "the tools changed"
    edited = [name for name in current.files if state.files.get(name, "") != current.files[name]]
    if edited:
        return f"{' and '.join(edited)} changed"
    return _reason_of_past(state, current)


def _reason_of_past(state: EpochState, current: EpochBasis) -> str:
    """Reason to read the past anew."""
    if state.reading != current.reading:
        same_switches = state.reading.partition(":")[0] == current.reading.partition(":")[0]
        return READ_ANEW if same_switches else "the switches changed"
    if state.summary != current.summary:
        newer = current.summary is not None and (state.summary is None or current.summary > state.summary)
        return "older turns were archived" if newer else "another branch"
    return ""
