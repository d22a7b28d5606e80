"""The user's words in a message of a coding agent: without the blocks that the app puts around them."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from agent.importers.record import as_list, as_object, as_string
from agent.importers.skipped import Skipped, SkipReason
from foundation.sizes import format_size

Blocks = Mapping[str, Callable[[str], str]]
"""The app's tags by name, with what stays of a block's content."""

_NAME: Final = r"<([A-Za-z][\w-]*)(?: [^<>\n]*)?>"
_FIRST: Final = re.compile(rf"(?m)^[ \t]*(?:# AGENTS\.md instructions[^\n]*\n+)?{_NAME}")
_NEXT: Final = re.compile(rf"\s*{_NAME}")
_MEDIA: Final = {"image": "picture", "input_image": "picture", "document": "file", "input_file": "file"}


def removed(_content: str) -> str:
    """Nothing of the block stays."""
    return ""


def without_blocks(text: str, blocks: Blocks, location: str) -> tuple[str, list[Skipped]]:
    """Returns the text without the blocks, and the blocks of which nothing stays.

    A block begins at the start of a line or right behind another one, and has its closing tag. Other tags are text.
    """
    pieces: list[str] = []
    skipped: list[Skipped] = []
    unclosed: set[str] = set()
    end = at = 0
    while match := (end == at and _NEXT.match(text, at)) or _FIRST.search(text, at):
        at, name = match.end(), match[1]
        if name not in blocks or name in unclosed:
            continue
        if (close := text.find(f"</{name}", at)) < 0 or (bracket := text.find(">", close)) < 0:
            unclosed.add(name)
            continue
        kept = blocks[name](text[at:close])
        pieces += (text[end : match.start()], kept)
        skipped += [] if kept else [Skipped(location, f"<{name}>", SkipReason.METADATA)]
        end = at = bracket + 1
    if not pieces:
        return text, []
    return "\n".join(piece.strip() for piece in (*pieces, text[end:]) if piece.strip()), skipped


def read_blocks(
    content: Any, words: Callable[[str, str], tuple[str, list[Skipped]]], location: str, known: Mapping[str, SkipReason]
) -> tuple[str, list[Skipped]]:
    """Returns the words of a message's content, and what is left out of it.

    A message without words is a line for each picture and file. Blocks of the `known` kinds are left out for a reason;
    EMPTY: the caller reads them.
    """
    parts: list[str] = []
    media: list[str] = []
    skipped: list[Skipped] = []
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else as_list(content)
    for block in map(as_object, blocks):
        kind = as_string(block.get("type"))
        if kind in {"text", "input_text", "output_text"}:
            part, app_blocks = words(as_string(block.get("text")), location)
            parts += [part] if part.strip() else []
            skipped += app_blocks
        elif kind in _MEDIA:
            media.append(_placeholder(block, _MEDIA[kind]))
        elif (reason := known.get(kind, SkipReason.UNKNOWN)) is not SkipReason.EMPTY:
            skipped.append(Skipped(location, kind or "block", reason))
    if parts and media:
        skipped.append(Skipped(location, "picture or file", SkipReason.MEDIA, len(media)))
    return "\n\n".join(parts) or "\n".join(media), skipped


def as_written(text: str, _location: str) -> tuple[str, list[Skipped]]:
    """All of a text, for messages that the app puts nothing into."""
    return text, []


def _placeholder(block: dict[str, Any], label: str) -> str:
    source = as_object(block.get("source"))
    url = as_string(block.get("image_url")) or as_string(source.get("url"))
    head, _, data = url.partition(",") if url.startswith("data:") else ("", "", as_string(source.get("data")))
    media_type = head.removeprefix("data:").partition(";")[0] or as_string(source.get("media_type"))
    given = (block.get("title"), block.get("filename"), "" if head else url.rpartition("/")[2], media_type)
    name = next((name for name in map(as_string, given) if name), "unnamed")
    return (
        f"[{label}: {name}, {format_size(len(data) * 3 // 4 - data[-2:].count('='))}]" if data else f"[{label}: {name}]"
    )
