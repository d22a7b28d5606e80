"""What stands in the view for entries that were reduced: a line for a tool result, and a message without what was
recalled for it."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from context.assembly.view import BranchView
from foundation.privacy import Cleared, TextSource, clear
from memory.observations.observation import clipped
from memory.observations.store import StoredObservation
from memory.records import Entry, EntryKind
from models.fence import reference
from models.messages import Image, RecalledSpan

if TYPE_CHECKING:
    from context.assembly.history import TextOf


MOST_SHOWN = 100  # characters of what it showed
MOST_NOTED = 160  # characters of its observation
_NAMES = 8

_ERROR = re.compile(
    r"^.*(?:\b(?:error|exception|traceback|fatal|panic(?:ked)?|failed|failure)\b|\w(?:Error|Exception)\b|错误|失败|异常).*$",
    re.IGNORECASE | re.MULTILINE,
)
_EXIT = re.compile(r"^\[?exit \d+.*$", re.MULTILINE)
_DEFINED = re.compile(
    r"^\s*(?:(?:export|public|private|static|async|pub|abstract|final)\s+)*"
    r"(?:def|class|func|fn|function|interface|struct|enum|trait|impl|type|module|const)\s+([A-Za-z_$][\w$]*)",
    re.MULTILINE,
)


def reductions_of(
    entries: Iterable[Entry],
    text_of: "TextOf",
    observed: Callable[[Collection[int]], Mapping[int, StoredObservation]] = lambda _: {},
) -> dict[int, str]:
    """What is kept of each entry, by its seq: the line of a tool result, "" for a message.

    `observed` gives the observations of results, by their seq.
    """
    entries = list(entries)
    notes = observed([entry.seq for entry in entries if entry.kind is EntryKind.TOOL_RESULT])
    return {e.seq: _line(e, text_of, notes.get(e.seq)) if e.kind is EntryKind.TOOL_RESULT else "" for e in entries}


def _line(result: Entry, text_of: "TextOf", stored: StoredObservation | None) -> str:
    note = clipped(stored.observation.brief, MOST_NOTED) if stored else ""
    return str(result_line(result, text_of(result), note))


def reduced(view: BranchView, reductions: Mapping[int, str]) -> BranchView:
    """The view with these reductions; those of entries that are not in it are left out."""
    seqs = reductions.keys() & view.seqs
    if not seqs:
        return view
    entries = tuple(_reduced(e, reductions[e.seq]) if e.seq in seqs else e for e in view.entries)
    return replace(view, entries=entries, reduced=frozenset(seqs))


def _reduced(entry: Entry, line: str) -> Entry:
    if entry.kind is EntryKind.TOOL_RESULT:
        sent = tuple(part for part in entry.sent if not isinstance(part, Image))
        return replace(entry, meta={**entry.meta, "shown": line}, sent=sent)
    return replace(entry, sent=tuple(part for part in entry.sent if not isinstance(part, RecalledSpan)))


def result_line(entry: Entry, text: str, note: str = "") -> Cleared:
    """The line that stands for the result. `text` is its whole output, `note` what an observation says of it."""
    lines = text.count("\n") + (not text.endswith("\n") if text else 0)
    size = f"{lines:,} line{'s' if lines != 1 else ''}, {len(text):,} characters"
    what = note or _showed(text)
    shown = f" It showed: {what}" if what else ""
    return clear(f"[{size}, no longer in view; recall {reference(entry.id)} brings them.{shown}]", TextSource.OTHER)


def _showed(text: str) -> str:
    """Errors first, then the names that it defines, else how it begins."""
    found = [match.group().strip() for match in (*_EXIT.finditer(text), *_ERROR.finditer(text))]
    if found:
        last = found[-1] if len(found) > 1 and found[-1] != found[0] else ""
        return _cut(f"{found[0]} … {last}" if last else found[0])
    if names := dict.fromkeys(match.group(1) for match in _DEFINED.finditer(text)):
        more = f" and {len(names) - _NAMES} more names" if len(names) > _NAMES else ""
        return _cut(", ".join(list(names)[:_NAMES])) + more
    return _cut(next((line.strip() for line in text.splitlines() if line.strip()), ""))


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
