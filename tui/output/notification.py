"""Notifications of the terminal and the desktop, for a person who looks elsewhere.

OSC 9 is iTerm2's notification, OSC 777 is that of rxvt-unicode. A terminal that knows neither ignores both. tmux drops
an unknown sequence unless it is wrapped, and then needs its option `allow-passthrough`; the bell always reaches it.
"""

import asyncio
import contextlib
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import Final, Literal

from foundation.terminal_text import visible_line

NotifyKind = Literal["auto", "bell", "osc9", "osc777", "desktop", "off"]

BELL: Final = "\a"
PROGRAM: Final = "Palimpsest"
MAX_TITLE: Final = 60  # characters of a conversation's title
DESKTOP_S: Final = 5.0  # seconds after which the program that notifies is killed
_OSC9_TERMINALS: Final = ("iTerm.app", "WezTerm", "ghostty")  # values of TERM_PROGRAM
_OSC777_TERMS: Final = ("rxvt-unicode", "foot")  # beginnings of TERM
_APPLESCRIPT: Final = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"


def notification_text(title: str, event: str) -> str:
    """`“The boiler” answered`: the title of the conversation on one line, cut, and without control characters."""
    clean = visible_line(title)
    short = clean if len(clean) <= MAX_TITLE else clean[: MAX_TITLE - 1].rstrip() + "…"
    return f"“{short}” {event}" if short else f"The conversation {event}"


def terminal_notification(kind: NotifyKind, text: str, environment: Mapping[str, str]) -> str:
    """The characters that notify; "" for off. `text` has no control characters."""
    match _kind_for_terminal(environment) if kind == "auto" else kind:
        case "off":
            return ""
        case "osc9":
            return _passed_through(f"\x1b]9;{PROGRAM}: {text}{BELL}", environment)
        case "osc777":  # semicolons separate its parts
            return _passed_through(f"\x1b]777;notify;{PROGRAM};{text.replace(';', ',')}{BELL}", environment)
        case _:
            return BELL


def _kind_for_terminal(environment: Mapping[str, str]) -> NotifyKind:
    """The kind that the terminal is known to show. Behind a multiplexer the terminal is not known."""
    if environment.get("TMUX") or environment.get("STY"):
        return "bell"
    if environment.get("TERM_PROGRAM") in _OSC9_TERMINALS or environment.get("TERM") == "xterm-kitty":
        return "osc9"
    return "osc777" if environment.get("TERM", "").startswith(_OSC777_TERMS) else "bell"


def _passed_through(sequence: str, environment: Mapping[str, str]) -> str:
    """The sequence, wrapped for the multiplexer that it has to pass."""
    if environment.get("TMUX"):
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return f"\x1bP{sequence}\x1b\\" if environment.get("STY") else sequence


def desktop_command(
    text: str,
    environment: Mapping[str, str],
    platform: str = sys.platform,
    which: Callable[[str], str | None] = shutil.which,
) -> tuple[str, ...]:
    """The program that notifies on the desktop, with its arguments; () where there is none, or over SSH."""
    if environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"):
        return ()
    if platform == "darwin":
        program = which("osascript")
        return (program, "-e", _APPLESCRIPT, PROGRAM, text) if program else ()
    if platform == "win32" or not (program := which("notify-send")):
        return ()
    import html  # its table of entities is read with the first notification, not with the first frame

    return (program, f"--app-name={PROGRAM}", "--", PROGRAM, html.escape(text, quote=False))  # the body takes markup


async def run_desktop(command: tuple[str, ...]) -> bool:
    """Runs it with a limit of time. False where it failed."""
    nothing = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(*command, stdin=nothing, stdout=nothing, stderr=nothing)
    except OSError:
        return False
    try:
        return await asyncio.wait_for(process.wait(), DESKTOP_S) == 0
    except TimeoutError:
        return False
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
