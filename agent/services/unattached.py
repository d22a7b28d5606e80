"""Mentions in a message that look like a file and name none, so that a slip of the pen is not silent."""

import re
from pathlib import Path
from typing import Final

from agent.services.attachments import MENTION, NAME_ENDS, mentioned_path
from foundation.terminal_text import visible_line

MAX_NAMED: Final = 3
MAX_NAME: Final = 80  # characters of a name in the sentence
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_NAME: Final = re.compile(r"[\w.~][\w.\-/\\~]*")  # no call, no address, no scope of a package
_EXTENSION: Final = re.compile(r"\w\.\w{1,8}$")
_PREFIXES: Final = ("mem:", "chat:")


def unattached_sentence(text: str, here: Path) -> str:
    """`@nofile names no file in …: nothing was attached for it.`; "" where every mention names something. Blocks.

    Code is left out, a line that begins with a mention of several lines (a decorator), and `@scope/package`.
    """
    spans = [match.span() for match in _CODE.finditer(text)]
    names: dict[str, None] = {}
    for match in MENTION.finditer(text):
        name = match[1] or match[2].rstrip(NAME_ENDS)
        is_code = any(begin <= match.start() < end for begin, end in spans)
        if not is_code and (match[1] or _is_meant(name, text, match.start(), here)) and not _exists(name, here):
            names[name] = None
    if not names:
        return ""
    shown = [f"@{visible_line(name)[:MAX_NAME]}" for name in list(names)[:MAX_NAMED]]
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    verb = "names no file" if len(names) == 1 else "name no files"
    return f"{', '.join(shown)}{more} {verb} in {visible_line(str(here))}: nothing was attached for it."


def _is_meant(name: str, text: str, at: int, here: Path) -> bool:
    """Whether a person who wrote this meant a path: a name with an extension or a folder, or a bare word in prose."""
    if not name or name.startswith(_PREFIXES) or not (_NAME.fullmatch(name) or name.startswith("/")):
        return False
    begins_line = "\n" in text.strip() and not text[text.rfind("\n", 0, at) + 1 : at].strip()
    if begins_line:
        return "/" in name
    folder, slash, _ = name.partition("/")
    if not slash or not folder or folder in {".", "..", "~"}:
        return True
    return _EXTENSION.search(name) is not None or _exists(folder, here)


def _exists(name: str, here: Path) -> bool:
    return mentioned_path(name, here, lambda path: path.exists()) is not None
