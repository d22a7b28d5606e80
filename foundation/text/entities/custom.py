"""`entities.yaml`: what the person's own texts name, marked as our own kinds of entity are.

    ticket:
      pattern: "[A-Z]{2,5}-[0-9]{1,6}"
    project:
      words: [Palimpsest, 长卷]
    person:
      words: [Zelda]

A kind has patterns, words, or both; one of ours (person, place …) is added to. It is data and nothing else: patterns
are bounded in time. A file that cannot be read marks nothing, and
`problem` says why.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from foundation.files.untrusted import UnreadableFile, read_own_text
from foundation.regex import PatternBudget, SafePattern, UnsafePattern
from foundation.text.folding import LONGEST, fold
from foundation.text.tags import CONCEPT, TYPE, tag
from foundation.yaml import BadYaml, load_yaml

MOST_KINDS, MOST_PATTERNS, MOST_WORDS = 32, 32, 500
_SECONDS = 0.05  # that all patterns together may take over one text
_MAX_MATCHES = 128  # values of one kind in one text
_KIND = re.compile(r"[a-z][a-z0-9_-]{0,30}")


class BrokenRules(ValueError):
    """The file cannot be used; the message says why, without a full stop."""


class CustomKind(Struct, frozen=True):
    """One kind of entity: its patterns and its folded words."""

    name: str
    patterns: tuple[SafePattern, ...] = ()
    words: tuple[str, ...] = ()


class CustomRules(Struct, frozen=True):
    """A workspace's rules. `fingerprint` tells them from others; "" where there are none."""

    kinds: tuple[CustomKind, ...] = ()
    fingerprint: str = ""
    problem: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(kind.name for kind in self.kinds)

    def tags(self, text: str) -> frozenset[str]:
        """The marks of what the text names by these rules."""
        if not self.kinds:
            return frozenset()
        budget, folded = PatternBudget(_SECONDS), fold(text)
        tags_found = set[str]()
        for kind in self.kinds:
            values = [*_phrase_spans(kind.words, folded), *_matches(kind.patterns, text, budget)]
            tags_found.update(tag(kind.name, value) for value in values[:_MAX_MATCHES])
            if values:
                tags_found.add(tag(kind.name))
        return frozenset(tags_found)


def read_rules(path: Path) -> CustomRules:
    """The rules of a file; none where there is no file, and none but a `problem` where it cannot be used."""
    try:
        return parse_rules(read_own_text(path, within=path.parent))
    except FileNotFoundError:
        return CustomRules()
    except UnreadableFile as error:
        return CustomRules(problem=f"{path.name} was ignored: {error}.")
    except BadYaml as error:
        return CustomRules(problem=f"{path.name}, line {error.line}: {error.problem}.")
    except BrokenRules as error:
        return CustomRules(problem=f"{path.name}: {error}.")


def parse_rules(text: str) -> CustomRules:
    """Raises BadYaml, or BrokenRules."""
    document = load_yaml(text)
    if document is None:
        return CustomRules()
    if not isinstance(document, dict):
        raise BrokenRules("it must list kinds, each with a pattern or words")
    rules = cast("dict[Any, Any]", document)
    if len(rules) > MOST_KINDS:
        raise BrokenRules(f"it lists {len(rules)} kinds; {MOST_KINDS} are the most")
    kinds = tuple(_kind(name, rule) for name, rule in rules.items())
    if sum(len(kind.patterns) for kind in kinds) > MOST_PATTERNS or sum(len(kind.words) for kind in kinds) > MOST_WORDS:
        raise BrokenRules(f"{MOST_PATTERNS} patterns and {MOST_WORDS} words are the most")
    plain = json.dumps(rules, sort_keys=True, ensure_ascii=True, default=str)
    return CustomRules(kinds, hashlib.sha256(plain.encode()).hexdigest()[:8])


def _kind(name: object, rule: object) -> CustomKind:
    if not isinstance(name, str) or not _KIND.fullmatch(name) or name in {TYPE, CONCEPT}:
        raise BrokenRules(
            f"“{name}” is not a valid kind: use lower-case letters, digits, - and _, for example `ticket`"
        )
    if not isinstance(rule, dict):
        raise BrokenRules(f"{name} needs `pattern:` or `words:`")
    keys = cast("dict[Any, Any]", rule)
    if strange := [key for key in keys if key not in {"pattern", "patterns", "words"}]:
        raise BrokenRules(f"{name} has “{strange[0]}”; allowed are pattern, patterns and words")
    sources = [*_texts(name, keys.get("pattern")), *_texts(name, keys.get("patterns"))]
    words = [" ".join(fold(word).split()) for word in _texts(name, keys.get("words"))]
    if not sources and not words:
        raise BrokenRules(f"{name} has neither a pattern nor words")
    if long := [word for word in words if not word or len(word) > LONGEST]:
        raise BrokenRules(f"{name}: a word must have 1 to {LONGEST} characters: “{long[0][:20]}”")
    return CustomKind(name, tuple(_pattern(name, source) for source in sources), tuple(words))


def _texts(name: str, value: object) -> list[str]:
    several = cast("list[object]", value) if isinstance(value, list) else [] if value is None else [value]
    if strange := [item for item in several if not isinstance(item, str | int)]:
        raise BrokenRules(f"{name}: “{strange[0]}” is not text")
    return [str(item) for item in several]


def _pattern(name: str, source: str) -> SafePattern:
    try:
        pattern = SafePattern(source)
    except UnsafePattern as error:
        raise BrokenRules(f"{name}: {error}") from error
    except re.error as error:
        raise BrokenRules(f"{name}: this is not a valid pattern ({error})") from error
    if pattern.matches(""):
        raise BrokenRules(f"{name}: the pattern matches the empty text; it must require at least one character")
    return pattern


def _phrase_spans(words: tuple[str, ...], folded: str) -> Iterator[str]:
    for word in words:
        at = folded.find(word)
        while at >= 0:
            if _is_whole_word(folded, at, at + len(word)):
                yield word
                break
            at = folded.find(word, at + 1)


def _is_whole_word(text: str, start: int, end: int) -> bool:
    """Not within a longer word, where its letters are such as make words: Chinese stands beside anything."""
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    return not (_joins(before) and _joins(text[start])) and not (_joins(after) and _joins(text[end - 1]))


def _joins(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()


def _matches(patterns: tuple[SafePattern, ...], text: str, budget: PatternBudget) -> Iterator[str]:
    for pattern in patterns:
        yield from pattern.found(text, budget, most=_MAX_MATCHES)
