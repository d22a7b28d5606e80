"""Rewrites key sequences of the kitty keyboard protocol into the subset that Textual's parser reads.

Textual knows no alternate keys, no event types and no code points outside Unicode: `int("97:65")` ends its parser.
https://sw.kovidgoyal.net/kitty/keyboard-protocol/
"""

import re
import sys
from typing import Final

IGNORED: Final = ""
_RELEASE: Final = "3"  # event type
_SHIFT: Final = 0b1
_SHORTCUT: Final = 0b111110  # Alt, Ctrl, Super, Hyper, Meta; above them are the locks
_KEY: Final = re.compile(
    r"\x1b\[(?P<code>[0-9]*)(?::(?P<shifted>[0-9]*))?(?::(?P<base>[0-9]*))?"
    r"(?:;(?P<modifiers>[0-9]*)(?::(?P<event>[0-9]*))?(?:;(?P<text>[0-9:]*))?)?(?P<rest>[0-9:;]*)(?P<end>[u~ABCDEFHPQRS])"
)
# The US key at the place of each letter, for terminals that do not report it.
_LETTERS: Final = {
    "йцукенгшщзхъфывапролджэячсмитьбю": "qwertyuiop[]asdfghjkl;'zxcvbnm,.",  # Russian
    "їіє": "]s'",  # Ukrainian, where it differs
    "ςερτυθιοπασδφγηξκλζχψωβνμ": "wertyuiopasdfghjklzxcvbnm",  # Greek
    "קראטוןםפשדגכעיחלךזסבהנמצתץ": "ertyuiopasdfghjklzxcvbnm,.",  # Hebrew
}
_BASE: Final = {
    ord(letter): ord(key) for letters, keys in _LETTERS.items() for letter, key in zip(letters, keys, strict=True)
}


def simple_key(sequence: str) -> str:
    """The sequence without alternates and event type, and with the base layout's key in shortcuts. IGNORED for a
    release and for what the protocol does not have; a sequence that is no key is returned unchanged."""
    if (key := _KEY.fullmatch(sequence)) is None:
        return sequence
    code, shifted, base, modifiers, event, text, rest, end = key.groups(default="")
    bits = max(int(modifiers or "1") - 1, 0)
    if rest or event == _RELEASE or not all(map(_is_character, filter(None, (code, *text.split(":"))))):
        return IGNORED
    if end == "u" and bits & _SHORTCUT and int(code or "1") > 0x7F:
        code = base or str(_BASE.get(int(code), int(code)))
    if end == "u" and bits & _SHIFT and not bits & _SHORTCUT and shifted and not text:
        text = shifted
    fields = (code, modifiers, text) if text else (code, modifiers) if modifiers else (code,)
    return f"\x1b[{';'.join(fields) if any(fields) else ''}{end}"


def _is_character(code: str) -> bool:
    return int(code) <= sys.maxunicode and not 0xD800 <= int(code) <= 0xDFFF  # surrogates cannot be stored
