"""Prompt history: in memory as it was typed, on disk without private text and with marks around what was pasted."""

import json
import threading
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from agent.services.drafts import clear_marked, without_marks
from agent.services.forgotten_words import jobs_of, without_forgotten
from foundation.files import append, encode, exists, is_cut_off, make_private_folder, read_bytes, write_atomically
from foundation.privacy import joined, json_line
from foundation.terminal_text import visible
from tui.widgets.prompt.chips import PastedImage

_FORGETS: Final = "/forget "
MAX_ENTRIES: Final = 1_000  # entries kept; the file may grow to twice as many before it is cut


class PromptHistory:
    """Oldest first. `load` reads the file once, after first paint.

    On the event loop `remember` adds a text, and `write`, in a thread, brings the file up to date. The texts are
    written in the order in which they were added, whichever thread comes first.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries: list[str] = []
        self._pastes: dict[str, None] = {}
        self._images: dict[PastedImage, None] = {}
        self._unwritten: deque[str] = deque()
        self._jobs: tuple[str, ...] = ()  # of forgetting, when the entries were last compared with them
        self._writing = threading.Lock()  # held while the file is read or written

    def move(self, path: Path) -> None:
        """Changes the path of the file."""
        self._path = path

    def load(self) -> None:
        """Reads the file; skips lines that are not a JSON string. Blocks. Raises OSError."""
        with self._writing:
            if not exists(self._path):
                return
            lines = read_bytes(self._path, owned=True).splitlines()
            marked = [text for line in lines if (text := _parse(line))][-MAX_ENTRIES:]
            texts = list(map(without_marks, marked))
            self._entries = [text for text, _ in texts] + self._entries
            self._pastes = dict.fromkeys(paste for _, pastes in texts for paste in pastes) | self._pastes
            if len(lines) > 2 * MAX_ENTRIES:
                write_atomically(self._path, joined(json_line(clear_marked(text)) for text in marked))

    def remember(self, text: str, marked: str = "") -> None:
        """Adds a text, unless it equals the last one; `write` stores it. `marked`: with marks around pastes."""
        if text.strip() and not (self._entries and self._entries[-1] == text):
            self._entries.append(text)
            self._unwritten.append(marked or text)

    def write(self) -> None:
        """Stores the texts that were added, but for `/forget` and its words. Blocks. Raises OSError, with what was not
        stored left for the next time.
        """
        with self._writing:
            while self._unwritten:
                text = self._unwritten[0]
                is_forgotten = without_forgotten(self._path.parent, text) != text  # meanwhile
                if not (is_forgotten or text.startswith(_FORGETS)) and (cleared := clear_marked(text)):
                    make_private_folder(self._path.parent)
                    append(self._path, (b"\n" if is_cut_off(self._path) else b"") + encode(json_line(cleared)))
                self._unwritten.popleft()
            self._drop_forgotten()

    def _drop_forgotten(self) -> None:
        """Takes out of memory, too, what was forgotten since the last look. Other threads may add meanwhile."""
        jobs = jobs_of(self._path.parent)
        if jobs != self._jobs:
            self._jobs = jobs
            for text in list(self._entries):
                if without_forgotten(self._path.parent, text) != text:
                    self._entries.remove(text)

    def add(self, text: str) -> None:
        """Adds a text and stores it. Blocks. Raises OSError."""
        self.remember(text)
        self.write()

    def add_pastes(self, pastes: Iterable[str]) -> None:
        """Adds texts that were pasted into entries, so that they are folded again."""
        self._pastes |= dict.fromkeys(pastes)

    @property
    def pastes(self) -> tuple[str, ...]:
        """The pasted texts, newest first."""
        return tuple(reversed(self._pastes))

    def add_images(self, images: Iterable[PastedImage]) -> None:
        """Adds images that were pasted, so that they are folded again. In memory only."""
        self._images |= dict.fromkeys(images)

    @property
    def images(self) -> tuple[PastedImage, ...]:
        return tuple(self._images)

    @property
    def entries(self) -> tuple[str, ...]:
        return tuple(self._entries)


class HistoryCursor:
    """Position in the history. Keeps the unsent text, and edits of entries, while the user moves through them."""

    def __init__(self, entries: tuple[str, ...], unsent: str) -> None:
        self._texts = [*entries, unsent]
        self._index = len(entries)

    def back(self, current: str) -> str | None:
        """The previous entry, None at the oldest. `current` replaces the entry at the present position."""
        return self._move_to(self._index - 1, current)

    def forward(self, current: str) -> str | None:
        """The next entry, at the end the unsent text; None there."""
        return self._move_to(self._index + 1, current)

    def _move_to(self, index: int, current: str) -> str | None:
        if not 0 <= index < len(self._texts):
            return None
        self._texts[self._index] = current
        self._index = index
        return self._texts[index]


def _parse(line: bytes) -> str:
    try:
        text = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    return visible(text) if isinstance(text, str) else ""
