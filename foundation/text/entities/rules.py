"""The rules together: (kind, value) of what a text names, several values where one thing can be asked for in several
ways. Rather too little than wrong: what a rule is not sure of it leaves.

Each rule goes through a text once, from the characters that begin or hold such a thing, and looks at no more than a few
dozen characters around them, so that any text takes time by its length alone.

Addresses on the web: `https://docs.python.org/3/` is docs.python.org/3, and docs.python.org.

Files: a name with an ending that files have, or a path from the root, from home or from here.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from foundation.text.entities.chinese_names import chinese_names
from foundation.text.entities.english_names import names
from foundation.text.entities.numbers import find_matches, numbers, split_names
from foundation.text.folding import LONGEST
from foundation.text.tags import path_ends

_ADDRESS = re.compile(r"(?:(?:https?|ftp)://|\bwww\.)[^\s\x00-\x1f<>\"'`|{}\[\]()（）】」，。；、]+", re.IGNORECASE)
_TRAILING = ".,;:!?*_"


def addresses(text: str) -> Iterator[tuple[str, str]]:
    for match in find_matches(_ADDRESS, text):
        bare = match[0].rpartition("://")[2] if "://" in match[0][:8] else match[0]
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


_ENDINGS = (
    "py|pyi|ipynb|js|mjs|cjs|jsx|ts|tsx|vue|html?|css|scss|less|md|mdx|rst|txt|tex|json|jsonl|json5|ya?ml|toml|ini|cfg"
    "|conf|env|lock|xml|svg|csv|tsv|parquet|sqlite3?|db|sql|sh|bash|zsh|fish|ps1|bat|c|h|cc|cpp|hpp|cxx|go|rs|java|kt"
    "|kts|swift|rb|php|pl|lua|scala|clj|ex|exs|erl|hs|ml|dart|cs|fs|r|jl|zig|nim|proto|graphql|gradle|cmake|mk|log|diff"
    "|patch|pdf|docx?|xlsx?|pptx?|odt|epub|png|jpe?g|gif|webp|bmp|tiff?|ico|mp3|mp4|wav|flac|ogg|mov|avi|mkv|zip|tar"
    "|tgz|gz|bz2|xz|zst|7z|rar|whl|jar|dll|exe|dmg|iso|bin|pem|crt|srt"
)
_ENDING = re.compile(rf"\.(?:{_ENDINGS})(?:\.(?:gz|xz|bz2|zst))?(?![A-Za-z0-9_@(]|\.[A-Za-z0-9])", re.IGNORECASE)
_PATH = re.compile(r"/(?<![A-Za-z0-9_/\\:<.>)\]].)[A-Za-z0-9_.-]{1,60}(?:/[A-Za-z0-9_.-]{1,60}){1,12}")
_OF_PATHS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./~\\+-"
_LONGEST = 160
_ATTRIBUTES = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")
_MIDDLES = split_names("tar test spec min d config conf module local example prod dev")
_SOFTWARE = split_names(
    "node.js vue.js next.js nuxt.js react.js three.js d3.js express.js backbone.js ember.js alpine.js angular.js p5.js"
    " chart.js deno.ts asp.cs"
)


def files(text: str) -> Iterator[tuple[str, str]]:
    if "." in text:
        for match in find_matches(_ENDING, text):
            path = _back(text, match.start()) + match[0]
            if _is_file(path, match[0]):
                yield from (("file", end) for end in path_ends(path))
    if "/" in text:
        for match in find_matches(_PATH, text):
            yield from (("file", end) for end in path_ends(match[0].rstrip(".")))


def _back(text: str, dot: int) -> str:
    """The part of the path before the ending."""
    before = text[max(0, dot - _LONGEST) : dot]
    return before[len(before.rstrip(_OF_PATHS)) :]


def _is_file(path: str, ending: str) -> bool:
    name = re.split(r"[/\\]", path)[-1].lower()
    stem = name.removesuffix(ending.lower()).lstrip(".-~+")
    if not stem or len(path) >= _LONGEST or name in _SOFTWARE:
        return False
    if "." in stem and path == stem + ending and _ATTRIBUTES.fullmatch(stem) and stem.split(".")[-1] not in _MIDDLES:
        return False  # `agent.exporters.jsonl` is code
    return len(ending) > 2 or (len(stem) > 1 and "." not in stem)  # `a.c`, `U.S.C`


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
        yield from islice(chinese_names(bare), _MOST)


_RULES: Final[tuple[Callable[[str], Iterator[Entity]], ...]] = (numbers, names, files)
_HAN: Final = re.compile("[\u4e00-\u9fff]")
