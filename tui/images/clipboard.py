"""The image in the system's clipboard, as PNG."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Final

from foundation.errors import PalimpsestError
from foundation.files import read_bytes, resolve_path

LIMIT_S: Final = 5.0  # seconds after which the program that reads the clipboard is killed
MAX_BYTES: Final = 20_000_000
_NO_PROGRAM: Final = "Reading the clipboard needs wl-paste or xclip, and neither is installed."
_INSTALL: Final = "Install wl-clipboard (Wayland) or xclip (X11), or paste the path of an image file."


class ClipboardUnavailable(PalimpsestError):
    """The clipboard cannot be read."""

    code = "clipboard"


def clipboard_command(
    environment: Mapping[str, str], which: Callable[[str], str | None] = shutil.which
) -> tuple[str, ...]:
    """The program that writes the clipboard's PNG to its output, with its arguments. Raises ClipboardUnavailable."""
    if environment.get("WAYLAND_DISPLAY") and (program := which("wl-paste")):
        return (program, "--no-newline", "--type", "image/png")
    if program := which("xclip"):
        return (program, "-selection", "clipboard", "-target", "image/png", "-out")
    raise ClipboardUnavailable("No access to the clipboard", _NO_PROGRAM, _INSTALL)


def clipboard_image(environment: Mapping[str, str], platform: str = sys.platform) -> bytes:
    """The image as PNG, b"" where the clipboard holds none. Blocks. Raises ClipboardUnavailable."""
    if platform in {"darwin", "win32"}:
        return _grabbed()
    command = clipboard_command(environment)
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        message = f"{Path(command[0]).name} did not answer within {LIMIT_S:.0f} seconds."
        raise ClipboardUnavailable("No access to the clipboard", message, "Paste the path of the file.") from error
    except OSError as error:
        message = f"{command[0]} could not be run: {error.strerror}."
        raise ClipboardUnavailable("No access to the clipboard", message, _INSTALL) from error
    return done.stdout[: MAX_BYTES + 1] if done.returncode == 0 else b""


def _grabbed() -> bytes:
    """The image of the clipboard of macOS or Windows; of copied files the first."""
    from PIL import ImageGrab

    try:
        grabbed = ImageGrab.grabclipboard()
    except (OSError, NotImplementedError) as error:
        raise ClipboardUnavailable("No access to the clipboard", f"It could not be read: {error}.", "") from error
    if grabbed is None:
        return b""
    if isinstance(grabbed, list):
        return read_bytes(resolve_path(Path(grabbed[0])), most=MAX_BYTES) if grabbed else b""
    buffer = BytesIO()
    grabbed.save(buffer, "PNG")
    return buffer.getvalue()
