"""Drafts: the text in the prompt, a file per conversation."""

import re
from pathlib import Path
from typing import Final

from msgspec import Struct

from foundation.files import child, exists, make_private_folder, read_text, remove, write_atomically
from foundation.paths import draft_name
from foundation.privacy import clear
from foundation.terminal_text import visible

NEW: Final = "new"  # the draft of a conversation that has not begun
PASTE_BEGINS: Final = "<!-- palimpsest: paste -->"
PASTE_ENDS: Final = "<!-- palimpsest: end of paste -->"
_PASTED: Final = re.compile(f"{PASTE_BEGINS}(.*?){PASTE_ENDS}", re.DOTALL)
_REWRITES: Final = re.compile(r"<!-- rewrites (\S{1,200}) -->\n")  # the first line of a draft that rewrites a message


class Draft(Struct, frozen=True):
    """A draft. `rewrites` is the id of the message that it was to replace, "" for none. `pastes` are the texts that
    were pasted into it.
    """

    text: str = ""
    rewrites: str = ""
    pastes: tuple[str, ...] = ()


class Drafts:
    """Storage of drafts, a file per conversation, without private text."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, conversation: str, text: str, rewrites: str = "") -> None:
        """Saves the draft, pasted texts between their marks; an empty one is deleted. Raises OSError."""
        path = self._path(conversation)
        if not text.strip():
            remove(path, missing_ok=True)
            return
        make_private_folder(self._folder)
        write_atomically(path, clear(f"<!-- rewrites {rewrites} -->\n{text}" if rewrites else text))

    def load(self, conversation: str) -> Draft:
        """The draft, an empty one where there is none. Raises OSError and PalimpsestError."""
        path = self._path(conversation)
        text = read_text(path, owned=True) if exists(path) else ""
        mark = _REWRITES.match(text)
        text = visible(text[mark.end() :] if mark else text)
        pastes = tuple(_PASTED.findall(text))
        return Draft(_PASTED.sub(lambda pasted: pasted[1], text), mark[1] if mark else "", pastes)

    def _path(self, conversation: str) -> Path:
        return child(self._folder, draft_name(conversation))
