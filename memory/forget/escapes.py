"""Words through the escapes of JSON: tool arguments are JSON in JSON, and may hold more of it."""

import json
import re
from collections.abc import Iterator
from typing import Final

LEVELS: Final = 4  # the column, the arguments in it, a text in them, and JSON in that
_ESCAPE: Final = re.compile(
    r'\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(["\\/bfnrt]))'
)
_SHORT: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_DIGITS: Final = re.compile(r"(?<=\\u)[0-9a-f]{4}")


def escaped_forms(text: str, levels: int = LEVELS) -> set[str]:
    """How JSON may write the text, with letters of other alphabets as they are or escaped, and that once more."""
    forms, level = set[str](), {text}
    for _ in range(levels):
        level = {json.dumps(form, ensure_ascii=ascii_)[1:-1] for form in level for ascii_ in (True, False)}
        forms |= level
    return forms | {_DIGITS.sub(lambda digits: digits[0].upper(), form) for form in forms}


def unescaped(text: str) -> Iterator[str]:
    """The text as it reads behind one escape, behind two, and so on; nothing where there is none."""
    for _ in range(LEVELS):
        if "\\" not in text or (read := _ESCAPE.sub(_character, text)) == text:
            return
        yield (text := read)


def _character(escape: "re.Match[str]") -> str:
    high, low, code, short = escape.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    return chr(int(code, 16)) if code else _SHORT.get(short, short)
