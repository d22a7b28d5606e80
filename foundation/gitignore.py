"""The rules of .gitignore files, the nearest folder's first.

pathspec turns a rule into a regular expression. A rule of a stranger's repository may be made to take forever
(`*a*a*a*a*a*b`), so that stars within a name match their shortest text without going back, which finds the same names.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

MOST_RULES: Final = 2_000  # of one file
LONGEST_RULE: Final = 1_000  # characters
MOST_DEEP: Final = 4  # `**` in a rule, each of which may go back
_STAR: Final = re.compile(r"\[\^/\]\*((?:\\.|\[(?!\^/\]\*)(?:\\.|[^\]\\])*\]|[^/()\[\\])+)(?=\[\^/\]\*)", re.DOTALL)


class IgnoreRules(Struct, frozen=True):
    """The rules of one .gitignore file, for paths relative to its folder."""

    rules: tuple[tuple[bool, "re.Pattern[str]"], ...]

    @classmethod
    def parse(cls, text: str) -> "IgnoreRules":
        """The rules of the file's text. A line that cannot be understood is left out, as git does."""
        rules = list[tuple[bool, re.Pattern[str]]]()
        for line in text.splitlines()[:MOST_RULES]:
            if (compiled := compile_glob(line)) is not None:
                rules.append(compiled)
        return cls(tuple(rules))

    def verdict(self, path: str) -> bool | None:
        """Whether the path (a folder's ends with /) is ignored: the last rule that matches; None where none does."""
        return next((ignored for ignored, rule in reversed(self.rules) if rule.search(path)), None)


def is_ignored(stack: Sequence[tuple[int, IgnoreRules]], parts: Sequence[str], *, folder: bool) -> bool:
    """Whether the path of `parts` is ignored by the rules of the folders above it, each with its depth."""
    for depth, rules in reversed(stack):
        path = "/".join(parts[depth:]) + ("/" if folder else "")
        if (verdict := rules.verdict(path)) is not None:
            return verdict
    return False


@lru_cache(maxsize=4096)
def compile_glob(line: str) -> tuple[bool, "re.Pattern[str]"] | None:
    """Whether the rule ignores, and its expression; None for a comment, or a rule that cannot be understood."""
    if len(line) > LONGEST_RULE or line.count("**") > MOST_DEEP:
        return None
    from pathspec import GitIgnoreSpec

    try:
        rules: list[Any] = list(GitIgnoreSpec.from_lines([line]).patterns)
    except ValueError:
        return None
    if not rules or rules[0].include is None or rules[0].regex is None:
        return None
    return rules[0].include, re.compile(_STAR.sub(r"(?>[^/]*?\1)", rules[0].regex.pattern))
