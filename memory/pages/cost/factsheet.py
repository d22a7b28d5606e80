"""A page's factsheet: the tokens that must be exact, as text next to the picture.

A chat model reads a page in gist and misreads a hash or a figure without noticing. So hashes, numbers with their
units, dates, versions, paths, addresses, identifiers and names stand beside it in writing, as pxpipe does (96 a page).

Which capitalised words are names: not what a sentence begins with, unless it stands within one too.

Finds the tokens of a text that must be exact: one pass that leaps over plain words, and tries a kind only where its
first character stands.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from foundation.privacy import TextSource, clear

# Words that begin English sentences, and are capital for that alone. Their forms with an apostrophe are common too.
_COMMON: Final = frozenset(
    """A About Absolutely Actually After Again Ah All Almost Already Also Although Always Amazing An And Another Any
    Anyway Are As At Aw Awesome Aww Be Because Been Before Being Besides Best Both But By Bye Can Cheers Congrats
    Congratulations Cool Could Cute Dear Definitely Did Do Does Doing Each Either Else Especially Even Ever Every
    Everyone Everything Exactly Fantastic Finally First For From Generally Getting Glad Go Going Gonna Good
    Goodbye Got Great Had Haha Happy Has Have Having He Hello Her Here Hers Hey Hi His Honestly Hopefully How
    However I If In Indeed Instead Is It Its Just Keep Last Lately Later Let Like Looking Lots Love Lovely Luckily
    Many Maybe Me Meanwhile More Most Much My Neither Never Next Nice No None Nope Not Nothing Now Obviously Of Oh
    Ok Okay On Once One Only Or Other Otherwise Our Out Over Perhaps Personally Please Plus Pretty Probably Quite
    Really Recently Right Same See Seeing Several She Should Similarly Since So Some Somehow Someone Something
    Sometimes Soon Sorry Sounds Still Such Super Sure Take Thank Thanks That The Their Them Then There Therefore
    These They Thing Things This Those Though Thus To Today Together Tomorrow Too Totally True Two Unfortunately
    Until Up Us Usually Very Wait Was Way We Welcome Well Were What Whatever When Whenever Where Whether Which
    While Who Whoa Whose Why Wish With Without Wonderful Would Wow Yay Yeah Yep Yes Yesterday Yet You Your Yours
    Yup""".split()  # noqa: SIM905 — a list of them fills a screen
)
_COMMON_FIRST: Final = frozenset(("May", "Will", "Don", "Hope"))  # names too, where a sentence does not begin with them
_BETWEEN: Final = frozenset(("of", "de", "van", "von", "the"))
_SINGLE: Final = re.compile(r"[A-Z][a-z]{2,30}")


def name_in(phrase: str, before: str) -> tuple[str, bool]:
    """The name in a run of capitalised words, and whether that is sure: a word alone at a sentence's start may be any.

    `before` are the two characters before the run. "" where the run is none.
    """
    words = phrase.replace("’", "'").split(" ")
    last = next((n for n, word in enumerate(words) if word.startswith("I'")), len(words))
    first = int(len(words) > 1 and words[0] in _COMMON_FIRST and not _goes_on(before))
    while first < last and (words[first] in _BETWEEN or _is_common(words[first])):
        first += 1
    while last > first and words[last - 1] in _BETWEEN:
        last -= 1
    name = phrase.split(" ")[first:last]
    if len(name) != 1:
        return " ".join(name), True
    single = _SINGLE.match(name[0])
    return (single.group(), first > 0 or _goes_on(before)) if single else ("", False)


def _is_common(word: str) -> bool:
    return word.partition("'")[0] in _COMMON


def _goes_on(before: str) -> bool:
    """Whether the text is within a sentence."""
    return len(before) == 2 and before[1] == " " and (before[0].isalnum() or before[0] in ",;)")


MARKS: Final = re.compile(r"\[(?:private|injected|secret: [^\]\n]{1,60})\]")

# The order says which of two kinds a token is that could be both; `weight` which stays where there are too many;
# `begins` with which characters it may: a lower-case letter, an upper-case one, N for a word like Lisbon that nothing
# but a space goes on from, a digit, _ or a sign of its own; * is a letter or digit beyond ASCII.
_KINDS: Final[tuple[tuple[str, int, str, str], ...]] = (
    ("url", 5, "a", r"\bhttps?://[^\s<>\"'`）】」\]]{3,400}|\bwww\.[^\s<>\"'`）】」\]]{3,400}"),
    ("email", 5, "aA0_.+-*", r"[\w.+-]{1,64}+@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}"),
    ("uuid", 5, "aA0", r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"),
    ("path", 4, "/~.", r"(?<![\w/])(?:~|\.{1,2})?(?:/[\w.@+-]{1,80}){2,12}/?"),
    ("drive", 4, "aA", r"\b[A-Za-z]:\\[^\s<>|?*\"]{1,200}"),
    ("file", 4, "aA0_.-*", r"(?<![\w/])(?:[\w.-]{1,60}+/){0,10}[\w-]{1,80}+\.[a-z][a-z0-9]{0,4}\b(?![\w(])"),
    (
        "date",
        4,
        "0",
        r"\b[12]\d{3}-[01]\d-[0-3]\d(?:[T ][0-2]\d:[0-5]\d(?::[0-5]\d)?Z?)?|\b[12]\d{3}[/.][01]?\d[/.][0-3]?\d\b",
    ),
    (
        "day",
        4,
        "NA0",
        r"\b(?:[0-3]?\d(?:st|nd|rd|th)? )?(?:January|February|March|April|May|June|July|August|September|October"
        r"|November|December)(?: [0-3]?\d(?:st|nd|rd|th)?)?,?(?: [12]\d{3})?(?<=[\dhdt])(?!\w)"
        r"|[0-9]{1,4}年(?:[0-9]{1,2}月)?(?:[0-9]{1,2}[日号])?|[0-9]{1,2}月[0-9]{1,2}[日号]",
    ),
    ("time", 3, "0*", r"\b[0-2]?\d:[0-5]\d(?::[0-5]\d)?(?: ?[ap]\.?m\b)?"),
    (
        "hash",
        5,
        "a0",
        r"\b(?=[a-f]{0,39}[0-9])(?=[0-9]{0,39}[a-f])[0-9a-f]{7,128}\b|\b0x[0-9a-fA-F]{2,64}\b",
    ),
    ("version", 4, "a0*", r"\bv?\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+.][0-9A-Za-z.]{1,30})?\b"),
    ("money", 4, "$", r"[$€£¥￥₩₹] ?\d[\d,.]{0,20}(?: ?[kKmM]\b)?"),
    ("price", 4, "0*", r"\b\d[\d,.]{0,20} ?(?:USD|EUR|GBP|JPY|CNY|CHF|元|块)"),
    ("key", 5, "aA0", r"\b(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Za-z])(?=[\w-]{0,40}[-_])[A-Za-z0-9][\w-]{3,79}\b"),
    ("code", 5, "A0", r"\b(?=[A-Z]{0,11}\d)(?=[0-9]{0,11}[A-Z])[A-Z0-9]{3,12}\b"),
    ("call", 3, "aA_", r"\b[A-Za-z_]\w{1,60}(?:\.[A-Za-z_]\w{1,60}){0,5}\(\)"),
    ("snake", 3, "a", r"\b[a-z][a-z0-9]{0,40}(?:_[a-z0-9]{1,40}){1,8}\b"),
    ("small_camel", 3, "a", r"\b[a-z]{2,30}(?:[A-Z][a-z0-9]{1,30}){1,6}\b"),
    ("dotted", 3, "a_", r"\b[a-z_]\w{1,40}(?:\.[a-z_]\w{1,40}){1,6}\b"),
    ("camel", 3, "A", r"\b(?:[A-Z][a-z0-9]{1,30}){2,6}\b|\b[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}\b"),
    (
        "measure",
        3,
        "0+-*",
        r"(?<![\w.])[-+]?\d[\d,]{0,20}(?:\.\d{1,12})? ?(?:%|°[CF]?|[kKMGT]i?B|[kmcµn]?m|k?g|mg|l|ml|[kM]?Hz|[kMG]?W"
        r"|k?Wh|ms|s|min|h|hours?|minutes?|seconds?|days?|weeks?|months?|years?|px|dpi|tokens?|miles?|feet|ft|lbs?)(?![\w%])",
    ),
    (
        "number",
        2,
        "0+-*",
        r"(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3}){1,6}|\d{2,20})(?:\.\d{1,12})?(?![\w])|(?<![\w.])\d\.\d{1,12}\b",
    ),
    (
        "name",
        1,
        "NA",
        r"\b[A-Z][a-z'’]{1,30}(?: (?:(?:of|de|van|von|the) )?[A-Z][\w'’-]{1,30}){1,3}|\b[A-Z][a-z]{2,30}\b",
    ),
    ("title", 1, "《", r"《[^《》\n]{1,60}》|「[^「」\n]{1,60}」"),
)
_BEGINS: Final = {
    "a": "[a-z]",
    "N": r"[A-Z][a-z]*+(?![\w@/\\.+:'’-]|\(\))",
    "A": "[A-Z]",
    "0": "[0-9]",
    "_": "_",
    "/": "[/~]",
    ".": r"\.",
    "+": r"\+",
    "-": "-",
    "$": "[$€£¥￥₩₹]",
    "《": "[《「]",
    "*": r"[^\W\x00-\x7f]",
}
_NEEDS: Final = {"email": "@", "drive": ":\\"}  # what stands in each; a text without it is not searched for them
_TRAIL: Final = ".,:;!?'’-"  # no part of a token that it stands at the end of
# Most of a text, in which no kind begins: words of small letters that nothing goes on from, marks between them, and
# Chinese and Japanese.
_PLAIN: Final = (
    r"(?:[\s,;:!?\"'`()\[\]{}=<>|&*#^%、。，！？；：’“”…–—]++|_?[a-z]++(?![\w@/\\+-]|[.:][\w./\\@+-]|\(\))|\.(?=\s)|[-+](?=[\s>=])"
    r"|[\u3040-\u30ff\u4e00-\u9fff]++)*+"
)


class ExactToken(NamedTuple):
    """A token, its kind, and its rank where there are too many."""

    token: str
    kind: str
    weight: int


@lru_cache(maxsize=4)
def _scanner(without: frozenset[str]) -> tuple[re.Pattern[str], list[tuple[str, int]]]:
    """The pattern of all kinds but these, and the kind and weight of each of its groups."""
    groups: list[tuple[str, int]] = [("", 0)]
    branches: list[str] = []
    for mark, begins in _BEGINS.items():
        kinds = [kind for kind in _KINDS if mark in kind[2] and kind[0] not in without]
        groups += [(name, weight) for name, weight, *_ in kinds]
        branches.append(f"(?={begins})(?:" + "|".join(f"({pattern})" for *_, pattern in kinds) + ")")
    return re.compile(_PLAIN + "(?:" + "|".join(branches) + r"|[A-Za-z_]++|[\s\S]|\Z)"), groups


def exact_tokens(text: str) -> list[ExactToken]:
    """The exact tokens of the text, each once, in order of first appearance."""
    scanner, groups = _scanner(frozenset(kind for kind, sign in _NEEDS.items() if sign not in text))
    weights: dict[str, tuple[str, int]] = {}
    for match in scanner.finditer(text):
        if not (group := match.lastindex):
            continue
        token = match[group]
        if token in weights and weights[token][0] != "maybe":
            continue
        kind, weight = groups[group]
        if kind == "name":
            start = match.start(group)
            token, sure = name_in(token.rstrip(_TRAIL), text[max(0, start - 2) : start])
            if not token:
                continue
            kind = "name" if sure else "maybe"
        elif kind != "title":
            token = token.rstrip(_TRAIL)
        if token not in weights or (kind != "maybe" and weights[token][0] == "maybe"):
            weights[token] = (kind, weight)
    return [ExactToken(token, *kind) for token, kind in weights.items() if kind[0] != "maybe"]


MOST = 96
LONGEST = 200  # characters of one token; a longer one is not exact when cut, so it is left out


def factsheet(text: str, most: int = MOST) -> tuple[str, ...]:
    """At most `most` exact tokens of the text, each once, in the order in which they first appear.

    Where there are more, names are left out first, then plain figures. What is private or a secret is never among them.
    """
    selected = sorted(_ranked(text)[: max(0, most)])
    return tuple(token for _, token in selected)


def clear_cache() -> None:
    """Clears the cache of texts, where private text must leave this process."""
    _ranked.cache_clear()


@lru_cache(maxsize=32)
def _ranked(text: str) -> tuple[tuple[int, str], ...]:
    """Each token with its offset, the most important first."""
    tokens = enumerate(exact_tokens(MARKS.sub(" ", clear(text, TextSource.OTHER))))
    fitting = [(-exact.weight, index, exact.token) for index, exact in tokens if 2 <= len(exact.token) <= LONGEST]
    return tuple((index, token) for _, index, token in sorted(fitting))
