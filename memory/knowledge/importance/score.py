"""Importance, recency and ranking scores of a memory: pure functions, with the formulas of seed 001."""

import math

DEFAULT_IMPORTANCE = 5.0
MOST_IMPORTANT = 10.0


def importance_score(manual: float, days: float, accesses: int) -> float:
    """The importance, 0 to 10: half from the person's rating (0–10), 0.3 from its age, 0.2 from its use.

    0.5·manual + 0.3·10/(1 + days/30) + 0.2·10·(1 − e^(−accesses/5)). Days in the future count as 0.
    """
    age = 10.0 / (1.0 + max(0.0, days) / 30.0)
    use = 10.0 * (1.0 - math.exp(-accesses / 5.0))
    return 0.5 * manual + 0.3 * age + 0.2 * use


def recency(days: float) -> float:
    """The recency, 0 to 5, which halves in a week: 5/(1 + days/7)."""
    return 5.0 / (1.0 + max(0.0, days) / 7.0)


def pick_score(relevance: float, days: float, manual: float) -> float:
    """The rank score of a candidate: 10 × relevance (0 to 1), plus recency, plus half the importance."""
    return 10.0 * relevance + recency(days) + 0.5 * manual
