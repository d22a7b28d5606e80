"""The analyser of one workspace: our rules, and its own."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.search.words import analyse
from memory.search.words.packing import Terms, unpack

if TYPE_CHECKING:  # YAML and patterns wait until there is a text
    from memory.search.words.own_rules import OwnRules


class Analyser:
    """What `analyse` gives, and what the rules of `entities.yaml` mark. The file is read at the first text."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def rules(self) -> "OwnRules":
        from memory.search.words.own_rules import read_rules

        return read_rules(self._path)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of entity that the workspace has."""
        return self.rules.names

    @property
    def version(self) -> str:
        """As it stands in the rows of what this finds."""
        own = self.rules.fingerprint
        return f"{analyse.version()}+{own}" if own else analyse.version()

    def __call__(self, text: str, speaker: str = "", meta: Mapping[str, Any] | None = None, /) -> Terms:
        found = analyse.analyse(text, speaker, meta)
        if not self.rules.kinds:
            return found
        held = {**dict.fromkeys(self.rules.marks(text), 1), **unpack(found.packed)}
        return Terms(packed(held), found.length, self.version)


def rules_trouble(analyse: object) -> str:
    """Why the workspace's own rules cannot be used, in a sentence; "" where they can, or there are none."""
    return analyse.rules.problem if isinstance(analyse, Analyser) else ""


def packed(counts: Mapping[str, int]) -> bytes:
    """Terms and how often they occur, as `pack` writes them."""
    terms = sorted(counts)
    names = "\n".join(terms).encode("utf-8", "surrogatepass")
    return names + b"\0" + bytes(counts[term] for term in terms) if terms else b""
