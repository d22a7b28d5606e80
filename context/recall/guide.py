"""What a model reads beside recalled passages: relative dates written out, and the line behind the block."""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from foundation.text.dates.relative import written_dates
from foundation.text.sentences import asks_something, is_question
from foundation.trust import Citation, Trust
from models.messages import RecalledSpan, Role
from models.prompts import prompt

_SPOKEN = frozenset({Role.USER.value, Role.ASSISTANT.value})
_LONGEST_FACT = 200  # characters of a message that asks for one fact
_EXPLAINS = re.compile(
    r"\bwhy\b|\bhow (?!many|much|old|often|long|far|big|tall|late|soon)"
    r"|\b(?:should|could|can|would|will) (?:i|we|you|it)\b|\b(?:explain|describe|compare|summar\w+|tell me about)\b"
    r"|为什么|为何|怎么|怎样|如何|该不该|应该|解释|总结|比较|介绍",
    re.IGNORECASE,
)


def dates_in(text: str, citation: Citation, role: str | None, *, is_sure: bool) -> tuple[tuple[int, str], ...]:
    """The relative dates of a passage (RecalledSpan.dates); none where it is no message, or its date is not sure."""
    if citation.kind != "entry" or role not in _SPOKEN or not is_sure:
        return ()
    return written_dates(text, citation.time) if citation.time else ()


def asks_for_fact(text: str) -> bool:
    """Whether the message is a short question that a few words answer: not why, not how, not a wish for advice."""
    return len(text) <= _LONGEST_FACT and is_question(text) and _EXPLAINS.search(text) is None


def guide_for(text: str, *, is_small: bool) -> str:
    """The section of the prompt `recall` that says how to use the passages that were recalled for the message."""
    if not asks_something(text):
        return "task"
    return "fact" if is_small and asks_for_fact(text) else "use"


def with_guide(parts: Sequence[RecalledSpan], guide: str = "use") -> tuple[RecalledSpan, ...]:
    """The passages of a block, the first with the line behind it, which is no part of recall's share."""
    is_approximate = any(part.trust is Trust.APPROXIMATE and not part.unverified for part in parts)
    use = prompt("recall", guide)
    line = f"{prompt('recall', 'approximate')} {use}" if is_approximate else use
    return tuple(replace(part, guide=line if n == 0 else "") for n, part in enumerate(parts))
