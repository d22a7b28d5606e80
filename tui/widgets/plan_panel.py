"""Panel above the prompt: the model's plan, while any step of it is open."""

from typing import TYPE_CHECKING, Final

from rich.text import Text
from textual.widgets import Static

from foundation.terminal_text import visible_line
from tui.typed_app import theme_colour

if TYPE_CHECKING:  # loaded after first paint
    from context.checklist import Checklist, PlanStep

MAX_ROWS: Final = 5  # of steps; the others are counted
DONE, DOING = "done", "doing"
_MARKS: Final = {"pending": "○", DOING: "▸", DONE: "●"}


class PlanPanel(Static):
    """The steps around the present one, a row each; hidden without an open plan."""

    def __init__(self) -> None:
        super().__init__(id="plan", markup=False)
        self._plan: Checklist | None = None
        self.display = False

    def show(self, plan: "Checklist | None") -> None:
        """Shows the plan, or hides the panel where nothing of it is open."""
        self._plan = plan
        self.display = plan is not None and plan.is_open
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        if self._plan is None:
            return
        steps = self._plan.steps
        shown = _shown_steps(steps)
        hidden = f", {len(steps) - len(shown)} not shown" if len(shown) < len(steps) else ""
        text = Text(f"plan  {self._plan.done} of {len(steps)} done{hidden}", theme_colour(self, "muted"), no_wrap=True)
        for step in shown:
            style = "" if step.state is DOING else theme_colour(self, "muted")
            text.append(f"\n{_MARKS[step.state]} {visible_line(step.text)}", style)
        text.overflow = "ellipsis"
        self.update(text)


def _shown_steps(steps: "tuple[PlanStep, ...]") -> "tuple[PlanStep, ...]":
    """At most MAX_ROWS of the steps: the first that is not done, the one before it, and those after."""
    current = next((number for number, step in enumerate(steps) if step.state is not DONE), 0)
    first = max(0, min(current - 1, len(steps) - MAX_ROWS))
    return steps[first : first + MAX_ROWS]
