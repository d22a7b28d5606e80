"""Keys of the prompt that stand for what is typed."""

from typing import Final

FIXED_KEYS: Final = (
    ("Enter", "Send, or take the suggestion"),
    ("Shift+Enter Ctrl+J", "Start a new line"),
    ("↑ ↓", "Prompt history, at the first and last line; in an empty prompt, the queue first"),
    ("Tab", "Take the suggestion"),
    ("Shift+Tab", "Switch to the next permission mode"),
    ("/ @", "Commands, files"),
    ("! !! #", "Run a command, run it in the terminal, add a line to MEMORY.md"),
)
"""Keys that stand for what is typed, and cannot be changed: keys, sentence."""
