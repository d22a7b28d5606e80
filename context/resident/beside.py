"""The words that stand beside a page: when, which entries, how much of them, and the exact tokens."""

from collections.abc import Sequence

from context.resident.layout import Text
from foundation.privacy import Cleared, Source, clear
from memory.pages.cost.factsheet import factsheet


def words_beside(texts: Sequence[Text], shown: Sequence[int], most: int, facts: int) -> Cleared:
    """Of a page of these texts that shows `shown` of their entries, `most` characters of each (0: all)."""
    first, last = texts[0].entry, texts[-1].entry
    days = f"{first.time:%Y-%m-%d}", f"{last.time:%Y-%m-%d}"
    when = days[0] if days[0] == days[1] else f"{days[0]} to {days[1]}"
    which = first.id if first is last else f"{first.id} to {last.id}"
    cut = f"; {len(shown)} of {len(texts)} entries, shortened" if most else ""
    found = " · ".join(factsheet(said(texts), facts))
    exact = f"\nExact: {found}" if found else ""
    return clear(f"The page above: {when}, {which}{cut}.{exact}", Source.OTHER)


def said(texts: Sequence[Text]) -> str:
    """All that the texts say."""
    return "\n".join(text.part for text in texts)
