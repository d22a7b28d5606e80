"""Choice of the graphics protocol of this terminal, and the widgets of textual-image.

The protocol follows from environment variables. The terminal is never queried: it would answer on standard input, where
the user types. A terminal that is not known to draw pixels gets half blocks, which all terminals with colours can show.
The setting `screen.pictures` overrides the choice.

On import, textual-image queries the terminal for its protocol and the size of a cell. It is imported without a standard
input, so that it does not query, and gets the size of a cell from the system. It also writes pictures for Kitty to
standard output, which could split a frame in two, so they are written by the driver instead.
"""

import logging
import sys
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from textual._context import active_app
from textual.widget import Widget

if TYPE_CHECKING:
    from PIL.Image import Image as Picture


class GraphicsProtocol(StrEnum):
    """A way to draw pictures. `SHADES` are ░▒▓█, for a terminal without colours."""

    KITTY = "kitty"
    SIXEL = "sixel"
    BLOCKS = "blocks"
    SHADES = "shades"
    OFF = "off"


_KITTY_TERMS: Final = ("xterm-kitty", "xterm-ghostty")
_KITTY_PROGRAMS: Final = frozenset({"ghostty", "kitty"})
_SIXEL_TERMS: Final = ("foot", "mlterm", "contour", "yaft")
_SIXEL_PROGRAMS: Final = frozenset({"WezTerm", "iTerm.app", "mintty"})
_MULTIPLEXERS: Final = ("TMUX", "STY", "ZELLIJ")  # multiplexers do not pass pixels on
MIN_KONSOLE_VERSION: Final = 220400  # the first version of Konsole that draws Sixel


def choose_protocol(environment: Mapping[str, str], setting: str = "auto", *, colour: bool = True) -> GraphicsProtocol:
    """The protocol of this terminal. `setting` is `screen.pictures`; half blocks are useless without `colour`."""
    if setting == "off":
        return GraphicsProtocol.OFF
    if not colour:
        return GraphicsProtocol.SHADES
    return GraphicsProtocol(setting) if setting != "auto" else _by_terminal(environment)


def _by_terminal(environment: Mapping[str, str]) -> GraphicsProtocol:
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if any(environment.get(name) for name in _MULTIPLEXERS) or term.startswith(("tmux", "screen")):
        return GraphicsProtocol.BLOCKS
    if term.startswith(_KITTY_TERMS) or program in _KITTY_PROGRAMS or environment.get("KITTY_WINDOW_ID"):
        return GraphicsProtocol.KITTY
    if term.startswith(_SIXEL_TERMS) or program in _SIXEL_PROGRAMS or _konsole(environment) >= MIN_KONSOLE_VERSION:
        return GraphicsProtocol.SIXEL
    return GraphicsProtocol.BLOCKS


def _konsole(environment: Mapping[str, str]) -> int:
    version = environment.get("KONSOLE_VERSION", "")
    return int(version) if version.isdigit() else 0


_load_lock = Lock()


@cache
def load_library() -> Any:
    """The package `textual_image`, imported for the first picture."""
    with _load_lock:
        standard_input, sys.__stdin__ = sys.__stdin__, None  # type: ignore[misc]  # textual-image takes this for "no terminal"
        try:
            from textual_image import _terminal

            logging.getLogger("textual_image").addHandler(logging.NullHandler())
            _terminal.get_cell_size._result = _cell_size(_terminal)  # type: ignore[attr-defined]  # its cache
            import textual_image.renderable.tgp
            import textual_image.widget  # pyright: ignore[reportUnusedImport] - a module of the package that is given
        finally:
            sys.__stdin__ = standard_input  # type: ignore[misc]  # Final in typeshed
    textual_image.renderable.tgp._send_tgp_message = _send_by_driver  # pyright: ignore[reportPrivateUsage] -- its one way out
    return textual_image


def _cell_size(terminal: Any) -> Any:
    """Pixels of a cell, from the system; those of a VT340 if it does not know them."""
    try:
        rows, columns, width, height = terminal.get_tiocgwinsz()
    except (OSError, RuntimeError, NotImplementedError):
        rows = columns = width = height = 0
    if not (rows and columns and width and height):
        return terminal.CellSize(10, 20)
    return terminal.CellSize(max(width // columns, 1), max(height // rows, 1))


def picture_widget(protocol: GraphicsProtocol, picture: "Picture") -> Widget:
    """A widget that shows the picture in pixels, as large as its box allows. `protocol` is KITTY or SIXEL."""
    kinds = load_library().widget
    return (kinds.TGPImage if protocol is GraphicsProtocol.KITTY else kinds.SixelImage)(picture)


def _send_by_driver(*, payload: str | None = None, **keys: int | str | None) -> None:
    control = ",".join(f"{name}={value}" for name, value in keys.items() if value is not None)
    driver = active_app.get()._driver  # pyright: ignore[reportPrivateUsage] -- no public name
    if driver is not None:
        driver.write(f"\x1b_G{control}{';' + payload if payload else ''}\x1b\\")
