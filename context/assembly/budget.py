"""Splits the model's window into the layers' budgets. Pure functions of figures.

Laws: the layers' budgets sum to the whole; no layer of a report exceeds its budget; a layer may borrow what another
leaves unused.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from context.assembly.tokens import Layer
from context.settings import ContextSettings

FLOORS: Mapping[Layer, int] = {Layer.SYSTEM: 96, Layer.PROJECT: 160, Layer.CONVERSATION: 256, Layer.MESSAGE: 192}
"""The least each layer has, in tokens, where the window is large enough for all four."""

LARGEST_RESERVE = 4096


class Budget(Struct, frozen=True):
    """A window, the reserve for the answer, and each layer's share of the rest."""

    window: int
    reserve: int
    shares: dict[Layer, int]

    @property
    def total(self) -> int:
        """Tokens that a request may have."""
        return self.window - self.reserve


def budget_for(window: int, settings: ContextSettings) -> Budget:
    """Splits a window. The reserve is at most half of it."""
    wanted = settings.reserve or min(LARGEST_RESERVE, window // 4)
    reserve = min(wanted, window // 2)
    weights = (settings.system_share, settings.project_share, settings.conversation_share, settings.message_share)
    return Budget(window, reserve, dict(zip(Layer, divide(window - reserve, weights), strict=True)))


def divide(total: int, weights: Sequence[float]) -> list[int]:
    """Splits `total` by weight, none below its floor where all floors fit. The parts sum to `total`."""
    floors = list(FLOORS.values())
    if sum(floors) >= total:
        return _proportional(total, floors)
    rest = total - sum(floors)
    shared = _proportional(total, weights if sum(weights) > 0 else floors)
    wants = [max(0, share - floor) for share, floor in zip(shared, floors, strict=True)]
    return [floor + more for floor, more in zip(floors, _proportional(rest, wants), strict=True)]


def _proportional(total: int, weights: Sequence[float]) -> list[int]:
    """Splits `total` by weight into whole numbers that sum to it, by largest remainders."""
    whole = sum(weights)
    exact = [total * weight / whole for weight in weights]
    parts = [int(value) for value in exact]
    by_remainder = sorted(range(len(parts)), key=lambda n: exact[n] - parts[n], reverse=True)
    for n in by_remainder[: total - sum(parts)]:
        parts[n] += 1
    return parts


def lend(shares: Mapping[Layer, int], used: Mapping[Layer, int]) -> dict[Layer, int]:
    """The budgets after lending: a layer over its share borrows from those that use less than theirs.

    The sum stays the same, and no layer exceeds its budget where the whole fits.
    """
    missing = {layer: max(0, used[layer] - shares[layer]) for layer in Layer}
    spare = {layer: max(0, shares[layer] - used[layer]) for layer in Layer}
    lent = sum(missing.values())
    if not lent:
        return dict(shares)
    given = _lent(lent, [spare[layer] for layer in Layer])
    return {layer: shares[layer] + missing[layer] - gift for layer, gift in zip(Layer, given, strict=True)}


def _lent(wanted: int, spare: list[int]) -> list[int]:
    if sum(spare) <= wanted:
        return spare
    return _proportional(wanted, spare)
