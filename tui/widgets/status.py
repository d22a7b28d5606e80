"""Status bar: model, context, speed and the current activity."""

from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs
from rich.cells import cell_len
from rich.text import Text
from textual.message import Message
from textual.widget import Widget

from foundation.figures import elapsed, percent, short_count
from foundation.terminal_text import visible
from tui.typed_app import theme_colour

if TYPE_CHECKING:  # loaded with the first request
    from context.report import ContextReport

GAP: Final = " · "
NEAR: Final = 0.9  # of the tokens at which older turns leave: from there on they are shown
FEW_SECONDS: Final = 2  # which are not shown
NEW_BELOW: Final = "↓ new · Ctrl+End"
COMPACTION_DUE: Final = "compacts with the next message"
OFFLINE: Final = "offline"  # quotes memory and has no window
MORE_BELOW: Final = "↓ more · Ctrl+End"


class StatusInfo(Struct, frozen=True, kw_only=True):
    """The fields of the status bar. 0 and "" are not shown."""

    model: str = ""
    tokens: int = 0  # of the request
    budget: int = 0
    compacts_at: int = 0  # tokens of a request from which on older turns leave
    is_compaction_due: bool = False  # older turns leave before the next request
    speed: float = 0.0  # tokens a second
    doing: str = ""  # the current activity
    seconds: int = 0  # since the turn began, beside the current activity
    working: str = ""  # the background activity
    waiting: int = 0  # messages queued
    mode: str = ""  # what tools may do, "" before that is known; not shown where the workspace is read-only
    vim: str = ""  # the mode of the Vim keys and an incomplete command
    read_only: bool = False  # the workspace is not trusted
    hint: str = ""  # what a key does next; shown in place of the activity


class StatusBar(Widget):
    """Shows all fields if there is room, otherwise the most important ones."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self.info = StatusInfo()

    def update_info(self, **changes: object) -> None:
        """Changes some fields."""
        fresh = structs.replace(self.info, **changes)
        if fresh != self.info:
            self.info = fresh
            self.refresh()

    def show_request(self, report: "ContextReport") -> None:
        """Shows the figures of a request."""
        self.update_info(
            tokens=report.before_compaction or report.total_tokens,
            budget=report.budget,
            compacts_at=report.compacts_at,
            is_compaction_due=bool(report.before_compaction),
        )

    def render(self) -> Text:
        left, right = fit_line(self.info, self.size.width)
        space = " " * max(self.size.width - cell_len(left) - cell_len(right), 0)
        text = Text(left + space, no_wrap=True, overflow="ellipsis", end="")
        activity = self.info.hint or self.info.doing
        return text.append(right, theme_colour(self, "accent-ink") if activity else "")


class NewBelowHint(Widget):
    """Hint that there are new lines, or entries to load, below the visible ones. A click scrolls to the end."""

    class NewBelowClicked(Message):
        """The user clicked the hint."""

    def __init__(self) -> None:
        super().__init__(id="newer")
        self._label = ""

    def show(self, label: str) -> None:
        """Shows this; "" hides the hint."""
        self._label = label
        self.refresh()

    def render(self) -> Text:
        label = self._label.rjust(self.size.width) if self._label else ""
        return Text(label, f"bold {theme_colour(self, 'accent-ink')}", no_wrap=True, end="")

    def on_click(self) -> None:
        if self._label:
            self.post_message(self.NewBelowClicked())


def fit_line(info: StatusInfo, width: int) -> tuple[str, str]:
    """The left and the right end of the line, together at most `width` cells."""
    model = visible(short_model(info.model))
    meter = "" if info.model == OFFLINE else context_meter(info.tokens, info.budget)
    share = meter.partition(" (")[0]
    if meter and (mark := compaction_mark(info)):
        meter, share = f"{meter}{GAP}{mark}", f"{share}{GAP}{mark}"
    speed = f"{info.speed:.0f} tok/s" if info.speed else ""
    queued = f"{info.waiting} waiting" if info.waiting else ""
    doing = visible(info.hint or _with_seconds(info.doing, info.seconds) or info.working)
    permission = "read-only" if info.read_only else info.mode and f"mode {info.mode}"
    access = GAP.join(part for part in (info.vim, permission) if part)
    for left in (
        (access, model, meter, speed, queued),
        (access, model, meter, queued),
        (access, model, share, queued),
        (access, share, queued),
        (access, share),
        (access,),
    ):
        line = GAP.join(part for part in left if part)
        if cell_len(line) + (cell_len(doing) + 2 if doing else 0) <= width:
            return line, doing
    return "", clip(doing or share, width)


def _with_seconds(doing: str, seconds: int) -> str:
    """`answering · 12 s · Esc stops`."""
    if not (doing and seconds):
        return doing
    activity, gap, keys = doing.rpartition(GAP)
    return GAP.join((activity, elapsed(seconds), keys)) if gap else f"{doing}{GAP}{elapsed(seconds)}"


def shown_seconds(seconds: float) -> int:
    """Whole seconds; 0, which is not shown, while they are few."""
    return int(seconds) if seconds >= FEW_SECONDS else 0


def short_model(spec: str) -> str:
    """The model's own name: `openai:Qwen/qwen3@http://…` is `qwen3`; /status shows the full name."""
    provider, separator, name = spec.partition("@")[0].partition(":")
    return (name if separator else provider).rpartition("/")[2]


def context_meter(tokens: int, budget: int) -> str:
    """`context 42.0 % (4.2k/10.0k)`; "" before the first request."""
    if not budget:
        return ""
    return f"context {percent(tokens / budget)} ({short_count(tokens)}/{short_count(budget)})"


def compaction_mark(info: StatusInfo) -> str:
    """`compacts at 40.0 %` where the request is near it, `compacts with the next message` where it is above."""
    if info.is_compaction_due:
        return COMPACTION_DUE
    if not info.budget or info.tokens < info.compacts_at * NEAR or not info.compacts_at:
        return ""
    return f"compacts at {percent(info.compacts_at / info.budget)}"


def clip(text: str, width: int) -> str:
    """At most `width` cells, with an ellipsis at the end if the text was cut."""
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    shown = Text(text)
    shown.truncate(width, overflow="ellipsis")
    return shown.plain
