"""Parses conversations/<id>.md back into a conversation and its turns.

A mirror is no store: its times are minutes, it has a tool's output only in part, and one branch. Anyone may edit it,
and before 0.3.1 a text could look like a turn; so it is used only where the store has nothing, and text from it is
never exact.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path

from msgspec import Struct

from foundation.files import UnsafePath, read_bytes, scan
from foundation.names import MIRROR
from memory.cold.mirrors.escapes import CUT, FORMAT, unescaped
from memory.cold.mirrors.render import name_of
from memory.records import EntryKind
from models.messages import Role

_HEADING = re.compile(
    r"^## (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d) · (?P<who>.*) <!-- (?P<id>\S(?:.*\S)?) -->$", re.MULTILINE
)  # the last comment of the line: no id holds the beginning of one
_FIELD = re.compile(r"^(?P<name>id|source|title|created): (?P<value>.*)$", re.MULTILINE)
_CUT = f"\n\n{CUT}"
_SUMMARY = "summary of what came before"
_MORE = " more characters: `palimpsest recall "
LARGEST = 2**28  # bytes


class MirrorTurn(Struct, frozen=True, kw_only=True):
    """One turn; `time` is exact to the minute. `whole` False: the mirror has only a part of its text."""

    id: str
    kind: EntryKind
    role: Role
    speaker: str
    time: datetime
    text: str
    complete: bool
    whole: bool


class Mirror(Struct, frozen=True, kw_only=True):
    """A mirror's conversation; `turns` are of one branch, oldest first, without summaries.

    `escaped`: no text in it can look like a heading. Before 0.3.1 any could.
    """

    name: str
    id: str
    source: str
    title: str
    created: datetime | None
    turns: tuple[MirrorTurn, ...]
    escaped: bool = True


def read_mirrors(folder: Path) -> Iterator[Mirror]:
    """Every readable mirror in the folder whose file has the name of its conversation."""
    return (mirror for mirror in _readable(folder) if _has_own_name(mirror))


def misnamed_mirrors(folder: Path) -> list[str]:
    """Names of files that claim to mirror a conversation whose mirror has another name. They are ignored."""
    return [mirror.name for mirror in _readable(folder) if not _has_own_name(mirror)]


def _readable(folder: Path) -> Iterator[Mirror]:
    for path, about in scan(folder, "*.md"):
        if about.st_size > LARGEST:
            continue
        with suppress(UnsafePath, IsADirectoryError):
            if (found := read_mirror(path)) is not None:
                yield found


def _has_own_name(mirror: Mirror) -> bool:
    return MIRROR.fits(mirror.name) and mirror.name == name_of(mirror.source, mirror.id)


def read_mirror(path: Path) -> Mirror | None:
    """The mirror; None for a file that is not a mirror of this program."""
    return parse_mirror(path.name, read_bytes(path))


def parse_mirror(name: str, raw: bytes) -> Mirror | None:
    """The content of a mirror of that file name; None where it is none."""
    text = raw.decode("utf-8", "replace")
    if not text.startswith("---\n") or (end := text.find("\n---\n", 3)) < 0:
        return None
    fields = {match["name"]: _value(match["value"]) for match in _FIELD.finditer(text[:end])}
    if not fields.get("id"):
        return None
    is_escaped = f"\n{FORMAT}\n" in text[: end + 1]
    return Mirror(
        name=name,
        id=fields["id"],
        source=fields.get("source", ""),
        title=fields.get("title", ""),
        created=_moment(fields.get("created", "")),
        turns=tuple(_turns(text, unescaped if is_escaped else str)),
        escaped=is_escaped,
    )


def _turns(text: str, plain: Callable[[str], str]) -> Iterator[MirrorTurn]:
    headings = [match for match in _HEADING.finditer(text) if text.endswith("\n\n", 0, match.start())]
    speakers = {heading["who"] for heading in headings}
    for heading, following in zip_longest(headings, headings[1:]):
        words = text[heading.end() + 2 : following.start() - 2 if following else len(text) - 1]
        when = _moment(f"{heading['time'].replace(' ', 'T')}:00Z")
        if heading["who"] == _SUMMARY or when is None:
            continue
        complete = not words.endswith(_CUT)
        words = words.removesuffix(_CUT)
        kind, role, speaker = _who(heading["who"], speakers)
        if kind is not EntryKind.MESSAGE:
            words, rest = _unfenced(words)
        else:
            rest = ""
        yield MirrorTurn(
            id=heading["id"],
            kind=kind,
            role=role,
            speaker=speaker,
            time=when,
            complete=complete,
            whole=_MORE not in rest,
            text=plain(words),
        )


def _who(who: str, speakers: set[str]) -> tuple[EntryKind, Role, str]:
    """The role of a speaker. A name alone is ambiguous: beside turns of a plain user it is the answering one."""
    if who == Role.TOOL or who.startswith("tool "):
        return EntryKind.TOOL_RESULT, Role.TOOL, who.removeprefix("tool").strip()
    if who in {role.value for role in Role}:
        return EntryKind.MESSAGE, Role(who), ""
    return EntryKind.MESSAGE, Role.ASSISTANT if Role.USER.value in speakers else Role.USER, who


def _unfenced(words: str) -> tuple[str, str]:
    """The content of the fence, and the text after it."""
    fence = re.match(r"(`{3,})\n", words)
    if fence is None or (end := words.rfind(f"\n{fence[1]}")) < fence.end():
        return words, words[-200:]
    return words[fence.end() : end], words[end + 1 + len(fence[1]) :]


def _value(raw: str) -> str:
    try:
        found = json.loads(raw)
    except ValueError:
        return raw
    return found if isinstance(found, str) else raw


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
