"""How much a memory matters, and how near it is to a question. Pure arithmetic; the formulas are seed 001's."""

import math

DEFAULT_IMPORTANCE = 5.0
MOST_IMPORTANT = 10.0


def importance_score(manual: float, days: float, accesses: int) -> float:
    """0 to 10: half the person's own word (0–10), three tenths its age, two tenths its use.

    0.5·manual + 0.3·10/(1 + days/30) + 0.2·10·(1 − e^(−accesses/5)). Days in the future count as none.
    """
    age = 10.0 / (1.0 + max(0.0, days) / 30.0)
    use = 10.0 * (1.0 - math.exp(-accesses / 5.0))
    return 0.5 * manual + 0.3 * age + 0.2 * use


def recency(days: float) -> float:
    """0 to 5, halved after a week: 5/(1 + days/7)."""
    return 5.0 / (1.0 + max(0.0, days) / 7.0)


def pick_score(relevance: float, days: float, manual: float) -> float:
    """What a question's candidates are ordered by: relevance (0 to 1, weighed as 10), recency, half the importance."""
    return 10.0 * relevance + recency(days) + 0.5 * manual
