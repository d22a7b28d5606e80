"""Opens a file in the system's viewer, as a program with an argument and never through a shell."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from foundation.errors import PalimpsestError


class NoViewer(PalimpsestError):
    """Nothing on this machine opens the file."""

    code = "no_viewer"


def open_in_viewer(path: Path) -> None:
    """Opens it and returns at once. Raises NoViewer."""
    if sys.platform == "win32":
        os.startfile(path)
        return
    name = "open" if sys.platform == "darwin" else "xdg-open"
    program = shutil.which(name)
    if program is None or not _has_desktop(os.environ):
        reason = f"there is no {name} on this machine" if program is None else "this terminal has no desktop beside it"
        raise NoViewer("No viewer", f"Nothing can open the page here: {reason}.", f"It is {path}")
    try:
        process = subprocess.Popen(
            [program, str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise NoViewer("No viewer", f"{program}: {error.strerror}.", f"The page is {path}") from error
    threading.Thread(target=process.wait, daemon=True).start()  # some viewers stay until they are closed


def _has_desktop(environment: Mapping[str, str]) -> bool:
    """Whether a window can be opened; without one xdg-open falls back on programs that take the terminal."""
    return sys.platform == "darwin" or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
