"""Dialog that asks before a conversation is deleted."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.dialogs.confirm import ProposalScreen
from tui.dialogs.sheet import PAGE_KEYS


class DeleteScreen(ProposalScreen, inherit_bindings=False):
    """Gives whether it is to be deleted. Enter answers nothing: a deletion has no undo."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *PAGE_KEYS,
        Binding("y", "answer(True)", "Delete it for good", show=False),
        Binding("escape,n,ctrl+c", "answer(False)", "Leave it", show=False),
    ]
    keys = "y deletes it for good · Esc leaves all as it is"
