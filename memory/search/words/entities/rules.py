"""The rules together: (kind, value) of what a text names, several values where one thing can be asked for in several
ways. Rather too little than wrong: what a rule is not sure of it leaves.

Each rule goes through a text once, from the characters that begin or hold such a thing, and looks at no more than a few
dozen characters around them, so that any text takes time by its length alone.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from memory.search.words.entities.addresses import addresses, without_addresses
from memory.search.words.entities.files import files
from memory.search.words.entities.hanzi import chinese
from memory.search.words.entities.names import names
from memory.search.words.entities.numbers import numbers

KINDS: Final = ("flight", "date", "money", "person", "place", "url", "file", "version")
_MOST: Final = 256  # values that one rule finds in one text: what names more is a list, and found by its words

Entity = tuple[str, str]
"""A kind, and a value of it."""


def entities(text: str) -> Iterator[Entity]:
    """What the text names, with repeats."""
    bare = text
    if "://" in text or "www." in text:
        yield from islice(addresses(text), _MOST)
        bare = without_addresses(text)
    for rule in _RULES:
        yield from islice(rule(bare), _MOST)
    if not bare.isascii() and _HAN.search(bare):
        yield from islice(chinese(bare), _MOST)


_RULES: Final[tuple[Callable[[str], Iterator[Entity]], ...]] = (numbers, names, files)
_HAN: Final = re.compile("[\u4e00-\u9fff]")
