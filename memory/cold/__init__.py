"""The cold store: SQLite, where all that was ever said has its row."""

from memory.cold.answers import Answer
from memory.cold.changes import TermsRow
from memory.cold.context_state import Epoch, LastRequest
from memory.cold.integrity.check import Problem
from memory.cold.records import Analyse, Branch, Change, Conversation, Draft, Entry, EntryKind, Terms, new_id
from memory.cold.statistics import ModelUsage, Statistics
from memory.cold.store import ColdStore

__all__ = [
    "Analyse",
    "Answer",
    "Branch",
    "Change",
    "ColdStore",
    "Conversation",
    "Draft",
    "Entry",
    "EntryKind",
    "Epoch",
    "LastRequest",
    "ModelUsage",
    "Problem",
    "Statistics",
    "Terms",
    "TermsRow",
    "new_id",
]
