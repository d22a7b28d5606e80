"""The scope of memory: conversations of one project or work, which searches do not leave.

A conversation carries its scope as a label. One without belongs to the scope of the workspace, whose name is empty.
Notes and files that were added belong to every scope.
"""

from typing import Final

from foundation.errors import Misuse
from memory.records import Conversation

SCOPE: Final = "scope:"
ALL: Final = "all"
"""As a scope of a search: every scope."""

MOST_CHARS: Final = 100


def scope_of(conversation: Conversation) -> str:
    """The conversation's scope; "" for the workspace's own."""
    return next((label.removeprefix(SCOPE) for label in conversation.labels if label.startswith(SCOPE)), "")


def checked_scope(name: str) -> str:
    """The name of a scope as a person gave it. Raises Misuse for one that cannot be."""
    name = " ".join(name.split())
    if name == ALL or len(name) > MOST_CHARS:
        problem = "means every scope" if name == ALL else f"has more than {MOST_CHARS} characters"
        raise Misuse("Not a scope", f"“{name[:MOST_CHARS]}” {problem}.", "Choose another name.")
    return name
