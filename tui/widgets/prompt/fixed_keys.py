"""Keys of the prompt that stand for what is typed."""

from typing import Final

FIXED_KEYS: Final = (
    ("Enter", "Send, or take the suggestion"),
    ("Shift+Enter Ctrl+J", "Begin a line"),
    ("↑ ↓", "What you typed before, at the first and the last line; in an empty prompt first what waits"),
    ("Tab", "Take the suggestion"),
    ("Shift+Tab", "The next permission mode"),
    ("/ @", "Commands, files"),
    ("! !! #", "Run a line in the shell, run it in the terminal itself, add a line to MEMORY.md"),
)
"""Keys that stand for what is typed, and cannot be changed: keys, sentence."""
