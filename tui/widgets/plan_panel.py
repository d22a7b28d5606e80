"""Panel above the prompt: the model's plan.

It appears when the plan changes and stays while any step is open; a plan that is done leaves with its turn. F4 or a
click hides it, F4 brings it back. On a low screen, and in a later turn that does not change it, it is one line, with
the present step.
"""

from typing import TYPE_CHECKING, Final

from rich.text import Text
from textual.widgets import Static

from foundation.terminal_text import visible_line
from tui.typed_app import theme_colour

if TYPE_CHECKING:  # loaded after first paint
    from context.checklist import Checklist, PlanStep

KEYS: Final = "F4 hides it"
MAX_ROWS: Final = 5  # of steps; the others are counted
LOW_SCREEN: Final = 16  # rows; a screen with fewer keeps them for the conversation and the prompt
DONE, DOING = "done", "doing"
_MARKS: Final = {"pending": "○", DOING: "▸", DONE: "●"}


class PlanPanel(Static):
    """The steps around the present one, a row each."""

    def __init__(self) -> None:
        super().__init__(id="plan", markup=False)
        self._plan: Checklist | None = None
        self._is_shown = False
        self._is_low = False  # whether the screen has few rows
        self._is_old = False  # whether a turn began since the plan changed
        self._is_elsewhere = False  # whether the panel beside the conversation shows the plan
        self.display = False

    def show(self, plan: "Checklist | None") -> None:
        """Shows a stored plan, or hides the panel where nothing of it is open."""
        self._plan, self._is_old = plan, False
        self._set_shown(is_shown=plan is not None and plan.is_open)
        self._draw()

    def update_plan(self, plan: "Checklist") -> None:
        """Shows the plan that the model gave, also where it is done; one that was hidden, if it changed."""
        self._set_shown(is_shown=self._is_shown or plan != self._plan)
        self._plan, self._is_old = plan, False
        self._draw()

    def begin_turn(self) -> None:
        """Folds a plan of an earlier turn to one line, until it changes or F4 brings it back."""
        self._is_old = True
        self._draw()

    def end_turn(self) -> None:
        """Hides a plan that is done."""
        if self._plan is not None and not self._plan.is_open:
            self._set_shown(is_shown=False)

    def toggle(self) -> None:
        """Hides the plan, or shows it again with its steps."""
        self._is_old = self._is_old and self._is_shown
        self._draw()
        self._set_shown(is_shown=self._plan is not None and not self._is_shown)

    def set_elsewhere(self, *, is_elsewhere: bool) -> None:
        """Hides the plan while the panel beside the conversation shows it."""
        self._is_elsewhere = is_elsewhere
        self._set_shown(is_shown=self._is_shown)

    def fit(self, rows: int) -> None:
        """Folds the plan to one line on a screen with few rows."""
        self._is_low = rows < LOW_SCREEN
        self._draw()

    def _set_shown(self, *, is_shown: bool) -> None:
        self._is_shown = is_shown
        self.display = is_shown and not self._is_elsewhere

    def on_click(self) -> None:
        self.toggle()

    def on_resize(self) -> None:
        self._draw()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._draw()  # its colours are those of the theme

    def _draw(self) -> None:
        if self._plan is None:
            return
        steps = self._plan.steps
        if self._is_low or self._is_old:
            self.update(Text(_one_line(self._plan), theme_colour(self, "muted"), no_wrap=True, overflow="ellipsis"))
            return
        shown = _shown_steps(steps)
        hidden = f", {len(steps) - len(shown)} not shown" if len(shown) < len(steps) else ""
        text = Text(
            f"plan  {self._plan.done} of {len(steps)} done{hidden} · {KEYS}", theme_colour(self, "muted"), no_wrap=True
        )
        for step in shown:
            style = "" if step.state == DOING else theme_colour(self, "muted")
            text.append(f"\n{_MARKS[step.state]} {visible_line(step.text)}", style)
        text.overflow = "ellipsis"
        self.update(text)


def _one_line(plan: "Checklist") -> str:
    present = next((step for step in plan.steps if step.state != DONE), None)
    step = f" · {_MARKS[present.state]} {visible_line(present.text)}" if present else ""
    return f"plan  {plan.done} of {len(plan.steps)} done{step}"


def _shown_steps(steps: "tuple[PlanStep, ...]") -> "tuple[PlanStep, ...]":
    """At most MAX_ROWS of the steps: the first that is not done, the one before it, and those after."""
    current = next((number for number, step in enumerate(steps) if step.state != DONE), 0)
    first = max(0, min(current - 1, len(steps) - MAX_ROWS))
    return steps[first : first + MAX_ROWS]
