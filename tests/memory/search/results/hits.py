"""Hits made by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any

from foundation.trust import Citation, Trust
from memory.search import Hit

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def hit(text: str, n: int = 1, *, day: int = 0, score: float = 0.5, speaker: str = "Ann", **more: Any) -> Hit:
    """The `n`th hit, said `day` days after the first of January."""
    time = FIRST + timedelta(days=day)
    return Hit(
        id=f"e_{n}",
        entry_id=f"e_{n}",
        entry=n,
        kind=more.pop("kind", "message"),
        conversation=more.pop("conversation", "c"),
        time=time,
        role=more.pop("role", "user"),
        speaker=speaker,
        score=score,
        snippet=text,
        citation=Citation(kind="entry", ref=f"e_{n}", time=time),
        trust=more.pop("trust", Trust.EXACT),
        **more,
    )
