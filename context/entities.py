"""Kinds of things that a text may name, for the conditions in system.yaml.

The patterns are flat: none has a repeat within a repeat, so none can run away.
"""

import re

_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_EXTENSIONS = (
    "py|js|ts|tsx|md|txt|json|ya?ml|toml|csv|pdf|png|jpe?g|docx?|xlsx?|html?|css|sh|go|rs|c|h|cpp|java|sql|log"
)

_PATTERNS: dict[str, re.Pattern[str]] = {
    # Two characters of airline, one a letter at least, then one to four digits (IATA Resolution 762)
    "flight_number": re.compile(
        r"(?<![A-Za-z0-9])(?:[A-Z]{2}|[A-Z][0-9]|[0-9][A-Z])[ -]?[0-9]{2,4}[A-Z]?(?![A-Za-z0-9])"
    ),
    "url": re.compile(r"\bhttps?://[^\s<>\"'）】」]{3,2000}|\bwww\.[^\s<>\"'）】」]{3,2000}", re.IGNORECASE),
    "email": re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}\.[A-Za-z0-9.-]{2,190}"),
    "date": re.compile(
        r"\b[12][0-9]{3}[-/.][01]?[0-9][-/.][0-3]?[0-9]\b"
        r"|\b[0-3]?[0-9][./][01]?[0-9][./][12][0-9]{3}\b"
        rf"|\b(?:{_MONTHS})[a-z]{{0,6}}\.? [0-3]?[0-9](?:st|nd|rd|th)?\b"
        rf"|\b[0-3]?[0-9](?:st|nd|rd|th)? (?:of )?(?:{_MONTHS})[a-z]{{0,6}}\b"
        r"|[0-9]{1,4}年|[0-9]{1,2}月[0-9]{1,2}[日号]",
        re.IGNORECASE,
    ),
    "money": re.compile(
        r"[$€£¥￥₩₹] ?[0-9][0-9,.]{0,20}"
        r"|\b[0-9][0-9,.]{0,20} ?(?:usd|eur|gbp|jpy|cny|rmb|chf|dollars?|euros?|pounds?|yen|yuan)\b"
        r"|[0-9][0-9,.]{0,20} ?(?:万|千|百|亿)?(?:元|块|美元|欧元|日元|英镑)",
        re.IGNORECASE,
    ),
    "file_path": re.compile(
        r"(?<![\w/])(?:~|\.{1,2})?/[\w.-]{1,100}/?[\w./-]{0,300}"
        r"|\b[A-Za-z]:\\[^\s<>|?*\"]{1,300}"
        rf"|(?<![\w@/:.-])(?:[\w.-]{{1,60}}/){{0,12}}[\w-]{{1,100}}\.(?:{_EXTENSIONS})\b(?!@)"
    ),
    "code": re.compile(
        r"```|`[^`\n]{2,200}`"
        r"|^\s{0,40}(?:def|class|import|from|function|const|let|var|public|private|fn|func|#include)\b[^\n]{0,200}[({:;<]"
        r"|Traceback \(most recent call last\)|[A-Za-z_]\w{0,80}\([^)\n]{0,200}\)\s?[;{]",
        re.MULTILINE,
    ),
}

ENTITIES = tuple(_PATTERNS)
"""The kinds that `entity:` may name."""


def names_a(kind: str, text: str) -> bool:
    """Whether `text` names something of this kind. Raises KeyError where there is no such kind."""
    return _PATTERNS[kind].search(text) is not None


def found(kind: str, text: str) -> list[str]:
    """Each thing of this kind, in order."""
    return [match.group().strip() for match in _PATTERNS[kind].finditer(text)]
