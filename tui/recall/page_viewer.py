"""A page in the system's viewer, and what is said where it cannot be."""

from typing import TYPE_CHECKING

from textual.widget import Widget

from foundation.errors import PalimpsestError
from tui.internal_errors import in_thread

if TYPE_CHECKING:  # loaded when memory is looked into
    from memory.memory import Memory


async def view_page(screen: Widget, memory: "Memory", page: str) -> None:
    """Opens it; a notice says which, or why not."""
    from agent.services.browse import page_picture
    from tui.images.viewer import open_in_viewer

    try:
        found = await in_thread(page_picture, memory, page)
        await in_thread(open_in_viewer, found.path)
    except PalimpsestError as error:
        said = f"{error.message} {error.hint}".strip()
        screen.notify(said, title=error.title, severity="warning", timeout=10, markup=False)
        return
    screen.notify(f"Opened {found.path.name} in the viewer.", timeout=3, markup=False)
