"""Whether a hit says anything that could answer, however well its words or those around it match."""

from collections.abc import Set
from typing import Final

from foundation.text.analysis import term_list
from foundation.text.sentences import only_asks
from foundation.text.stopwords import is_weak
from memory.search.query.query import Hit
from models.messages import Role

FEW_TERMS: Final = 3
_BY_MACHINE: Final = frozenset({Role.ASSISTANT.value, Role.TOOL.value})


def is_evidence(hit: Hit, asked: Set[str]) -> bool:
    """False for a question of the user, and for a few words of a model or a tool (“Step 1.”) that hold none of the
    terms `asked` themselves: only the turns beside them match."""
    if hit.role == Role.USER and not hit.speaker:
        return not only_asks(hit.snippet)
    if hit.role not in _BY_MACHINE:
        return True
    terms = {term for term in term_list(hit.snippet) if not is_weak(term) and not term.isdecimal()}
    return len(terms) >= FEW_TERMS or not terms.isdisjoint(asked)
