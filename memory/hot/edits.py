"""The edits we make to a person's Markdown, each a function from text to text.

An edit may be applied again to a text that already has it, and then changes nothing: so it can be applied once more
to whatever a person wrote at the same moment.
"""

import re
from collections.abc import Callable, Iterable
from datetime import datetime

from foundation.clock import iso
from foundation.terminal_text import visible, visible_line
from memory.hot.merge import merge
from memory.hot.note import Note
from memory.hot.parse import is_only_a_link, lines_of, outside_comments, parse

Edit = Callable[[str], str]

_STRUCTURED = re.compile(r"\s*(?:[-*+]\s|\d{1,3}[.)]\s|>|```|~~~|\||#{1,6}\s)")
_HAN = re.compile("[\u4e00-\u9fff]")
_PLAIN = re.compile(r"^(?=[^\s\-*+>|`~#])(?!\d{1,3}[.)]\s)", re.MULTILINE)
_LISTED = re.compile(r"\s{0,12}[-*+]\s+\S")
_HEADING = re.compile(r"^(#{1,6}[ \t])", re.MULTILINE)
_FENCES = re.compile(r"^\s{0,12}(`{3,}|~{3,})", re.MULTILINE)
_LONGEST_HEADING = 48


def format_entry(time: datetime, heading: str, text: str, conversation: str | None) -> str:
    """A timeline entry as it stands in the file, with `\\n` ends; without a heading where that is empty."""
    label = "关联对话" if _HAN.search(heading or text) else "Conversation"
    link = f"- {label}: [#{conversation}](./conversations/{conversation}.md)\n" if conversation else ""
    body = as_items(text)
    title = f"# {heading}\n" if heading else ""
    return f"<!-- {iso(time)} -->\n{title}{body}{link}"


def split_heading(text: str) -> tuple[str, str]:
    """Heading and body of a note that came without a heading: the first of several lines is the heading alone; where it
    is cut short, the body has all of it. A single line has no heading: it would be said twice."""
    first, _, rest = text.strip().partition("\n")
    if first.strip() and not rest.strip() and (_LISTED.match(first) or not _STRUCTURED.match(first)):
        return "", text
    heading = one_line(heading_for(text))
    if rest.strip() and not _STRUCTURED.match(first) and heading == one_line(first):
        return heading, rest
    return heading, text


def heading_for(text: str) -> str:
    """A heading from the text's own first words, for a note that came without one."""
    first = next((line.strip(" \t#>*-+") for line in text.splitlines() if line.strip(" \t#>*-+")), "Note")
    if len(first) <= _LONGEST_HEADING:
        return first
    cut = first[:_LONGEST_HEADING]
    return (cut[: cut.rindex(" ")] if " " in cut[24:] else cut) + "…"


def one_line(heading: str) -> str:
    return visible_line(heading.replace("<!--", "‹!--")).strip("# ")


def as_items(text: str) -> str:
    """The text as list items, a line each; lines that are Markdown already stay as they are. Control characters become
    glyphs.

    What would end the entry when it is read again (a timestamp, a heading, an open fence) is made harmless.
    """
    text = visible(text.replace("\r\n", "\n").strip("\n").rstrip()).replace("<!--", "‹!--")
    if not text:
        return ""
    if _STRUCTURED.match(text):
        fences: list[str] = _FENCES.findall(text)
        closing = f"\n{fences[-1]}" if len(fences) % 2 else ""
        if _LISTED.match(text) and not fences:
            text = _PLAIN.sub("  ", text)  # a part of the item above; a line of its own is no part of the note
        return _HEADING.sub(r"#\1", text) + closing + "\n"
    return "".join(_item(line) for line in text.split("\n"))


def _item(line: str) -> str:
    if _LISTED.match(line):
        return f"{line.rstrip()}\n"
    return f"- {line.strip()}\n" if line.strip() else ""


def append_entry(path: str, time: datetime, heading: str, text: str, conversation: str | None) -> Edit:
    """Adds a timeline entry at the end, unless one of this time and heading is there."""

    def edit(before: str) -> str:
        head = f"<!-- {iso(time)} -->"
        if heading and f"{head}\n# {heading}\n" in before:
            return before
        if head in before and any(note.time == time and note.heading == heading for note in parse(before, path)):
            return before
        return append_block(before, format_entry(time, heading, text, conversation))

    return edit


def append_block(before: str, block: str) -> str:
    """The text, a blank line, the block, in the file's own line ends."""
    ends = line_ends(before)
    gap = "" if not before.strip("\ufeff\r\n") else _gap(before, ends)
    return before + gap + block.replace("\n", ends)


def _gap(before: str, ends: str) -> str:
    lines = lines_of(before)
    if not lines[-1].endswith("\n"):
        return ends * 2
    return "" if not lines[-1].strip() else ends


def line_ends(text: str) -> str:
    """`\\r\\n` where more than half of the text's lines end so."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def rewrite_note(seen: Note, text: str, spare: tuple[datetime, str]) -> Edit:
    """Gives the note that was `seen` a new text; its timestamp and link stay, and a heading that a person gave it.

    Where a person changed it meanwhile, both changes are merged; where they cannot be, theirs stays and ours becomes
    an entry of its own, with the time and heading in `spare`.
    """
    wanted = as_items(text).rstrip("\n")
    heading = heading_after(seen, text)

    def edit(before: str) -> str:
        notes = parse(before, seen.path)
        found = next((note for note in notes if note.id == seen.id), None) or find_rewritten(notes, seen, text)
        if found is None:
            return append_entry(seen.path, *spare, text, seen.conversation)(before)
        if found.text == wanted:
            return before
        merged = merge(_ended(seen.text), _ended(found.text), _ended(wanted))
        if merged.leftover:
            return append_entry(seen.path, *spare, text, seen.conversation)(before)
        after = _with_text(before, found, merged.text)
        return after if heading == seen.heading else _with_heading(after, found, heading)

    return edit


def heading_after(seen: Note, text: str) -> str:
    """The heading once the note says `text`: one that was made of the old words is made of the new ones."""
    made = bool(seen.heading and seen.text) and seen.heading == one_line(heading_for(seen.text))
    return one_line(heading_for(text)) if made else seen.heading


def find_rewritten(notes: Iterable[Note], seen: Note, text: str) -> Note | None:
    """The note that was `seen`, where it was given `text` and a heading of it."""
    heading, wanted = heading_after(seen, text), as_items(text).rstrip("\n")
    alike = (note for note in notes if heading and note.heading == heading and note.time == seen.time)
    return next((note for note in alike if note.time is not None or note.text == wanted), None)


def remove_note(seen: Note) -> Edit:
    """Takes out the note that was `seen`; one that a person changed meanwhile stays."""

    def edit(before: str) -> str:
        found = next((note for note in parse(before, seen.path) if note.id == seen.id), None)
        if found is None or found.text != seen.text:
            return before
        lines = lines_of(before)
        head, tail = lines[: found.line_first - 1], lines[found.line_last :]
        while tail and not tail[0].strip() and (not head or not head[-1].strip()):
            tail.pop(0)
        mark = "\ufeff" if found.line_first == 1 and before.startswith("\ufeff") else ""
        return mark + "".join(head + tail)

    return edit


def _ended(text: str) -> str:
    return text + "\n" if text else ""


def _with_heading(before: str, note: Note, heading: str) -> str:
    lines = lines_of(before)
    for number in range(note.line_first - 1, note.words_first - 1):
        if found := _HEADING.match(lines[number].lstrip(" ")):
            lines[number] = f"{found.group(1)}{heading}{line_ends(before)}"
            break
    return "".join(lines)


def _with_text(before: str, note: Note, text: str) -> str:
    """The file with this note's words replaced, and every other line as it was."""
    ends = line_ends(before)
    lines = lines_of(before)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += ends
    first, last = note.words_first - 1, note.words_last
    comments = {number for number, line, _ in outside_comments(before) if line == "\n"}
    kept = [
        line
        for number, line in enumerate(lines[first:last], first + 1)
        if is_only_a_link(line) or (number in comments and line.strip())
    ]
    new = [line.replace("\n", ends) for line in lines_of(_ended(text.strip("\n")))]
    return "".join([*lines[:first], *new, *kept, *lines[last:]])
