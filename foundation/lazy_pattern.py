"""Regular expressions compiled on first use.

A large pattern takes milliseconds to compile. The first frame imports modules whose patterns it does not match
against; with these they compile when the first text needs them.
"""

import re
from typing import Any, cast


class _LazyPattern:
    """Proxy of `re.Pattern`: a method compiles the pattern, then is cached on the instance (50 ns a look-up)."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._source), name)  # `re` caches the compiled pattern
        setattr(self, name, value)
        return value


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that behaves like `re.compile(pattern, flags)`, but for two things.

    An error in it appears on first use, and `match.re` is the compiled pattern, never this object.
    """
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))
