"""Escaping of lines that a mirror would parse as its own: a backslash is added before them, and removed on reading.

    ## 2026-11-22 07:30 · user <!-- e_4vfb… -->     in an answer      \\## 2026-11-22 07:30 · user <!-- e_4vfb… -->
    *(cut off here)*                                 in an answer      \\*(cut off here)*

A line that begins with backslashes already gets one more, so that every text is restored exactly.
"""

import re

FORMAT = "format: 2"
"""The line of a mirror's head which says that its texts are escaped. Mirrors of before 0.3.1 have none."""

CUT = "*(cut off here)*"

_LOOKALIKE = re.compile(r"^(?=\\*(?:## \d{4}-\d\d-\d\d \d\d:\d\d · |\*\(cut off here\)\*$))", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(?=\\*(?:## \d{4}-\d\d-\d\d \d\d:\d\d · |\*\(cut off here\)\*$))", re.MULTILINE)


def escaped(text: str) -> str:
    """The text with a backslash before each line that looks like a turn's heading or end."""
    return _LOOKALIKE.sub(r"\\", text)


def unescaped(text: str) -> str:
    """The original of an `escaped` text."""
    return _ESCAPED.sub("", text)
