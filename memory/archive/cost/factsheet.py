"""A page's factsheet: the tokens that must be exact, as text beside the picture.

A chat model reads a page in gist and misreads a hash or a figure without noticing. So hashes, numbers with their
units, dates, versions, paths, addresses, identifiers and names stand beside it in writing, as pxpipe does (96 a page).
"""

from functools import lru_cache

from foundation.privacy import Source, clear
from memory.archive.cost.exact_tokens import MARKS, exact_tokens

MOST = 96
LONGEST = 200  # characters of one token; a longer one is not exact when cut, so it is left out


def factsheet(text: str, most: int = MOST) -> tuple[str, ...]:
    """At most `most` exact tokens of the text, each once, in the order in which they first appear.

    Where there are more, names are left out first, then plain figures. What is private or a secret is never among them.
    """
    kept = sorted(_ranked(text)[: max(0, most)])
    return tuple(token for _, token in kept)


def forget() -> None:
    """Drops what is remembered of texts, where words must leave this process."""
    _ranked.cache_clear()


@lru_cache(maxsize=32)
def _ranked(text: str) -> tuple[tuple[int, str], ...]:
    """Each token with its place, those first that stay longest."""
    found = enumerate(exact_tokens(MARKS.sub(" ", clear(text, Source.OTHER))))
    fitting = [(-exact.weight, place, exact.token) for place, exact in found if 2 <= len(exact.token) <= LONGEST]
    return tuple((place, token) for _, place, token in sorted(fitting))
