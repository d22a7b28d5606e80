"""Files: a name with an ending that files have, or a path from the root, from home or from here."""

import re
from collections.abc import Iterator

from memory.search.words.entities.looking import listed, places
from memory.search.words.marking import path_ends

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
_MIDDLES = listed("tar test spec min d config conf module local example prod dev")
_SOFTWARE = listed(
    "node.js vue.js next.js nuxt.js react.js three.js d3.js express.js backbone.js ember.js alpine.js angular.js p5.js"
    " chart.js deno.ts asp.cs"
)


def files(text: str) -> Iterator[tuple[str, str]]:
    if "." in text:
        for found in places(_ENDING, text):
            path = _back(text, found.start()) + found[0]
            if _is_file(path, found[0]):
                yield from (("file", end) for end in path_ends(path))
    if "/" in text:
        for found in places(_PATH, text):
            yield from (("file", end) for end in path_ends(found[0].rstrip(".")))


def _back(text: str, dot: int) -> str:
    """What stands before the ending and is of the path."""
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
