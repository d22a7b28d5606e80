"""Tokens in base64: known by how their first letters are encoded, and looked into before they are taken out."""

import base64
import binascii
import re
from functools import cache
from typing import Final

from foundation.privacy.secret_rules import TokenRule, token_rules

_LONGEST: Final = 8192
_KEY_BLOCK: Final = "-----BEGIN "
_ALPHABET: Final = "A-Za-z0-9+/_-"


@cache
def encoded_rules() -> tuple[TokenRule, ...]:
    """A rule for each token rule whose keyword says enough in base64. A token that begins within is not seen."""
    keywords = dict.fromkeys(rule.keyword for rule in token_rules() if len(rule.keyword) >= 4 and rule.back == (0, 0))
    return tuple(_rule(keyword) for keyword in dict.fromkeys(map(encoded_beginning, (_KEY_BLOCK, *keywords))))


def encoded_beginning(word: str) -> str:
    """The letters with which the base64 of anything begins that begins with the word."""
    return base64.b64encode(word.encode())[: len(word) * 8 // 6].decode()


def contains_secret(run: str) -> str | None:
    """The rule of the token, or of the key block, that the base64 begins with, if it does."""
    plain = decode_base64(run)
    if plain.startswith(_KEY_BLOCK):  # a certificate begins so, too
        return "private-key" if "PRIVATE KEY" in plain[:80] else None
    for rule in token_rules():
        if plain.startswith(rule.keyword) and rule.back == (0, 0) and (match := _pattern(rule).match(plain)):
            return rule.name if match.end() - match.start() >= 15 else None
    return None


def decode_base64(run: str) -> str:
    """The decoded base64, as far as it is complete."""
    run = re.sub(r"[^A-Za-z0-9+/_-]", "", run).replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(run[: len(run) // 4 * 4] + _padded(run)).decode("latin-1")
    except binascii.Error:
        return ""


def _padded(run: str) -> str:
    rest = run[len(run) // 4 * 4 :]
    return rest + "=" * (4 - len(rest)) if len(rest) >= 2 else ""


def _rule(keyword: str) -> TokenRule:
    pattern = rf"(?<![={_ALPHABET}]){keyword}[{_ALPHABET}]{{12,{_LONGEST}}}={{0,2}}"
    return TokenRule("base64", keyword, pattern, f"(?![{_ALPHABET}])", encoded=True)


@cache
def _pattern(rule: TokenRule) -> re.Pattern[str]:
    return re.compile(rule.pattern + rule.end, re.ASCII)
