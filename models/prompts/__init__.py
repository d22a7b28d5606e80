"""The sentences that a model reads, as Markdown beside this file: a page a subject, a section (`## name`) a text.

A page without sections is one text. HTML comments are notes for whoever edits the pages, and are never sent.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent  # importlib.resources would load zipfile before the first frame
_COMMENT: Final = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_SECTION: Final = re.compile(r"^## +(\S+)[^\n]*\n", re.MULTILINE)


def prompt(page: str, section: str = "") -> str:
    """The text of `page`.md, or of its section. Raises KeyError for an unknown section."""
    return _sections(page)[section]


@cache
def _sections(page: str) -> dict[str, str]:
    text = _COMMENT.sub("", (_FOLDER / f"{page}.md").read_text("utf-8"))
    first, *rest = _SECTION.split(text)
    return {"": first.strip()} | {name: body.strip() for name, body in zip(rest[::2], rest[1::2], strict=True)}
