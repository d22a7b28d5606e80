"""Token budgets of the four layers, split from the model's window. Pure functions.

Invariants: the budgets sum to the total; no layer of a report exceeds its budget; a layer may borrow tokens that
another leaves unused.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from context.assembly.tokens import Layer
from context.settings import ContextSettings

FLOORS: Mapping[Layer, int] = {Layer.SYSTEM: 96, Layer.PROJECT: 160, Layer.CONVERSATION: 256, Layer.MESSAGE: 192}
"""Minimum tokens of each layer, where the window is large enough for all four."""

LARGEST_RESERVE = 4096


class Budget(Struct, frozen=True):
    """A window, the reserve for the answer, and each layer's share of the rest."""

    window: int
    reserve: int
    shares: dict[Layer, int]

    @property
    def total(self) -> int:
        """Maximum tokens of a request."""
        return self.window - self.reserve


def budget_for(window: int, settings: ContextSettings) -> Budget:
    """Splits a window. The reserve is at most half of it."""
    preferred = settings.reserve or min(LARGEST_RESERVE, window // 4)
    reserve = min(preferred, window // 2)
    weights = (settings.system_share, settings.project_share, settings.conversation_share, settings.message_share)
    return Budget(window, reserve, dict(zip(Layer, divide(window - reserve, weights), strict=True)))


def divide(total: int, weights: Sequence[float]) -> list[int]:
    """Splits `total` by weight. The parts sum to `total`; none is below its floor where all floors fit."""
    floors = list(FLOORS.values())
    if sum(floors) >= total:
        return _proportional(total, floors)
    rest = total - sum(floors)
    shared = _proportional(total, weights if sum(weights) > 0 else floors)
    above_floor = [max(0, share - floor) for share, floor in zip(shared, floors, strict=True)]
    return [floor + more for floor, more in zip(floors, _proportional(rest, above_floor), strict=True)]


def _proportional(total: int, weights: Sequence[float]) -> list[int]:
    """Splits `total` by weight into integers that sum to it (largest remainder method)."""
    total_weight = sum(weights)
    exact = [total * weight / total_weight for weight in weights]
    parts = [int(value) for value in exact]
    by_remainder = sorted(range(len(parts)), key=lambda n: exact[n] - parts[n], reverse=True)
    for n in by_remainder[: total - sum(parts)]:
        parts[n] += 1
    return parts


def lend(shares: Mapping[Layer, int], used: Mapping[Layer, int]) -> dict[Layer, int]:
    """The budgets after lending: a layer over its share borrows from those that use less than theirs.

    The sum stays the same, and no layer exceeds its budget where the request fits.
    """
    missing = {layer: max(0, used[layer] - shares[layer]) for layer in Layer}
    spare = {layer: max(0, shares[layer] - used[layer]) for layer in Layer}
    borrowed = sum(missing.values())
    if not borrowed:
        return dict(shares)
    loans = _loans(borrowed, [spare[layer] for layer in Layer])
    return {layer: shares[layer] + missing[layer] - loan for layer, loan in zip(Layer, loans, strict=True)}


def _loans(borrowed: int, spare: list[int]) -> list[int]:
    if sum(spare) <= borrowed:
        return spare
    return _proportional(borrowed, spare)
