"""Addresses on the web: `https://docs.python.org/3/` is docs.python.org/3, and docs.python.org."""

import re
from collections.abc import Iterator

from memory.search.words.entities.looking import places
from memory.search.words.fold import LONGEST

_ADDRESS = re.compile(r"(?:(?:https?|ftp)://|\bwww\.)[^\s\x00-\x1f<>\"'`|{}\[\]()（）】」，。；、]+", re.IGNORECASE)
_TRAILING = ".,;:!?*_"


def addresses(text: str) -> Iterator[tuple[str, str]]:
    for found in places(_ADDRESS, text):
        bare = found[0].rpartition("://")[2] if "://" in found[0][:8] else found[0]
        bare = bare.rstrip(_TRAILING).rstrip("/")
        host, _, rest = bare.partition("/")
        host = host.rpartition("@")[2].lower().removeprefix("www.")  # a name and password are nobody's to ask for
        if not host:
            continue
        yield "url", host
        if rest and len(host) + 1 + len(rest) <= LONGEST:
            yield "url", f"{host}/{rest}"


def without_addresses(text: str) -> str:
    """A path in an address is no file."""
    return _ADDRESS.sub(" ", text)
