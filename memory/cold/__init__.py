"""The cold store: SQLite, which holds every conversation."""

from memory.cold.answers import Answer
from memory.cold.changes import TermsRow
from memory.cold.context_state import Epoch, LastRequest
from memory.cold.store import ColdStore

__all__ = ["Answer", "ColdStore", "Epoch", "LastRequest", "TermsRow"]
