"""What the search says in its margins: keys, figures, why it waits."""

from typing import TYPE_CHECKING, Final

from foundation.program import PROGRAM

if TYPE_CHECKING:  # loaded when memory is searched
    from agent.services.browse import BrowsePage

KEYS: Final = "Enter goes there · Ctrl+Y cites · Ctrl+O opens · Ctrl+S why · Esc leaves"
KEYS_IN_LIST: Final = "Enter goes there · y cites · o opens · s why · Tab the field · Esc leaves"
NOT_YET: Final = "Nothing so far. What is remembered is still being read; it goes on looking by itself."
BUSY: Final = "An answer is under way. Ctrl+O shows the passage here; Esc in the chat stops the answer."


def figures(found: "BrowsePage") -> str:
    """How much was found, and in what time; how much of memory is read where that goes on."""
    if found.reading is not None:
        return f"{found.total:,} found so far · {100 * found.reading:.0f} % of memory is read"
    damaged = f"{len(found.damaged):,} pages are damaged" if len(found.damaged) != 1 else "a page is damaged"
    if found.damaged:
        return f"{found.total:,} found · {damaged}: `{PROGRAM} check --repair`"
    near = "found" if found.sure else "lie near, none surely answers"
    return f"{found.total:,} {near} · {found.took_ms:,.0f} ms" if found.total else ""
