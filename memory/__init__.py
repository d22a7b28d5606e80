"""What is remembered: hot Markdown, the cold store, the archive, and the search over all three."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.library import archive_conversation, recall_memory

__all__ = ["archive_conversation", "recall_memory"]


def __getattr__(name: str) -> Any:
    """The library's two functions, loaded at first use: importing the package must stay cheap."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memory import library

    return getattr(library, name)
