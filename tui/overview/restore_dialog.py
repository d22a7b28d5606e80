"""Dialog that shows what restoring a version would change, and asks."""

from textual.app import ComposeResult
from textual.widgets import Static

from tui.dialogs.confirm import ProposalScreen
from tui.widgets.diff import diff_text


class RestoreScreen(ProposalScreen):
    """Gives whether an earlier text is to be restored. `difference` is unified: from the present text to that one.
    `warning` is a sentence above it."""

    keys = "Enter restores it · PgUp PgDn scroll · Esc cancels"

    def __init__(self, title: str, difference: str, warning: str = "") -> None:
        super().__init__(title, ())
        self._difference = difference
        self._warning = warning

    def compose_facts(self) -> ComposeResult:
        if self._warning:
            yield Static(f"{self._warning}\n", markup=False)
        yield Static(diff_text(self._difference, self), id="restore-difference", markup=False)

    def draw_colours(self) -> None:
        self.query_one("#restore-difference", Static).update(diff_text(self._difference, self))
