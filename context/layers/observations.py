"""The index of observations that a conversation begins with: a line each, chosen by importance, age and files. Pure."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from context.assembly.tokens import Layer, MessageCounter
from context.epoch import HeadPiece
from context.report import INDEX, ObservationUsage
from foundation.privacy import TextSource, clear
from memory.observations.observation import Importance
from memory.observations.store import StoredObservation
from models.fence import SAMPLE_NONCE, label, reference
from models.messages import Text

TITLE_CHARS: Final = 100
LEAST_SCORE: Final = 0.15
GONE_FILES: Final = 0.4  # weight of an observation whose files the project does not have
_WEIGHTS: Final = {Importance.CRITICAL: (3.0, 14), Importance.DECISION: (3.0, 120)}  # and half-life in days
_WORK: Final = (1.5, 30)  # of a bugfix, a feature, a refactoring, a change
_DISCOVERY: Final = (0.5, 14)

_HEADING: Final = (
    "Notes of earlier work, oldest first, for reference: time, importance (🔴 critical, 🟤 decision, 🔵 information), "
    "type, id, title, tokens of note→original."
)
_STEPS: Final = " `recall ID` shows a note."


class ObservationIndex(Struct, frozen=True):
    """The piece of the head, and its figures without the tokens that it takes there."""

    piece: HeadPiece
    usage: ObservationUsage


def observation_index(
    stored: Sequence[StoredObservation],
    now: datetime,
    counting: MessageCounter,
    *,
    most: int,
    room: int,
    in_view: Collection[int] = (),
    has_file: Callable[[str], bool] = lambda _: True,
    can_recall: bool = True,
) -> ObservationIndex | None:
    """The index of at most `most` lines and `room` tokens; None where nothing is worth its place.

    `stored` newest first; `in_view` are entries (seqs) that the request has anyway.
    """
    candidates = [item for item in _current(stored) if item.original not in in_view]
    scored = sorted(((_score(item, now, has_file), item.seq) for item in candidates), reverse=True)
    chosen = {seq for score, seq in scored[:most] if score >= LEAST_SCORE}
    heading = _HEADING + (_STEPS if can_recall else "")
    room -= counting.part(Text(heading, INDEX, SAMPLE_NONCE))
    kept: list[StoredObservation] = []
    by_seq = {item.seq: item for item in candidates}
    for _, seq in scored:
        if seq in chosen and (room := room - counting.text(f"{index_line(by_seq[seq])}\n")) >= 0:
            kept.append(by_seq[seq])
    if not kept:
        return None
    kept.sort(key=lambda item: (item.time, item.seq))
    text = clear("\n".join([heading, *map(index_line, kept)]), TextSource.OTHER)
    figures = [(item.observation.tokens, item.observation.original_tokens) for item in kept]
    usage = ObservationUsage(
        count=len(kept), tokens=0, detail=sum(one for one, _ in figures), originals=sum(other for _, other in figures)
    )
    piece = HeadPiece(Layer.CONVERSATION.value, f"{INDEX} ({len(kept)})", text, INDEX, opens=True)
    return ObservationIndex(piece, usage)


def index_line(item: StoredObservation) -> str:
    """`2026-11-23 10:12 🔴 discovery e_4kx7… pytest: 1 failed · 85→4,200`."""
    observation = item.observation
    sizes = f"{observation.tokens:,}→{observation.original_tokens:,}"
    title = label(observation.title, TITLE_CHARS)
    moment = f"{item.time.astimezone():%Y-%m-%d %H:%M}"
    return f"{moment} {observation.importance.mark} {label(observation.type)} {reference(item.id)} {title} · {sizes}"


def is_index(piece: HeadPiece) -> bool:
    """Whether the piece is an index of observations."""
    return piece.injected == INDEX


def _current(stored: Iterable[StoredObservation]) -> list[StoredObservation]:
    """The newest observation on each subject, and of each title."""
    seen = set[str]()
    current: list[StoredObservation] = []
    for item in stored:
        names = {f"title {item.observation.title}"}
        if item.observation.subject and not item.observation.read:
            names.add(f"subject {item.observation.subject}")
        if not names & seen:
            current.append(item)
        seen |= names
    return current


def _score(item: StoredObservation, now: datetime, has_file: Callable[[str], bool]) -> float:
    observation = item.observation
    is_work = bool(observation.changed) or observation.type not in {"discovery", "decision"}
    weight, half_life = _WEIGHTS.get(observation.importance, _WORK if is_work else _DISCOVERY)
    days = max(0.0, (now - item.time).total_seconds() / 86_400)
    files = observation.files
    return weight * 0.5 ** (days / half_life) * (GONE_FILES if files and not any(map(has_file, files)) else 1.0)
