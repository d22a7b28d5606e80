"""Prices of models: what an answer costs in money, where that is known."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Final, cast

from msgspec import Meta, Struct

from models.messages import Usage

PER: Final = 1_000_000  # tokens that a price is for


class ModelPrice(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The price of a million tokens. `cached_input`: of a prompt that the server has cached, by default as `input`."""

    input: Annotated[float, Meta(ge=0)]
    output: Annotated[float, Meta(ge=0)]
    cached_input: Annotated[float, Meta(ge=0)] | None = None
    currency: Annotated[str, Meta(pattern="^[A-Z]{3}$")] = "USD"


class Cost(Struct, frozen=True, kw_only=True):
    """Money. `local`: the model runs on this machine, and no price is set for it."""

    amount: float = 0.0
    currency: str = ""
    local: bool = False

    @property
    def fields(self) -> dict[str, Any]:
        """As an entry keeps it."""
        return {"local": True} if self.local else {"amount": self.amount, "currency": self.currency}

    def __str__(self) -> str:
        return "local" if self.local else money(self.amount, self.currency)


LOCAL: Final = Cost(local=True)


class PriceList:
    """Prices by pattern of a model's spec or name (`anthropic:claude-*`); the first that matches holds."""

    def __init__(self, prices: Mapping[str, ModelPrice]) -> None:
        self._prices = prices

    def price(self, *names: str) -> ModelPrice | None:
        """The price of a model with any of these names (its spec, its name); None where it is unknown."""
        matching = (
            price for pattern, price in self._prices.items() if any(fnmatchcase(name, pattern) for name in names)
        )
        return next(matching, None)

    def cost(self, usage: Usage, *names: str, remote: bool) -> Cost | None:
        """What this usage costs; None where the price is unknown. A model on this machine costs nothing without one."""
        price = self.price(*names)
        if price is None:
            return None if remote else LOCAL
        return cost_at(price, usage.prompt_tokens, usage.cached_tokens or 0, usage.completion_tokens)


def cost_at(price: ModelPrice, prompt: int, cached: int, completion: int) -> Cost:
    """The cost of so many tokens; the cached ones are part of the prompt."""
    cached = min(cached, prompt)
    cached_price = price.input if price.cached_input is None else price.cached_input
    tokens = (prompt - cached) * price.input + cached * cached_price + completion * price.output
    return Cost(amount=tokens / PER, currency=price.currency)


def cost_of_fields(fields: object) -> Cost | None:
    """The cost that an entry keeps; None for none."""
    if not isinstance(fields, dict):
        return None
    kept = cast("dict[str, object]", fields)
    if kept.get("local") is True:
        return LOCAL
    amount, currency = kept.get("amount"), kept.get("currency")
    if isinstance(amount, int | float) and isinstance(currency, str):
        return Cost(amount=float(amount), currency=currency)
    return None


def money(amount: float, currency: str) -> str:
    """`0.0123 USD`: four digits after the point below one, else two."""
    return f"{amount:,.{4 if amount < 1 else 2}f} {currency}"
