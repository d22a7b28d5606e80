"""Records in a store of the test's own, and what came of them."""

import json
from collections.abc import Iterable
from typing import Any

from agent.importers.record import ParsedRecord
from agent.importers.report import ImportReport
from agent.importers.store import store_all
from memory.cold import ColdStore
from memory.conversations import Conversations
from memory.records import Entry


def lines(*values: Any) -> list[bytes]:
    return [(value if isinstance(value, str) else json.dumps(value)).encode() + b"\n" for value in values]


def stored(cold: ColdStore, reads: Iterable[ParsedRecord], **more: Any) -> ImportReport:
    return store_all(Conversations(cold), reads, **({"source": "s", "fixed_source": False} | more))


def branch(cold: ColdStore, conversation: str) -> list[Entry]:
    leaf = cold.conversation(conversation).leaf
    assert leaf is not None
    return list(cold.branch(leaf).entries)
