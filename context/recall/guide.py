"""What a model reads beside recalled passages: relative dates written out, and the line behind the block."""

from collections.abc import Sequence

from msgspec.structs import replace

from foundation.text.dates.relative import written_dates
from foundation.trust import Citation, Trust
from models.messages import RecalledSpan, Role
from models.prompts import prompt

_SPOKEN = frozenset({Role.USER.value, Role.ASSISTANT.value})


def dates_in(text: str, citation: Citation, role: str | None, *, is_sure: bool) -> tuple[tuple[int, str], ...]:
    """The relative dates of a passage (RecalledSpan.dates); none where it is no message, or its date is not sure."""
    if citation.kind != "entry" or role not in _SPOKEN or not is_sure:
        return ()
    return written_dates(text, citation.time) if citation.time else ()


def with_guide(parts: Sequence[RecalledSpan]) -> tuple[RecalledSpan, ...]:
    """The passages of a block, the first with the line behind it, which is no part of recall's share."""
    is_approximate = any(part.trust is Trust.APPROXIMATE and not part.unverified for part in parts)
    guide = (
        f"{prompt('recall', 'approximate')} {prompt('recall', 'use')}" if is_approximate else prompt("recall", "use")
    )
    return tuple(replace(part, guide=guide if n == 0 else "") for n, part in enumerate(parts))
