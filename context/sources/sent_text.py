"""What of a Markdown file of the workspace is sent: not its comments, and no heading with nothing under it.

The comments of the templates are for whoever edits the file; small models repeat them as answers. A comment that is a
note's time stamp is sent.
"""

import re
from typing import Final

_COMMENT: Final = re.compile(r"<!--(?!\s*\d{4}-\d\d-\d\d).*?-->", re.DOTALL)
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r"(#{1,6})(?:\s|$)")


def sent_text(markdown: str) -> str:
    """The text without comments outside code, and without empty sections; "" if nothing else is left."""
    if "<!--" not in markdown and "#" not in markdown:
        return markdown.strip()
    return _without_empty_sections(_without_comments(markdown)).strip()


def _without_comments(markdown: str) -> str:
    pieces: list[str] = []
    for is_code, text in _runs(markdown):
        cleaned = text if is_code else _COMMENT.sub("", text)
        pieces.append(cleaned if cleaned == text else re.sub(r"\n{3,}", "\n\n", cleaned))
    return "".join(pieces)


def _without_empty_sections(markdown: str) -> str:
    """Drops each heading that no text follows before a heading of its own level or above."""
    lines: list[str] = []
    pending: list[tuple[int, int]] = []  # level of each heading without text so far, and its index in `lines`
    for is_code, text in _runs(markdown):
        for line in text.splitlines(keepends=True):
            heading = None if is_code else _HEADING.match(line)
            if heading:
                level = len(heading[1])
                while pending and pending[-1][0] >= level:
                    del lines[pending.pop()[1] :]
                pending.append((level, len(lines)))
            elif line.strip():
                pending.clear()
            lines.append(line)
    if pending:
        del lines[pending[0][1] :]
    return "".join(lines)


def _runs(markdown: str) -> list[tuple[bool, str]]:
    """The text in runs, each with whether it is a fenced code block."""
    runs: list[tuple[bool, list[str]]] = [(False, [])]
    fence = ""
    for line in markdown.splitlines(keepends=True):
        match = _FENCE.match(line)
        if not fence and match:
            fence = match[1]
            runs.append((True, [line]))
            continue
        runs[-1][1].append(line)
        if fence and match and match[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
            runs.append((False, []))
    return [(is_code, "".join(lines)) for is_code, lines in runs]
