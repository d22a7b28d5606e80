"""State of the Vim keys between two keys, and the grammar of commands."""

from enum import StrEnum
from functools import cache
from typing import Any, Final

from msgspec import Struct

from tui.widgets.prompt.vim.motions import Find


class VimMode(StrEnum):
    INSERT = "INSERT"
    NORMAL = "NORMAL"
    VISUAL = "VISUAL"
    VISUAL_LINE = "V-LINE"

    @property
    def is_visual(self) -> bool:
        return self in (VimMode.VISUAL, VimMode.VISUAL_LINE)


class Effect(StrEnum):
    """What the editor does besides."""

    NONE = "none"
    UNUSED = "unused"  # the key means what it means without Vim keys
    UNDO = "undo"
    REDO = "redo"
    HISTORY_BACK = "history back"
    HISTORY_FORWARD = "history forward"


class Register(Struct, frozen=True):
    """What was deleted or copied last."""

    text: str = ""
    linewise: bool = False


class Change(Struct, frozen=True):
    """A change that `.` makes again: its keys without the count, and what was typed."""

    keys: str
    count: int = 1
    inserted: str = ""


class Insertion(Struct, frozen=True):
    """What surrounds the text that is being typed, and the change that began it."""

    before: str
    after: str
    change: Change


class VimState(Struct, frozen=True):
    mode: VimMode = VimMode.INSERT
    pending: str = ""  # keys of a command that is not complete
    column: int | None = None  # cells that j and k keep to
    anchor: int = 0  # the other end of the selection, an offset in the text
    register: Register = Register()
    find: Find | None = None
    change: Change | None = None
    insertion: Insertion | None = None

    @property
    def label(self) -> str:
        """The mode and the keys of an incomplete command, for the status line."""
        return f"{self.mode} {self.pending}".rstrip()


class Step(Struct, frozen=True):
    """The text and the cursor (an offset) after a key."""

    text: str
    cursor: int
    state: VimState
    effect: Effect = Effect.NONE
    count: int = 1


SAME_KEYS: Final = {
    "left": "h",
    "backspace": "h",
    "right": "l",
    " ": "l",
    "down": "j",
    "up": "k",
    "home": "0",
    "end": "$",
    "delete": "x",
}
SHORTER: Final = {"x": "dl", "X": "dh", "D": "d$", "C": "c$", "s": "cl", "S": "cc", "Y": "yy"}
_MOTION: Final = r"(?P<motion>[hjklwbeWBE0^$G{};,]|gg|[fFtT].)"
_OBJECT: Final = r"(?P<object>[ia][wWp\"'`()\[\]{}<>bB])"
_COUNT: Final = r"(?P<count>[1-9][0-9]*)?"
_NORMAL: Final = (
    rf"{_COUNT}(?:(?P<operator>[dcy])(?P<count>[1-9][0-9]*)?(?:(?P<lines>(?P=operator))|{_OBJECT}|{_MOTION})"
    rf"|{_MOTION}|r(?P<new>.)|(?P<simple>[xXDCYsSpPoOaAiIJ~u.vV]))"
)
_VISUAL: Final = rf"{_COUNT}(?:{_OBJECT}|{_MOTION}|r(?P<new>.)|(?P<simple>[dxcsyXDCYSRJ~uUpPovV]))"


class VimCommand(Struct, frozen=True, kw_only=True):
    """A complete command; "" for what it has not. `count` is 0 where none was typed."""

    count: int
    keys: str  # without counts
    operator: str = ""
    motion: str = ""
    object: str = ""
    simple: str = ""
    new: str = ""  # the character of r
    lines: bool = False

    @property
    def times(self) -> int:
        return max(self.count, 1)


MAX_COUNT: Final = 10_000


def parsed(pending: str, *, visual: bool) -> VimCommand | bool | None:
    """The command that the keys make; True for the beginning of one, None for none."""
    match = _pattern(visual=visual).fullmatch(pending, partial=True)
    if match is None:
        return None
    if match.partial:
        return True
    found = {name: values[-1] if values else "" for name, values in match.capturesdict().items()}
    counts = [min(int(number[:8]), MAX_COUNT) for number in match.capturesdict()["count"]]
    count = 1
    for number in counts:
        count = min(count * number, MAX_COUNT)
    operator, new = found.get("operator", ""), found["new"]
    rest = found.get("lines") or found["object"] or found["motion"] or found["simple"] or (f"r{new}" if new else "")
    return VimCommand(
        count=count if counts else 0,
        keys=operator + rest,
        operator=operator,
        motion=found["motion"],
        object=found["object"],
        simple=found["simple"],
        new=new,
        lines=bool(found.get("lines")),
    )


@cache
def _pattern(*, visual: bool) -> Any:
    import regex

    return regex.compile(_VISUAL if visual else _NORMAL)
