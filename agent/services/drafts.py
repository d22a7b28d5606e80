"""Drafts: the text in the prompt, a file per conversation; and the marks around what was pasted into a text."""

import re
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.services.forgotten_words import without_forgotten
from foundation.files import child, exists, make_private_folder, read_text, remove, write_atomically
from foundation.paths import draft_name
from foundation.privacy import Cleared, clear
from foundation.terminal_text import visible

NEW: Final = "new"  # the draft of a conversation that has not begun
OPENING: Final = "opening"  # what is typed before it is known which conversation opens
DRAFTS_AT_MOST: Final = 20  # of one conversation: a draft per window
PASTE_BEGINS: Final = "<!-- palimpsest: paste -->"
PASTE_ENDS: Final = "<!-- palimpsest: end of paste -->"
_PASTED: Final = re.compile(f"{PASTE_BEGINS}(.*?){PASTE_ENDS}", re.DOTALL)
_REWRITES: Final = re.compile(r"<!-- rewrites (\S{1,200}) -->\n")  # the first line of a draft that rewrites a message


def without_marks(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without the marks around what was pasted, and the pasted texts."""
    pastes = tuple(_PASTED.findall(text))
    return (_PASTED.sub(lambda pasted: pasted[1], text), pastes) if pastes else (text, ())


def clear_marked(marked: str) -> Cleared:
    """The text as it may be stored, with its marks where nothing is taken out: a mark would hide that a pasted secret
    goes on with what was typed before it, or is named there."""
    text, pastes = without_marks(marked)
    cleared = clear(text)
    return clear(marked) if pastes and cleared == text else cleared


def numbered(conversation: str) -> tuple[str, ...]:
    """The names that drafts of a conversation may have, of its first window first."""
    return (conversation, *(f"{conversation}-{number}" for number in range(2, DRAFTS_AT_MOST + 1)))


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
        text = without_forgotten(self._folder.parent, text)
        if not text.strip():
            if exists(path):  # a read-only file system refuses to remove even what is not there
                remove(path, missing_ok=True)
            return
        make_private_folder(self._folder)
        write_atomically(path, clear_marked(f"<!-- rewrites {rewrites} -->\n{text}" if rewrites else text))

    def has(self, conversation: str) -> bool:
        """Whether a draft is stored."""
        return exists(self._path(conversation))

    def load(self, conversation: str) -> Draft:
        """The draft, an empty one where there is none. Raises OSError and PalimpsestError."""
        path = self._path(conversation)
        text = read_text(path, owned=True) if exists(path) else ""
        mark = _REWRITES.match(text)
        text = visible(text[mark.end() :] if mark else text)
        plain, pastes = without_marks(text)
        return Draft(plain, mark[1] if mark else "", pastes)

    def _path(self, conversation: str) -> Path:
        return child(self._folder, draft_name(conversation))
