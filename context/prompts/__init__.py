"""The sentences that a model reads in a request, a Markdown file each: read once, without comments and blank ends."""

import re
from functools import cache
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent  # importlib.resources would load zipfile before the first frame
_COMMENT: Final = re.compile(r"<!--.*?-->\n?", re.DOTALL)


@cache
def prompt(name: str) -> str:
    """The text of `name`.md of this folder."""
    return _COMMENT.sub("", (_FOLDER / f"{name}.md").read_text("utf-8")).strip()
