"""Lines that arrive at once are a paste, also from a terminal that puts no brackets around it.

`tmux paste-buffer` without -p types the lines, an Enter after each: 200 of them sent 152 messages, and the screen stood
still for 15 seconds. Of coloured lines each was sent too, and one that began with "!" ran in the shell.
"""

import re
from time import monotonic
from typing import Final

from msgspec import Struct

LEAST_LINES: Final = 2  # with text, in one go: Enter and what was typed before it is one
SILENCE_S: Final = 0.1  # after which nothing more of a paste comes: a terminal writes it in one go
JOINED_S: Final = 0.03  # between two reads of one paste, at most; nobody types as fast
LEAST_TEXT: Final = 2  # characters in one read, where it may be the beginning of a paste
_ANY_TEXT: Final = "x" * LEAST_TEXT
_LINE_END: Final = re.compile(r"\r\n?|\n")
_COLOURED: Final = re.compile(r"\x1b\[[0-9;:]*m")  # of no key, and no answer
SEQUENCE: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P_^X][^\x07\x1b]*(?:\x07|\x1b\\)|O.|.|\Z)", re.DOTALL
)  # a key, or one with Alt
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
REPORT: Final = re.compile(
    r"\x1b\[(?:"
    r"<\d+;-?\d+;-?\d+[mM]|M[\s\S]{3}"  # the mouse
    r"|[IO]"  # the focus
    r"|\?\d+;\d+\$y|\?997;[12]n|[?>=][\d;]*[cu]"  # modes, light or dark, what the terminal is
    r"|48;\d+[\d:]*;\d+[\d:]*;\d+[\d:]*;\d+[\d:]*t|[468];\d+;\d+t|\d+;\d+R"  # sizes, the cursor's place
    r")|\x1b\][\d;]*rgba?:[^\x07\x1b]*(?:\x07|\x1b\\)"  # colours
    r"|\x1b(?:_G|P[\d>!+$])[^\x07\x1b]*\x1b\\"  # pictures, and what it can do
)
"""What a terminal sends by itself or when it is asked: it may come in between of what is typed or pasted."""


class BurstInput(Struct, frozen=True):
    """Input that was kept: a paste, or keys."""

    text: str = ""
    is_paste: bool = False


class LineBurst:
    """Collects such lines until nothing more of them comes."""

    def __init__(self) -> None:
        self._parts = list[str]()
        self._is_paste = False
        self._follows_text = False  # whether text that came in one read has just been passed on
        self._since = 0.0  # when the last part came, on the monotonic clock

    @property
    def waits(self) -> bool:
        """Whether something ends when nothing more comes."""
        return bool(self._parts) or self._follows_text

    def takes(self, data: str) -> bool:
        """Whether the input is kept until more, or nothing more, has come."""
        self._since = monotonic()
        self._is_paste = self.makes_paste(data)
        if self._is_paste or self._parts or _may_go_on(self._before + data):
            self._parts.append(data)
            return True
        self._follows_text = self._follows_text or len(_text(data).strip()) >= LEAST_TEXT
        return False

    def makes_paste(self, data: str) -> bool:
        """Whether what was kept, and this, is a paste for sure."""
        return self._is_paste or _are_lines("".join([self._before, *self._parts, data]))

    def passes(self) -> None:
        """Text that came in one read is passed on."""
        self._since, self._follows_text = monotonic(), True

    @property
    def _before(self) -> str:
        return _ANY_TEXT if self._follows_text else ""

    def undecided(self) -> str:
        """What was kept and may be keys, which is no longer kept; "" for none, or a paste."""
        return "" if self._is_paste else self.release().text

    def release(self) -> BurstInput:
        """What was kept."""
        kept = BurstInput("".join(self._parts), self._is_paste)
        self._parts, self._is_paste = [], False
        return kept

    def release_whole(self) -> BurstInput:
        """What was kept, where no more of it comes."""
        silence = monotonic() - self._since
        if silence < (SILENCE_S if self._is_paste else JOINED_S):
            return BurstInput()
        self._follows_text = False
        return self.release()


def _are_lines(data: str) -> bool:
    """Whether it is a paste for sure: a line break between two texts, or a colour; Enter held down is none."""
    lines = sum(bool(line.strip()) for line in _LINE_END.split(_text(data)))
    return lines >= LEAST_LINES or (bool(lines) and _COLOURED.search(data) is not None)


def _may_go_on(data: str) -> bool:
    """Whether it may be the first part of a paste: text, and then something that is none."""
    text = _text(data)
    is_entered = bool(_LINE_END.split(text.lstrip())[1:])
    return is_entered or (data != text and len(text.strip()) >= LEAST_TEXT)


def _text(data: str) -> str:
    """The text and line ends of it, without what only keys send."""
    return _CONTROL.sub("", SEQUENCE.sub("", data))
