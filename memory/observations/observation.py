"""The record of an observation: its text, its fields as an entry's meta, its size, and the check of its identifiers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from memory.origin import DERIVED_FROM
from memory.records import Entry, EntryKind
from models.tokens import estimate

MAX_TOKENS: Final = 500
MAX_TITLE: Final = 100  # characters
MAX_FACT: Final = 300  # characters
MAX_FILES: Final = 12
FACT, NARRATIVE, READ, CHANGED, SOURCES = "- ", "About: ", "Read: ", "Changed: ", "From: "


class Importance(StrEnum):
    """How much an observation matters; the first is shown first where there is no room for all."""

    CRITICAL = "critical"
    DECISION = "decision"
    INFORMATION = "information"

    @property
    def mark(self) -> str:
        """🔴, 🟤 or 🔵."""
        return _MARKS[self]


_MARKS: Final = {Importance.CRITICAL: "🔴", Importance.DECISION: "🟤", Importance.INFORMATION: "🔵"}


class Observation(Struct, frozen=True, kw_only=True):
    """`sources` are the ids of the entries that it was made of, the first the one it is about.

    `subject` is what later observations are compared with: a command, a path; "" for none.
    """

    type: str  # one of memory.search.query.entity_filters.TYPES
    title: str
    importance: Importance
    facts: tuple[str, ...] = ()
    narrative: str = ""
    concepts: tuple[str, ...] = ()
    read: tuple[str, ...] = ()  # files
    changed: tuple[str, ...] = ()  # files
    sources: tuple[str, ...]
    original_tokens: int
    subject: str = ""

    @property
    def text(self) -> str:
        """The text that is stored: the title, a line a fact, what it is about, the files, and the sources."""
        lines = [self.title, *(FACT + fact for fact in self.facts)]
        for name, value in ((NARRATIVE, self.narrative), (READ, _joined(self.read)), (CHANGED, _joined(self.changed))):
            lines += [name + value] if value else []
        return "\n".join([*lines, SOURCES + _joined(self.sources)])

    @property
    def brief(self) -> str:
        """The title, and the facts that it does not have."""
        title = self.title
        facts = (fact for fact in self.facts if fact not in title and title.removesuffix("…") not in fact)
        return "; ".join((title, *facts))

    @property
    def tokens(self) -> int:
        """Tokens of the text, by the estimate."""
        return estimate(self.text)

    @property
    def files(self) -> tuple[str, ...]:
        """The files changed, then those read, each once."""
        return tuple(dict.fromkeys((*self.changed, *self.read)))

    def fields(self, maker: str) -> dict[str, Any]:
        """Meta of its entry. `type`, `concepts` and `files` make its tags (foundation.text.tags)."""
        fields = {
            "type": self.type,
            "importance": self.importance.value,
            "concepts": list(self.concepts),
            "files": list(self.files),
            "subject": self.subject,
            "tokens": self.tokens,
            "original_tokens": self.original_tokens,
            "maker": maker,
            DERIVED_FROM: list(self.sources),
        }
        return {name: value for name, value in fields.items() if value}


class _Fields(Struct):
    type: str
    importance: Importance
    original_tokens: int = 0
    subject: str = ""
    concepts: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()


def decode(text: str, meta: Mapping[str, Any]) -> Observation | None:
    """The observation of an entry's text and meta; None where they are not of one, as in an import."""
    try:
        fields = msgspec.convert(dict(meta), _Fields)
    except msgspec.ValidationError:
        return None
    title, *lines = text.split("\n")
    parts = {name: _lines_of(lines, name) for name in (FACT, NARRATIVE, READ, CHANGED)}
    return Observation(
        type=fields.type,
        title=title,
        importance=fields.importance,
        facts=parts[FACT],
        narrative=" ".join(parts[NARRATIVE]),
        concepts=fields.concepts,
        read=_split(parts[READ]),
        changed=_split(parts[CHANGED]),
        sources=fields.derived_from,
        original_tokens=fields.original_tokens,
        subject=fields.subject,
    )


def is_made(entry: Entry) -> bool:
    """Whether an entry is an observation of a maker, and not one that an import brought."""
    return entry.kind is EntryKind.OBSERVATION and "maker" in entry.meta


def fitted(observation: Observation) -> Observation:
    """The observation within MAX_TOKENS: on single lines, with as many of its facts and files as fit."""
    observation = replace(
        observation,
        title=clipped(observation.title, MAX_TITLE),
        facts=tuple(dict.fromkeys(clipped(fact, MAX_FACT) for fact in observation.facts if fact.strip())),
        narrative=clipped(observation.narrative, MAX_FACT),
        read=_file_names(observation.read),
        changed=_file_names(observation.changed),
        subject=clipped(observation.subject, MAX_FACT),
    )
    while observation.tokens > MAX_TOKENS and observation.narrative:
        observation = replace(observation, narrative="")
    while observation.tokens > MAX_TOKENS and observation.facts:
        observation = replace(observation, facts=observation.facts[:-1])
    while observation.tokens > MAX_TOKENS and observation.files:
        observation = replace(observation, read=observation.read[:-1], changed=observation.changed[: MAX_FILES // 2])
        if not observation.read and observation.tokens > MAX_TOKENS:
            observation = replace(observation, changed=observation.changed[:-1])
    while observation.tokens > MAX_TOKENS and len(observation.title) > 1:
        observation = replace(observation, title=clipped(observation.title, len(observation.title) // 2))
    return observation


def clipped(text: str, most: int) -> str:
    """The text on one line, cut at a word where it is longer than `most` characters."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[most // 2 :] else cut) + "…"


_TOKEN: Final = re.compile(r"[^\s\"'`,;()\[\]{}<>|=“”‘’«»，。；：！？、（）【】]+(?:,\d{3})*")
_EDGES: Final = ".:!?*-–—…~"
_EXACT: Final = re.compile(r"\d|[_/\\@#]|[a-z][A-Z]|[A-Z]{2}|\w[.:]\w")


def identifiers(text: str) -> Iterator[str]:
    """What must be exact: numbers, paths, addresses, names of code, hashes."""
    for match in _TOKEN.finditer(text):
        if (token := match.group().strip(_EDGES)) and _EXACT.search(token):
            yield token


def unsupported(observation: Observation, original: str) -> tuple[str, ...]:
    """The identifiers of the observation that the original does not have; the ids of its sources are not looked at."""
    texts = (observation.title, *observation.facts, observation.narrative, *observation.files)
    return tuple(dict.fromkeys(token for text in texts for token in _unsupported_in(text, original)))


def _unsupported_in(text: str, original: str) -> Iterator[str]:
    *whole, last = [*identifiers(text)] or [""]
    yield from (token for token in whole if not _occurs(token, original))
    is_cut = text.endswith(f"{last}…")  # the end of the word is missing
    if last and not (last in original if is_cut else _occurs(last, original)):
        yield last


def _occurs(token: str, original: str) -> bool:
    """Whether the original has the token, and not only as a part of a longer word or number."""
    at = original.find(token)
    while at >= 0:
        before, after = original[at - 1 : at], original[at + len(token) : at + len(token) + 1]
        if not (_is_word(before) and _is_word(token[0])) and not (_is_word(after) and _is_word(token[-1])):
            return True
        at = original.find(token, at + 1)
    return False


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


def _file_names(paths: Sequence[str]) -> tuple[str, ...]:
    """The paths, each on one line, without the separator that joins them here."""
    names = (" ".join(path.replace(", ", ",").split()) for path in paths[:MAX_FILES])
    return tuple(name for name in names if name)


def _joined(values: tuple[str, ...]) -> str:
    return ", ".join(values)


def _lines_of(lines: list[str], name: str) -> tuple[str, ...]:
    return tuple(line.removeprefix(name) for line in lines if line.startswith(name))


def _split(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value for line in lines for value in line.split(", ") if value)
