"""Titles of conversations, made from the first message."""

import re
from typing import Final

MAX_CHARS: Final = 48
_OPENING: Final = re.compile(
    r"(?:(?:hi|hello|hey|please|(?:can|could|would) you(?: please)?)\b[\s,.!]*"
    r"|(?:你好|您好|请问|请|帮我|麻烦你?)[\s，,。]*)+",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s|(?<=[。！？])")


def short_title(text: str) -> str:
    """The first sentence of the first line without its polite opening, cut at a word."""
    line = " ".join(text.split("\n", 1)[0].split())
    if (match := _OPENING.match(line)) and match.end() < len(line):
        line = line[match.end()].upper() + line[match.end() + 1 :]
    title = _SENTENCE_END.split(line, maxsplit=1)[0]
    return title if len(title) <= MAX_CHARS else title[:MAX_CHARS].rsplit(" ", 1)[0] + "…"
