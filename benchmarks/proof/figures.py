"""From answers to figures. R@k is the mean share of a question's evidence that stands among its first k hits."""

from collections.abc import Callable, Sequence
from statistics import mean, stdev

from msgspec import Struct

CUTS = (1, 5, 10, 20, 50)
CONTEXTS = (1000, 2000, 4000)
"""Tokens of recalled context."""

DEEPEST = CUTS[-1]


class Answer(Struct, frozen=True, kw_only=True):
    """What came back for one question.

    `wanted` counts its evidence, `ranks` are the places, from 1, of those that were found. `best` is the first hit's
    score, 0 where there is none. `held` is the share of the evidence that stands in so many tokens of recalled context.
    None is what nobody measured.
    """

    category: str
    wanted: int
    store: str = ""
    ranks: tuple[int, ...] = ()
    found: bool | None = None
    best: float = 0.0
    ms: float | None = None
    held: dict[int, float] | None = None


def ranks(hits: Sequence[str], evidence: Sequence[str]) -> tuple[int, ...]:
    """The places, from 1, at which the evidence stands among the ids of the hits."""
    wanted = set(evidence)
    return tuple(place for place, hit in enumerate(dict.fromkeys(hits), start=1) if hit in wanted)


def figures(answers: Sequence[Answer]) -> dict[str, float | None]:
    """All figures, in % but for milliseconds and numbers of questions; None where nothing was measured.

    `found` is the share of answerable questions that got any hit, `said no` that of the unanswerable that got none.
    AUC is the chance that the best hit of an answerable question scores above that of an unanswerable one.
    """
    answerable = [each for each in answers if each.wanted]
    adversarial = [each for each in answers if not each.wanted]
    shown: dict[str, float | None] = {"questions": float(len(answerable))}
    for cut in CUTS:
        shown[f"R@{cut}"] = _percent([_recall(each, cut) for each in answerable])
    shown["hit@10"] = _percent([any(place <= 10 for place in each.ranks) for each in answerable])
    shown["MRR"] = _percent([1 / min(each.ranks) if each.ranks else 0.0 for each in answerable])
    for tokens in CONTEXTS:
        shown[f"{tokens // 1000}k"] = _percent([each.held[tokens] for each in answerable if each.held is not None])
    shown["found"] = _percent([each.found for each in answerable if each.found is not None])
    shown["said no"] = _percent([not each.found for each in adversarial if each.found is not None])
    shown["AUC"] = auc(
        [each.best for each in answerable if each.found is not None],
        [each.best for each in adversarial if each.found is not None],
    )
    times = [each.ms for each in answers if each.ms is not None]
    shown["p50 ms"], shown["p95 ms"] = below(times, 0.5), below(times, 0.95)
    return shown


def brought(whole: Sequence[Answer], without: Sequence[Answer]) -> dict[str, float | None]:
    """What a signal brings to R@10, in points, and how far off that may be by chance (95 %, of paired differences).

    Both are of the same questions in the same order.
    """
    gains = [
        100 * (_recall(one, 10) - _recall(other, 10)) for one, other in zip(whole, without, strict=True) if one.wanted
    ]
    if len(gains) < 2:
        return {"brings": None, "±": None}
    return {"brings": round(mean(gains), 1), "±": round(1.96 * stdev(gains) / len(gains) ** 0.5, 1)}


def _recall(answer: Answer, cut: int) -> float:
    return sum(place <= cut for place in answer.ranks) / answer.wanted


def auc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """In %; a tie counts half. None where either side is empty."""
    if not positive or not negative:
        return None
    order = sorted([*((score, True) for score in positive), *((score, False) for score in negative)])
    rank_sum, place = 0.0, 0
    while place < len(order):
        end = place
        while end < len(order) and order[end][0] == order[place][0]:
            end += 1
        tied = sum(is_positive for _, is_positive in order[place:end])
        rank_sum += tied * (place + 1 + end) / 2  # the mean rank of those that tie
        place = end
    below_it = rank_sum - len(positive) * (len(positive) + 1) / 2
    return round(100 * below_it / (len(positive) * len(negative)), 1)


def below(times: Sequence[float], share: float) -> float | None:
    """The figure that so large a share of them is below."""
    return round(sorted(times)[min(int(len(times) * share), len(times) - 1)], 2) if times else None


def parted(answers: Sequence[Answer], by: str) -> dict[str, list[Answer]]:
    """The answers of each `category` or `store`, in the order in which they first come."""
    parts: dict[str, list[Answer]] = {}
    for each in answers:
        parts.setdefault(each.store if by == "store" else each.category, []).append(each)
    return parts


def _percent(values: Sequence[float]) -> float | None:
    return round(100 * mean(values), 1) if values else None


Progress = Callable[[str], None]
"""Told in a few words what is under way."""
