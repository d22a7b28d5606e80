"""The tools `recall` and `remember`: a whole passage by its reference, and a note in MEMORY.md."""

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

from agent.permissions.action import Access, Action
from agent.permissions.tool_facts import OutcomeStyle, SubjectKind, declare_tool
from agent.tools.output import short_summary, text_lines
from agent.tools.port import ToolFailure, ToolPurpose, ToolRun, UsualTool, string_argument, text_argument
from context.pages.lookup import by_reference
from foundation.clock import iso
from foundation.privacy import TextSource, clear
from foundation.trust import Citation
from foundation.typed_json import decode_json
from memory.memory import Memory
from memory.references import nothing_named
from memory.versions.cause import Author, caused_by
from models.fence import label, reference
from models.messages import Tool
from models.prompts import prompt

MAX_FOUND_LINES = 50
AROUND_FOUND = 200  # characters of a line shown before and after what was looked for
_RANGE = re.compile(r"(?P<first>\d{1,9})\s*(?:(?P<to>[-–])\s*(?P<last>\d{1,9})?)?")


class RecallPassage(UsualTool):
    """Recalls one whole passage by its reference."""

    purpose = ToolPurpose.REFERENCE
    only_reads = True
    structured = True
    facts = declare_tool("recall", Access.MEMORY)
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("ref", "lines", "characters", "find")},
            "required": ["ref"],
        },
    )

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def action(self, arguments: dict[str, Any]) -> Action:
        ref = string_argument(arguments, "ref")
        return Action(tool=self.facts.name, access=self.facts.access, summary=f"recall {ref}", subject=ref)

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        ref = string_argument(arguments, "ref")
        if not (passages := by_reference(self._memory, ref)):
            raise nothing_named(ref)
        objects = [
            {"cite": cite_of(passage.citation), "trust": passage.trust.value, **_part(passage.text, arguments)}
            for passage in passages
        ]
        return as_json(objects[0] if len(objects) == 1 else {"passages": objects})


class RememberNote(UsualTool):
    """Adds a note to MEMORY.md. Asks first: a model or a web page writes nothing on its own."""

    purpose = ToolPurpose.NOTE
    stores_arguments = True
    facts = declare_tool("remember", Access.NOTE, SubjectKind.PATH, OutcomeStyle.FIRST_LINE)
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]},
    )

    def __init__(self, memory: Memory, conversation: Callable[[], str | None]) -> None:
        self._memory = memory
        self._conversation = conversation

    def action(self, arguments: dict[str, Any]) -> Action:
        note = string_argument(arguments, "note")
        summary = f"add to MEMORY.md: “{short_summary(note)}”"
        return Action(tool=self.facts.name, access=self.facts.access, summary=summary, subject="MEMORY.md", detail=note)

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        text = string_argument(arguments, "note")
        if run.untrusted:  # the note may repeat what nobody here wrote
            text += f"\nOrigin: written while “{run.untrusted}” was in view"
        conversation = self._conversation()
        with caused_by(Author.MODEL, f"tool remember in {conversation}" if conversation else "tool remember"):
            note = self._memory.hot.remember(clear(text, TextSource.OTHER), heading=None, conversation=conversation)
        return f"Remembered as {note.id}."


def _part(text: str, arguments: dict[str, Any]) -> dict[str, str]:
    """The part of the text that the arguments name, and which it is. Raises ToolFailure for no range."""
    if words := text_argument(arguments, "find"):
        return _lines_with(words, text)
    if lines := text_argument(arguments, "lines"):
        of_text = text_lines(text)
        first, last = _range(lines, len(of_text), "lines")
        return {"part": f"lines {first}-{last} of {len(of_text)}", "text": "".join(of_text[first - 1 : last])}
    if characters := text_argument(arguments, "characters"):
        first, last = _range(characters, len(text), "characters")
        return {"part": f"characters {first}-{last} of {len(text)}", "text": text[first - 1 : last]}
    return {"text": text}


def _range(written: str, most: int, unit: str) -> tuple[int, int]:
    """The first and the last of `12-40`, `12-` or `12`, counted from 1. Raises ToolFailure."""
    match = _RANGE.fullmatch(written.replace(",", "").strip())
    first = int(match["first"]) if match else 0
    if match is None or not 1 <= first <= most:
        raise ToolFailure("No such range", f"“{written}”: the text has {unit} 1-{most}.")
    last = int(match["last"] or most) if match["to"] else first
    return first, min(max(last, first), most)


def _lines_with(words: str, text: str) -> dict[str, str]:
    """The lines that have the words, each with its number, with as much of a long line as lies around them."""
    wanted, lines = words.casefold(), text_lines(text)
    found = [
        f"{number}: {_around(line.rstrip(), wanted)}"
        for number, line in enumerate(lines, 1)
        if wanted in line.casefold()
    ]
    shown = found[:MAX_FOUND_LINES]
    part = f"{len(found)} of {len(lines)} lines have “{words}”" + (
        f", the first {len(shown)}" if shown != found else ""
    )
    return {"part": part, "text": "\n".join(shown)}


def _around(line: str, wanted: str) -> str:
    at = line.casefold().find(wanted)
    start = max(at - AROUND_FOUND, 0)
    return line[start : at + len(wanted) + AROUND_FOUND]


def shorten_passage(whole: str, most: int, entry: str) -> str:
    """A passage's JSON with its text cut to about `most` characters; "" for output without a text."""
    try:
        passage: dict[str, Any] = decode_json(whole, dict[str, Any])
    except msgspec.DecodeError:
        return ""
    text = passage.get("text")
    if not isinstance(text, str):
        return ""
    cut = text[:most]
    return as_json({**passage, "text": cut, "more": rest_notice(len(text) - len(cut), entry) if cut != text else ""})


def rest_notice(characters: int, entry: str) -> str:
    """How the model gets the rest."""
    return f"… {characters:,} more characters: recall {entry} with lines, characters or find brings any part."


def cite_of(citation: Citation) -> str:
    """The text between a citation's brackets: `Bank · Ann · 2026-01-01 · e_4kx7…`."""
    day = iso(citation.time)[:10] if citation.time else ""
    ref = reference(citation.ref)
    location = f"{ref}#L{citation.lines[0]}-L{citation.lines[1]}" if citation.lines else ref
    names = (label(citation.title), label(citation.place), label(citation.speaker))
    return " · ".join(part for part in (*names, day, location) if part)


def as_json(fields: dict[str, Any]) -> str:
    """The fields that are not empty, in order, as JSON."""
    return json.dumps({name: value for name, value in fields.items() if value}, ensure_ascii=False)
