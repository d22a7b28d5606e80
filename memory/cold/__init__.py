"""The cold store: SQLite, which holds every conversation.

Names are imported on first use: the first frame asks a store for its first entry alone, and loads no more than that.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.cold.answers import AnswerWriter
    from memory.cold.changes import TermsRow
    from memory.cold.store import ColdStore

_HOMES = {
    "AnswerWriter": "memory.cold.answers",
    "ColdStore": "memory.cold.store",
    "TermsRow": "memory.cold.changes",
}

__all__ = ["AnswerWriter", "ColdStore", "TermsRow"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)
