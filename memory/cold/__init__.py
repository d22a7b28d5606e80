"""The cold store: SQLite, which holds every conversation."""

from memory.cold.answers import AnswerWriter
from memory.cold.changes import TermsRow
from memory.cold.store import ColdStore

__all__ = ["AnswerWriter", "ColdStore", "TermsRow"]
