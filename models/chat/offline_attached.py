"""What offline says of the files that go with a message: their first lines, and those that answer. Pure."""

import re
from pathlib import PurePath

from msgspec import Struct

from models.chat.offline_words import Words
from models.chat.quoting import LONGEST_QUOTE, Source, quotes
from models.messages import Image, Message, Text

FIRST_LINES = 5

_UNREAD = re.compile(r"\A(?P<name>[^\n]+): a picture of (?P<size>\d+×\d+) pixels\. This model cannot see it, and ")
_READ = re.compile(r"\A(?P<name>[^\n]+) \(a picture of (?P<size>\d+×\d+) pixels; [^\n]+\)\n")
_KINDS = {
    ".json": "JSON", ".md": "Markdown", ".csv": "CSV", ".yaml": "YAML", ".yml": "YAML", ".toml": "TOML",
    ".py": "Python", ".html": "HTML", ".xml": "XML",
}  # fmt: skip


class Attached(Struct, frozen=True):
    """A file as the request holds it. `text` is "" for a picture that nobody read; `size` is a picture's, in pixels."""

    name: str
    kind: str
    text: str = ""
    size: str = ""


def attached(message: Message) -> list[Attached]:
    """The files that go with this message, in their order."""
    found: list[Attached] = []
    for part in message.parts:
        match part:
            case Image(name=name, width=width, height=height):
                found.append(Attached(name or "the picture", "picture", size=f"{width}×{height}"))
            case Text(text=text, injected="attachment"):
                found.append(_from_text(text))
            case _:
                pass
    return found


def _from_text(text: str) -> Attached:
    if picture := _UNREAD.match(text):
        return Attached(picture["name"], "picture", size=picture["size"])
    if picture := _READ.match(text):
        return Attached(picture["name"], "picture", text[picture.end() :], picture["size"])
    name, _, rest = text.partition("\n")
    kind = "calendar" if rest.startswith("Event: ") else _KINDS.get(PurePath(name).suffix.lower(), "text")
    return Attached(name, kind, rest)


def without_names(question: str, files: list[Attached]) -> str:
    """The question less the names of its files, which nothing answers."""
    for file in files:
        question = question.replace(f"@{file.name}", " ").replace(file.name, " ")
    return question


def about(question: str, files: list[Attached], words: Words) -> str:
    """Markdown. Each quoted line (`> …`) is a verbatim piece of its file."""
    if not files:
        return ""
    parts = [_unread(file, words) if not file.text.strip() else _shown(file, question, words) for file in files]
    return "\n\n".join(parts)


def _unread(file: Attached, words: Words) -> str:
    if file.size:
        return words.picture.format(name=file.name, size=file.size)
    return words.empty.format(name=file.name)


def _shown(file: Attached, question: str, words: Words) -> str:
    lines = [line.strip() for line in file.text.splitlines() if line.strip()]
    first = [_cut(line) for line in lines[:FIRST_LINES]]
    found = quotes(question, [Source(file.text, file.name)], most=1)
    answering = [line for quote in found if quote.overlap for line in quote.lines]
    more = [line for line in answering if not any(line in one or one in line for one in first)]
    opening = words.attached if len(lines) <= FIRST_LINES else words.attached_begins
    kind = words.kinds.get(file.kind, file.kind)
    shown = [opening.format(name=file.name, kind=kind, lines=len(lines)), _quoted(first)]
    if more:
        shown += [words.attached_answers, _quoted(more)]
    return "\n\n".join(shown)


def _quoted(lines: list[str]) -> str:
    return "  \n".join(f"> {line}" for line in lines)  # two spaces: the lines stay lines, in one paragraph


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_QUOTE else line[:LONGEST_QUOTE].rsplit(" ", 1)[0]
