"""The line editor: Python's readline where it is there, else plain lines of the terminal.

Everything here runs on the main thread, where Ctrl+C and signals arrive. What is typed while nothing is asked is
read as the terminal gives it, a line at a time. The terminal does not echo it: it would stand in the middle of what is
written, and rubbing it out would rewrite a line.
"""

import os
import re
import select
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from foundation.terminal_text import visible
from tui.screen_reader.composition import to_line

try:
    import readline as _readline
except ImportError:  # Windows
    _readline = None
readline: Any = _readline
is_gnu: Final = readline is not None and "libedit" not in (readline.__doc__ or "")

QUIET_S: Final = 0.7  # seconds without a key before a question is asked
PASTED_S: Final = 0.01  # seconds after a line within which another one was not typed
PASTE_QUIET_S: Final = 0.1  # seconds without a character that end a paste
_DELIMITERS: Final = " \t\n"
_SETTINGS: Final = (
    "tab: complete",
    "set enable-bracketed-paste off",  # it writes an escape sequence around each line
    "set enable-meta-key off",  # so does this, once
    "set bell-style none",
    "set show-all-if-ambiguous on",  # at the first Tab
    "set colored-stats off",
    "set colored-completion-prefix off",
    "set completion-query-items 0",
    "set completion-display-width 1",  # a suggestion a line
    "set page-completions off",
    "set echo-control-characters off",
    r'"\C-l": ""',  # it would clear the screen
    r'"\e\C-l": ""',
)

Complete = Callable[[str, str], list[str]]
"""Completions of a word, given the line up to the cursor and the word. Blocks."""


class LineInput:
    """Reads lines on the main thread. `rest` is what was typed ahead and not entered."""

    def __init__(self, complete: Complete) -> None:
        self._complete = complete
        self._found: list[str] = []
        self._buffer = b""  # read while nothing was asked
        self._at_first = 0  # bytes that had come in the instant of the first key
        self.rest = ""
        self._modes = _modes()
        self._echo(on=False)
        if readline is not None:
            for setting in _SETTINGS if is_gnu else ("bind ^I rl_complete",):
                readline.parse_and_bind(setting)
            readline.set_completer(self._completion)
            readline.set_completer_delims(_DELIMITERS)
            readline.set_auto_history(False)

    def set_history(self, texts: Iterable[str]) -> None:
        """Makes these texts the history, oldest first."""
        if readline is not None:
            readline.clear_history()
            for text in texts:
                self.remember(text)

    def remember(self, text: str) -> None:
        if readline is not None and text.strip():
            readline.add_history(to_line(text))

    def read_line(self, prompt: str, beginning: str = "", *, completes: bool = True) -> str:
        """A line, without its end. Raises EOFError at Ctrl+D or a closed terminal, KeyboardInterrupt at Ctrl+C."""
        self._echo(on=True)
        try:
            return self._edit(prompt, beginning, completes=completes)
        except OSError as error:  # the terminal is closed
            raise EOFError from error
        finally:
            self._echo(on=False)

    def restore(self) -> None:
        """Gives the terminal back as it was."""
        self._echo(on=True)

    def _edit(self, prompt: str, beginning: str, *, completes: bool) -> str:
        if readline is None:
            return input(visible(prompt))
        readline.set_startup_hook((lambda: readline.insert_text(to_line(beginning))) if beginning else None)
        readline.set_completer(self._completion if completes else None)
        self._watch_first_key(None if completes else self._count_first_bytes)
        try:
            return input(visible(prompt))
        finally:
            readline.set_startup_hook(None)

    def _watch_first_key(self, hook: Callable[[], None] | None) -> None:
        """Has readline call it when it has shown the prompt; not every readline can."""
        self._at_first = 0
        if hasattr(readline, "set_pre_input_hook"):
            readline.set_pre_input_hook(hook)

    def _count_first_bytes(self) -> None:
        """Waits for the first key, and counts what comes with it. A signal that ends the wait is raised again soon."""
        if sys.platform != "win32":
            import fcntl
            import termios

            select.select([0], [], [])
            time.sleep(PASTED_S)
            self._at_first = int.from_bytes(fcntl.ioctl(0, termios.FIONREAD, bytes(4)), sys.byteorder)

    def _echo(self, *, on: bool) -> None:
        if sys.platform != "win32" and self._modes is not None:
            import termios

            modes = self._modes if on else [*self._modes[:3], self._modes[3] & ~termios.ECHO, *self._modes[4:]]
            with suppress(termios.error):  # the terminal is closed
                termios.tcsetattr(0, termios.TCSANOW, modes)

    @property
    def unfinished(self) -> str:
        """What is in the line that is being edited."""
        return readline.get_line_buffer() if readline is not None else ""

    def wait(self, wake: int, seconds: float | None = None) -> list[str]:
        """Lines that are entered while nothing is asked; none once `wake` can be read. Raises EOFError."""
        if sys.platform == "win32":  # its terminal cannot be waited for
            time.sleep(0.1)
            return []
        ready = select.select([0, wake], [], [], seconds)[0]
        if wake in ready:
            os.read(wake, 4096)
        if 0 not in ready:
            return []
        try:
            piece = os.read(0, 65_536)
        except OSError as error:
            raise EOFError from error
        if not piece:
            raise EOFError
        return self._take(piece)

    def take_pasted(self) -> list[str]:
        """The lines that came together with the one that was just read, as a paste brings them; with its last one where
        no line end follows it."""
        if sys.platform == "win32" or not select.select([0], [], [], PASTED_S)[0]:
            return []
        lines = self.take_typed_ahead(PASTE_QUIET_S)
        last, self.rest = self.rest, ""
        return [*lines, last] if last else lines

    def pasted_answer(self, line: str) -> list[str]:
        """The lines of a paste that the answer just read is of: it came in one instant with its end, or other lines
        came with it. None where it was typed."""
        typed, self.rest = self.rest, ""
        more = self.take_pasted()
        self.rest = typed
        came_whole = bool(line) and self._at_first == len(line.encode()) + 1
        return [line, *more] if came_whole or more else []

    def take_typed_ahead(self, quiet: float = QUIET_S) -> list[str]:
        """Takes what was typed before now, until nobody types, so that it answers no question: entered lines, and in
        `rest` the beginning of one."""
        lines: list[str] = []
        if sys.platform != "win32":
            import termios

            try:
                before = termios.tcgetattr(0)
            except termios.error:
                return lines
            at_once = [*before[:3], before[3] & ~termios.ICANON, *before[4:]]
            try:
                termios.tcsetattr(0, termios.TCSANOW, at_once)
                while select.select([0], [], [], quiet)[0] and (piece := os.read(0, 65_536)):
                    lines += self._take(piece)
            except OSError as error:
                raise EOFError from error
            finally:
                termios.tcsetattr(0, termios.TCSANOW, before)
        self.rest += self._buffer.decode("utf-8", "replace").replace("\x04", "")
        self._buffer = b""
        return lines

    def _take(self, piece: bytes) -> list[str]:
        *lines, self._buffer = re.split(rb"\r\n|\r|\n", self._buffer + piece)
        texts = [line.decode("utf-8", "replace") for line in lines]
        if texts and self.rest:
            texts[0], self.rest = self.rest + texts[0], ""
        return texts

    def _completion(self, word: str, number: int) -> str | None:
        """readline's protocol: the completions one after the other, then None."""
        if number == 0:
            line = readline.get_line_buffer()[: readline.get_endidx()]
            self._found = self._complete(line, word)
        return self._found[number] if number < len(self._found) else None


def _modes() -> list[Any] | None:
    """The terminal's modes; None where stdin is none."""
    if sys.platform == "win32":
        return None
    import termios

    try:
        return termios.tcgetattr(0)
    except termios.error:
        return None
