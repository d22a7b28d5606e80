"""The one way of foreign text to the terminal.

A model, a tool, a file or a memory can carry escape sequences that copy to the clipboard, rename the window, erase
the screen, turn the reading direction or hide words. Here they become glyphs that a person sees. A terminal then
has nothing left to obey.
"""

import re

from foundation.lazy_pattern import lazy_pattern

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_DIRECTIONS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_LINE_ENDS = "\u2028\u2029"
_INVISIBLE = (
    "\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
_FILLERS = "\u115f\u1160\u3164\uffa0"  # blank, though they count as letters
_TAGS = "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
_SURROGATES = "\ud800-\udfff"

_EMOJI = "\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff"
# Scripts whose spelling needs the joiners: Arabic to Samaritan, the Indic ones, Tibetan, Myanmar, Khmer, Mongolian …
_JOINING = (
    "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1a20-\u1aaf\ua840-\uabff"
    "\ufb50-\ufdff\ufe70-\ufefe\U00010a00-\U00011fff"
)
_MONGOLIAN = "\u1807\u180a\u1820-\u18aa\u200d"  # letters whose form a selector chooses
_FORMS = "\u180b-\u180d\u180f"  # these selectors
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

FORBIDDEN = _CONTROLS + _DIRECTIONS + _LINE_ENDS + _INVISIBLE + _FILLERS + _TAGS + _SURROGATES
"""The code points that never reach a terminal, as the inside of a regular expression's set."""

_SUSPECT = re.compile(
    f"[{FORBIDDEN}{_FORMS}\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)  # one set: three times as fast
_HIDDEN_SOURCE = (
    "\r\n"
    f"|[{FORBIDDEN}]"
    # a zero-width joiner stays between two emoji and after a letter that needs it; a non-joiner after such a letter
    f"|\u200d(?<![{_JOINING}]\u200d)(?!(?<=[{_EMOJI}]\u200d)[{_EMOJI}])"
    f"|\u200c(?<![{_JOINING}]\u200c)"
    # variation selectors choose a glyph for one character; a run of them carries hidden bytes
    "|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
    f"|[{_FORMS}](?<![{_MONGOLIAN}][{_FORMS}])"
    f"|[\U000e0100-\U000e01ef](?<![{_HAN}][\U000e0100-\U000e01ef])"
)

_UNDECIDED = ("\r", "\u200d")  # what they become depends on the next character

_COLOURS = re.compile(r"\x1b\[[0-9;:]*m")
_HIDDEN = lazy_pattern(_HIDDEN_SOURCE)
# Soft hyphens, grapheme joiners and blanks that are no space to a shell: fit for prose, misleading in a command.
_IN_PROSE = "\u00a0\u00ad\u034f\u1680\u2000-\u200a\u202f\u205f\u2800\u3000"
_SELECTED = f"{_EMOJI}{_HAN}\u00a9\u00ae\u203c\u2049\u2122\u2139\u3030\u303d\u3297\u3299#*0-9\u1000-\u109f"
_SUSPECT_IN_CODE = lazy_pattern(f"[{_IN_PROSE}]|[\ufe00-\ufe0f](?<![{_SELECTED}][\ufe00-\ufe0f])")
_UNTYPED = lazy_pattern(
    f'{_HIDDEN_SOURCE}|["\n\t]|⟨(?=U\\+[0-9A-F]{{4,6}}⟩)'
)  # what could be read as a number is one too
_NUMBER = re.compile(r"⟨U\+(0[0-9A-F]{4}|10[0-9A-F]{4}|[0-9A-F]{4,5})⟩")


def visible(text: str) -> str:
    """The text with every control, escape, direction and hidden character made a glyph; `\\n` and `\\t` stay.

    ESC is `␛`, other C0 controls their picture (`␇`), C1 controls the escape that they abbreviate (`␛[`), the rest
    their number (`⟨U+202E⟩`). `\\r\\n` becomes `\\n`. Text without any of these comes back as it is, the same object.
    """
    if _SUSPECT.search(text) is None:
        return text
    return _HIDDEN.sub(_glyph, text)


class VisiblePieces:
    """`visible` of a text that comes in pieces: what the shown pieces give together is what the whole gives.

    A joiner or a carriage return at the end of a piece waits for the next one, whose first character decides.
    """

    def __init__(self) -> None:
        self._before = ""  # the last character that was shown: what a joiner or a selector follows
        self._waiting = ""

    def take(self, piece: str) -> str:
        """The visible text of the piece, without an end that waits."""
        text = self._waiting + piece
        self._waiting = text[-1:] if text[-1:] in _UNDECIDED else ""
        return self._show(text[: len(text) - len(self._waiting)])

    def end(self) -> str:
        """The visible text of what waits: nothing follows it."""
        waiting, self._waiting = self._waiting, ""
        shown = self._show(waiting)
        self._before = ""
        return shown

    def _show(self, text: str) -> str:
        before = self._before
        self._before = text[-1:] or before
        if _SUSPECT.search(text) is None:
            return text
        matches = _HIDDEN.sub(lambda match: _glyph(match) if match.start() >= len(before) else match[0], before + text)
        return matches[len(before) :]


def without_colours(text: str) -> str:
    """The text of a program without the sequences that choose colours and weights; all others stay, for `visible`."""
    return _COLOURS.sub("", text) if "\x1b[" in text else text


def visible_line(text: str) -> str:
    """The visible text on one line: every run of white space is one space."""
    return " ".join(visible(text).split())


def visible_code(text: str) -> str:
    """The visible text of a command line, a path, an address or a rule.

    Also made a number are the characters that prose may have, but that hide or separate words of a command: soft
    hyphens, blanks other than the space, and variation selectors where there is nothing to select.
    """
    return _SUSPECT_IN_CODE.sub(_glyph, visible(text))


def visible_code_line(text: str) -> str:
    """The same on one line: every run of spaces, tabs and line ends is one space."""
    return " ".join(visible_code(text).split())


def hidden_count(text: str) -> int:
    """How many characters `visible` shows as something else; a line end `\\r\\n` counts as one."""
    return 0 if _SUSPECT.search(text) is None else sum(1 for _ in _HIDDEN.finditer(text))


def escape_name(name: str) -> str:
    """A name that can be typed back: every hidden character, line end and quotation mark as its number
    (`a⟨U+001B⟩c.txt`). `unescape_name` is the inverse."""
    return _UNTYPED.sub(lambda match: "".join(f"⟨U+{ord(character):04X}⟩" for character in match.group()), name)


def unescape_name(typed: str) -> str:
    """The name behind what `escape_name` gave."""
    return _NUMBER.sub(lambda match: chr(int(match[1], 16)), typed)


def _glyph(match: re.Match[str]) -> str:
    found = match.group()
    if found == "\r\n":
        return "\n"
    code = ord(found)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if code < 0xA0:
        return "␛" + chr(code - 0x40)
    return f"⟨U+{code:04X}⟩"


def fenced(text: str, language: str = "text") -> str:
    """The text as a Markdown code block, with a fence longer than any within it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"
