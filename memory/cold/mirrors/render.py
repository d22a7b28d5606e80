"""Renders a conversation as Markdown."""

import hashlib
import json
import re

from foundation.clock import iso
from foundation.files import encode
from foundation.shell_words import command_line
from memory.cold.mirrors.escapes import CUT, FORMAT, escaped
from memory.records import Conversation, Entry, EntryKind
from models.messages import Role

LONGEST_OUTPUT = 2_000  # characters of a tool's output; the store has all of it
_SAFE = re.compile(r"[a-z0-9_][a-z0-9_-]{0,79}")
_UNSAFE = re.compile(r"[^a-z0-9_-]+")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)  # reserved by Windows


def mirror_name(conversation: Conversation) -> str:
    """The name of the conversation's mirror, as `name_of` gives it."""
    return name_of(conversation.source, conversation.id)


def name_of(source: str, id_: str) -> str:
    """A mirror's file name: `<id>.md`; an imported id that is no valid file name becomes a slug and a hash."""
    whole = f"{source}-{id_}" if source else id_
    if _SAFE.fullmatch(whole) and not _RESERVED.fullmatch(whole):
        return f"{whole}.md"
    slug = _UNSAFE.sub("-", whole.lower()).strip("-")[:60]
    mark = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{slug}-{mark}.md" if slug else f"{mark}.md"


def head(conversation: Conversation) -> bytes:
    """The lines before the first turn."""
    title = conversation.title or conversation.id
    lines = ["---", FORMAT, f"id: {json.dumps(conversation.id)}"]
    if conversation.source:
        lines.append(f"source: {json.dumps(conversation.source)}")
    lines += [f"title: {json.dumps(title, ensure_ascii=False)}", f"created: {iso(conversation.created)}", "---", ""]
    lines += ["# " + " ".join(title.split()), ""]
    return encode("\n".join(lines))


def turn(entry: Entry, text: str) -> bytes:
    """One entry: time and speaker as a heading, its id in a comment, its text."""
    lines = ["", f"## {iso(entry.time)[:16].replace('T', ' ')} · {_speaker(entry)} <!-- {comment_of(entry.id)} -->", ""]
    lines.append(_words(entry, text))
    if not entry.complete:
        lines += ["", CUT]
    return encode("\n".join(lines) + "\n")


def _words(entry: Entry, text: str) -> str:
    match entry.kind:
        case EntryKind.TOOL_RESULT | EntryKind.TOOL_CALL:
            shown = escaped(text[:LONGEST_OUTPUT])
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", shown)), default=0))
            rest = max(0, len(text) - LONGEST_OUTPUT)
            more = (
                f"\n\n*({rest:,} more characters: `{command_line('palimpsest', 'recall', entry.id)}`)*" if rest else ""
            )
            return f"{fence}\n{shown}\n{fence}{more}"
        case EntryKind.SUMMARY:
            return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
        case _:
            return escaped(text)


def _speaker(entry: Entry) -> str:
    match entry.kind, entry.role:
        case EntryKind.SUMMARY, _:
            return "summary of what came before"
        case _, Role.TOOL:
            return " ".join(f"tool {entry.speaker}".split())
        case _:
            return " ".join((entry.speaker or entry.role.value).split())


def comment_of(id_: str) -> str:
    """An id for a comment: on one line, without anything that could end the comment or begin another."""
    id_ = " ".join(id_.split())
    return id_.replace("--", "- -").replace(">", "")
