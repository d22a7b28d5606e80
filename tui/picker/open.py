"""Opens the picker for a session, and takes up what was done in it."""

from contextlib import suppress
from typing import TYPE_CHECKING

from textual.screen import Screen

from agent.commands.results import OpenPicker
from agent.commands.tree import changed_files
from memory.errors import NotFound
from tui.picker.browser import PickerChoice, PickerSource
from tui.picker.screen import PickerScreen
from tui.picker.turns import TurnLevel
from tui.typed_app import app_of

if TYPE_CHECKING:
    from agent.session import Session


async def pick(screen: Screen[None], session: "Session", opened: OpenPicker) -> PickerChoice:
    """Shows the picker; gives what the chat does next."""
    from memory.sync.renewal import LocationAccess

    source = PickerSource(
        memory=session.memory,
        locations=LocationAccess(session.config.sync, session.config.environment),
        opened=session.conversation,
        files_of=lambda id_: changed_files(session.checkpoints, id_),
        is_answering=lambda: session.busy,
    )
    level = None
    if opened.level == "turns":
        level = TurnLevel(session.memory, session.branch.opened(), source.files_of, rewrites=opened.rewrites)
    picker = PickerScreen(source, level, opened.query)
    choice: PickerChoice = await app_of(screen).push_screen_wait(picker)
    if session.conversation is not None:
        with suppress(NotFound):  # deleted: the choice has a new one go on
            await session.branch.reload(session.conversation)  # it may have another title, or labels
    return choice
