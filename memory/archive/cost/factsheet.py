"""A page's factsheet: the tokens that must be exact, as text beside the picture.

A chat model reads a page in gist and misreads a hash or a figure without noticing. So hashes, numbers with their
units, dates, versions, paths, addresses, identifiers and names stand beside it in writing, as pxpipe does (96 a page).
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from foundation.privacy import clear

MOST = 96
LONGEST = 200  # characters of one token; a longer one is not exact when cut, so it is left out

_MARKS = re.compile(r"\[(?:private|injected|secret: [^\]\n]{1,60})\]")

# The order says which of two kinds a token is that could be both; `weight` which stays where there are too many.
_KINDS: tuple[tuple[str, int, str], ...] = (
    ("url", 5, r"\bhttps?://[^\s<>\"'`）】」\]]{3,400}|\bwww\.[^\s<>\"'`）】」\]]{3,400}"),
    ("email", 5, r"[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}"),
    ("uuid", 5, r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"),
    ("path", 4, r"(?<![\w/])(?:~|\.{1,2})?(?:/[\w.@+-]{1,80}){2,12}/?|\b[A-Za-z]:\\[^\s<>|?*\"]{1,200}"),
    ("file", 4, r"(?<![\w/])(?:[\w.-]{1,60}/){0,10}[\w-]{1,80}\.[a-z][a-z0-9]{0,4}\b(?![\w(])"),
    (
        "date",
        4,
        r"\b[12]\d{3}-[01]\d-[0-3]\d(?:[T ][0-2]\d:[0-5]\d(?::[0-5]\d)?Z?)?|\b[12]\d{3}[/.][01]?\d[/.][0-3]?\d\b",
    ),
    (
        "day",
        4,
        r"\b(?:[0-3]?\d(?:st|nd|rd|th)? )?(?:January|February|March|April|May|June|July|August|September|October"
        r"|November|December)(?: [0-3]?\d(?:st|nd|rd|th)?)?,?(?: [12]\d{3})?(?<=[\dhdt])(?!\w)"
        r"|[0-9]{1,4}年(?:[0-9]{1,2}月)?(?:[0-9]{1,2}[日号])?|[0-9]{1,2}月[0-9]{1,2}[日号]",
    ),
    ("time", 3, r"\b[0-2]?\d:[0-5]\d(?::[0-5]\d)?(?: ?[ap]\.?m\b)?"),
    ("hash", 5, r"\b(?=[0-9a-f]{0,39}[0-9])(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,128}\b|\b0x[0-9a-fA-F]{2,64}\b"),
    ("version", 4, r"\bv?\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+.][0-9A-Za-z.]{1,30})?\b"),
    ("money", 4, r"[$€£¥￥₩₹] ?\d[\d,.]{0,20}(?: ?[kKmM]\b)?|\b\d[\d,.]{0,20} ?(?:USD|EUR|GBP|JPY|CNY|CHF|元|块)"),
    ("key", 5, r"\b(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Za-z])(?=[\w-]{0,40}[-_])[A-Za-z0-9][\w-]{3,79}\b"),
    ("code", 5, r"\b(?=[A-Z0-9]{0,11}\d)(?=[A-Z0-9]{0,11}[A-Z])[A-Z0-9]{3,12}\b"),
    ("call", 3, r"\b[A-Za-z_]\w{1,60}(?:\.[A-Za-z_]\w{1,60}){0,5}\(\)"),
    ("name_of_code", 3, r"\b[a-z][a-z0-9]{0,40}(?:_[a-z0-9]{1,40}){1,8}\b|\b[a-z]{2,30}(?:[A-Z][a-z0-9]{1,30}){1,6}\b"),
    ("dotted", 3, r"\b[a-z_]\w{1,40}(?:\.[a-z_]\w{1,40}){1,6}\b"),
    ("camel", 3, r"\b(?:[A-Z][a-z0-9]{1,30}){2,6}\b|\b[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}\b"),
    (
        "measure",
        3,
        r"(?<![\w.])[-+]?\d[\d,]{0,20}(?:\.\d{1,12})? ?(?:%|°[CF]?|[kKMGT]i?B|[kmcµn]?m|k?g|mg|l|ml|[kM]?Hz|[kMG]?W"
        r"|k?Wh|ms|s|min|h|hours?|minutes?|seconds?|days?|weeks?|months?|years?|px|dpi|tokens?|miles?|feet|ft|lbs?)(?![\w%])",
    ),
    (
        "number",
        2,
        r"(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3}){1,6}|\d{2,20})(?:\.\d{1,12})?(?![\w])|(?<![\w.])\d\.\d{1,12}\b",
    ),
    (
        "name",
        1,
        r"\b[A-Z][a-z'’]{1,30}(?: (?:(?:of|de|van|von|the) )?[A-Z][\w'’-]{1,30}){1,3}|(?<=[a-z,;] )[A-Z][a-z]{2,30}\b",
    ),
    ("title", 1, r"《[^《》\n]{1,60}》|「[^「」\n]{1,60}」"),
)
_PLAIN = (
    r"(?:[a-z]{1,40}[,;:!?]?[ \n]{1,8})+|[\u3040-\u30ff\u4e00-\u9fff、。，！？；：]+"  # most of a text: passed over
)
_ANY = re.compile(f"{_PLAIN}|" + "|".join(f"(?P<{name}>{pattern})" for name, _, pattern in _KINDS))
_WEIGHTS = {name: weight for name, weight, _ in _KINDS}


def factsheet(text: str, most: int = MOST) -> tuple[str, ...]:
    """At most `most` exact tokens of the text, each once, in the order in which they first appear.

    Where there are more, names are left out first, then plain figures. What is private or a secret is never among them.
    """
    kept = sorted(_ranked(text)[: max(0, most)])
    return tuple(token for _, token in kept)


@lru_cache(maxsize=32)
def _ranked(text: str) -> tuple[tuple[int, str], ...]:
    """Each token with its place, those first that stay longest."""
    found: dict[str, tuple[int, int]] = {}
    for place, (token, weight) in enumerate(_tokens(_MARKS.sub(" ", clear(text)))):
        if token not in found:
            found[token] = (-weight, place)
    return tuple((found[token][1], token) for token in sorted(found, key=found.__getitem__))


_NO_NAME = re.compile(
    r"(?:(?:Hey|Hi|Hello|Thanks|Thank|Yeah|Yes|No|Oh|So|Wow|And|But|The|This|That|It's|I'm|I've|I'll|Let|Dear|Well) )+"
)


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    for match in _ANY.finditer(text):
        token = match.group().rstrip(".,:;!?'’-" if match.lastgroup != "title" else "")
        if match.lastgroup == "name":
            token = _NO_NAME.sub("", token, count=1)
        if 2 <= len(token) <= LONGEST and match.lastgroup:
            yield token, _WEIGHTS[match.lastgroup]
