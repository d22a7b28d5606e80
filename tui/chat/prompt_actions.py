"""What the prompt asks of the screen: an editor of its own, and the list of what was typed before."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tui.dialogs.choices import ChoiceItem, ChoicesScreen
from tui.editor import edited_text
from tui.typed_app import app_of

if TYPE_CHECKING:
    from tui.widgets.prompt.input import Prompt

BUSY: Final = "The editor cannot open during an answer. Esc stops the answer."


async def choose_earlier(prompt: "Prompt", entries: Sequence[str]) -> None:
    """Lists what was typed before, newest first; puts the chosen one into the prompt."""
    entries = list(dict.fromkeys(reversed(entries)))
    items = [ChoiceItem(str(number), entry) for number, entry in enumerate(entries)]
    choice = await app_of(prompt).push_screen_wait(ChoicesScreen("Prompt history", items))
    if choice is not None:
        prompt.replace_text(entries[int(choice)])


def edit_in_editor(prompt: "Prompt", *, is_idle: bool) -> None:
    """Opens the prompt's text in VISUAL or EDITOR, and takes over what was saved. Blocks until the editor is left."""
    if not is_idle:
        prompt.notify(BUSY, timeout=5)
        return
    edited, failure = edited_text(prompt, prompt.full_text)
    if failure:
        prompt.notify(failure, severity="warning")
    elif edited is not None:
        prompt.set_text(edited.removesuffix("\n"))
