"""A mark: a term that says what an entry is or holds, `=type:decision`, `=money:usd120`, or the bare kind `=money`.

No word's term begins with `=`, so marks lie in the same rows and postings as words and are never taken for one.
"""

import re
from functools import lru_cache

from foundation.text.folding import LONGEST, fold

MARK = "="
TYPE, CONCEPT, FILE = "type", "concept", "file"

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")
_SLASHES = re.compile(r"[\\/]+")
_MOST_PARTS = 4


@lru_cache(maxsize=1 << 14)
def mark(kind: str, value: str = "") -> str:
    """The mark of a kind, or of one value of it: folded, blanks as `_`, 64 characters at most."""
    if not value:
        return f"{MARK}{kind}"
    folded = _BLANKS.sub("_", fold(value[: 4 * LONGEST]).strip())[:LONGEST]
    return f"{MARK}{kind}:{folded}"


def path_ends(path: str) -> tuple[str, ...]:
    """`a/src/http.py` → `http.py`, `src/http.py`, `a/src/http.py`: each end of a path, of four parts at most."""
    parts = [part for part in _SLASHES.split(path) if part and part not in {".", "..", "~"}][-_MOST_PARTS:]
    return tuple("/".join(parts[-some:])[-LONGEST:] for some in range(1, len(parts) + 1))
