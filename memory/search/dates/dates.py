"""Dates: those that a text speaks of, and those that a person types for a filter."""

from memory.search.dates.moments import moment
from memory.search.dates.periods import Dated, Period, periods
from memory.search.dates.spans import Span, bounds, said, spans, within

__all__ = ["Dated", "Period", "Span", "bounds", "moment", "periods", "said", "spans", "within"]
