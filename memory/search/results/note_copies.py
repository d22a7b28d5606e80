"""Notes that only copy what was observed: the lines of `memory/YYYY-MM-DD.md` that the program wrote.

Such a line is derived (memory/origin.py): it repeats an entry that is found itself, so that it is no second source. It
is one as long as the observation and its original are stored, and the person has not changed its words.
"""

import re
from typing import Final

from memory.cold import ColdStore
from memory.errors import NotFound
from memory.records import EntryKind
from models.fence import neutralise

_COPY: Final = re.compile(r"- \S+ [a-z]+: (\S.*) \[([^\s\[\]]+)\]")  # as agent.background.daily_notes writes it


def copies_entries(text: str, cold: ColdStore) -> bool:
    """Whether each line of a note's text says what an observation in the store says."""
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and all(_is_copy(line.strip(), cold) for line in lines)


def _is_copy(line: str, cold: ColdStore) -> bool:
    if (match := _COPY.fullmatch(line)) is None:
        return False
    try:
        observation = cold.find(match[2])
        if observation.kind is not EntryKind.OBSERVATION or observation.id != match[2] or observation.parent is None:
            return False
        cold.entry(observation.parent)
    except NotFound:  # the note is what is left of it
        return False
    said = neutralise(observation.text or "")
    return all(part in said for part in match[1].split("; "))
