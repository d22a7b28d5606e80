"""Values that are secrets next to a service's name: gitleaks' rules for them (`datadog: …`)."""

import re
from functools import cache
from typing import Final

from foundation.privacy.secret_rules import gitleaks_rules
from foundation.privacy.secret_values import entropy

SERVICE_VALUE: Final = re.compile(r"[A-Za-z0-9_.=+/|:~%-]{1,600}")
_WORDS: Final = re.compile(r"[A-Za-z][a-z]{2,}|[A-Z]{3,}")
_BETWEEN: Final = r"[ \t\w.-]{0,20}[\s'\"]{0,3}\Z"
_TAIL: Final = 32  # characters of the name that are looked at for a service's word
_LEAST: Final = 3.0  # bits a character, where gitleaks asks for less or nothing


def mentions_service(name: str) -> bool:
    """A quick check of the text before a sign."""
    return not _service_words().isdisjoint(map(str.lower, _WORDS.findall(name[-_TAIL:])))


def service_rule(name: str, value: str) -> str:
    """The rule by which the value is a secret of the service named before it, "" if it is none."""
    if not any(letter.isdigit() for letter in value) or not any(letter.isalpha() for letter in value):
        return ""
    bits = entropy(value)
    for id_, least, service, form in _rules():
        if bits >= least and form.fullmatch(value) and service.search(name):
            return id_
    return ""


@cache
def _rules() -> tuple[tuple[str, float, re.Pattern[str], re.Pattern[str]], ...]:
    return tuple(
        (
            rule.id,
            max(rule.entropy, _LEAST),
            re.compile(rf"(?:{rule.name}){_BETWEEN}", re.IGNORECASE | re.ASCII),
            re.compile(rule.value, re.IGNORECASE | re.ASCII),
        )
        for rule in gitleaks_rules().named
    )


@cache
def _service_words() -> frozenset[str]:
    names = (re.sub(r"\[([A-Z])[a-z]\]", r"\1", rule.name) for rule in gitleaks_rules().named)
    words = frozenset(word.lower() for name in names for word in re.findall(r"[A-Za-z]{3,}", name))
    return words - {"key", "token", "api", "login", "oauth", "new", "com"}
