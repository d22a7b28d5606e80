"""`derived_from` of other devices' entries: it hides an entry from search, so it must name something that is here.

Only a model's answer or a tool's result repeats others. Of a person's words, and of those that name no entry which is
here, the field is dropped, and search finds them. An answer that repeats only a note is found beside it, too.
"""

from typing import Any, Final, cast

import apsw

from memory.cold.sql import batches, fetch, marks
from memory.origin import DERIVED_FROM
from memory.records import EntryKind
from memory.sync.operation import EntryOperation
from models.messages import Role

_REPEATING: Final = {
    (EntryKind.MESSAGE.value, Role.ASSISTANT.value),
    (EntryKind.TOOL_RESULT.value, Role.TOOL.value),
}


def with_known_lineage(db: apsw.Connection, operation: EntryOperation) -> dict[str, Any]:
    """The meta of the entry. The word is looked for at any depth, as the search index does."""
    kept = {name: value for name, value in operation.meta.items() if name == DERIVED_FROM or not _says(value)}
    if DERIVED_FROM in kept and not _is_known(db, operation, kept[DERIVED_FROM]):
        del kept[DERIVED_FROM]
    return kept


def _is_known(db: apsw.Connection, operation: EntryOperation, named: Any) -> bool:
    if (operation.kind, operation.role) not in _REPEATING or not isinstance(named, list):
        return False
    ids = [each for each in cast("list[Any]", named) if isinstance(each, str) and each != operation.id]
    return any(
        fetch(db, f"SELECT 1 FROM entries WHERE id IN ({marks(batch)}) LIMIT 1", batch) for batch in batches(ids)
    )


def _says(value: Any) -> bool:
    """Whether the word stands in the value as a name or as a text of its own."""
    if isinstance(value, dict):
        return any(_says(each) for pair in cast("dict[Any, Any]", value).items() for each in pair)
    if isinstance(value, list | tuple):
        return any(map(_says, cast("list[Any]", value)))
    return value == DERIVED_FROM
