"""Synonyms, English and Chinese: `synonyms_of("car")` → vehicl, automobil, sedan, truck, … each with its similarity.

The table ships with the program (data/synonyms.zst): 12,000 English terms with up to twenty others each.
scripts/synonym_table.py made it once from all-MiniLM-L6-v2 (Apache 2.0, see data/LICENSE-MINILM.txt); no model is
loaded. It has no names. Chinese synonyms are a list of everyday words (data/chinese_synonyms.txt).
"""

import math
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import zstandard
from numpy.typing import NDArray

MOST = 20
_COMMONEST = 30  # terms that are about as common as the first
_FILE = Path(__file__).parent / "data" / "synonyms.zst"
_CHINESE_FILE = _FILE.with_name("chinese_synonyms.txt")
_CHINESE_SHARE = 0.9
_SHARES = 255  # a share from 0 to 1 is kept in a byte


class Synonym(NamedTuple):
    """A term, and how near it is: from 0 to 1, which would be the same."""

    term: str
    share: float


def synonyms_of(term: str) -> tuple[Synonym, ...]:
    """The synonyms of a term, most similar first, at most MOST; none for a term that is not in a table."""
    chinese, table = _chinese().get(term, ()), stored_table()
    index = table.places.get(term)
    if index is None:
        return chinese
    part = slice(int(table.starts[index]), int(table.starts[index + 1]))
    others = zip(table.others[part].tolist(), table.shares[part].tolist(), strict=True)
    english = (Synonym(table.terms[other], share / _SHARES) for other, share in others)
    found: dict[str, Synonym] = {}
    for synonym in (*chinese, *english):
        found.setdefault(synonym.term, synonym)
    return tuple(found.values())[:MOST]


@cache
def _chinese() -> dict[str, tuple[Synonym, ...]]:
    lines = (line for line in _CHINESE_FILE.read_text("utf-8").splitlines() if not line.startswith("#"))
    near: dict[str, dict[str, None]] = {}
    for line in lines:
        head, colon, rest = line.partition(":")
        words = rest.split() if colon else line.split()
        for word in [head] if colon else words:
            for other in (other for other in words if other != word):
                near.setdefault(word, {})[other] = None
                near.setdefault(other, {})[word] = None
    return {term: tuple(Synonym(other, _CHINESE_SHARE) for other in others) for term, others in near.items()}


def rareness(term: str) -> float:
    """How much an English term says, whatever text it stands in: from 0 for the commonest of the table, which is in the
    order of frequency, to 1 for a term that is not in it."""
    table = stored_table()
    place = table.places.get(term, len(table.terms))
    return math.log1p(place / _COMMONEST) / math.log1p(len(table.terms) / _COMMONEST)


class _Table(NamedTuple):
    terms: list[str]
    places: dict[str, int]
    starts: NDArray[np.int64]
    others: NDArray[np.uint16]
    shares: NDArray[np.uint8]


def encode_table(synonyms: dict[str, list[Synonym]]) -> bytes:
    """The table as a file: terms, a line each, a zero byte, the numbers of synonyms, the synonyms, their shares."""
    terms = list(synonyms)
    indexes = {term: index for index, term in enumerate(terms)}
    counts = np.array([len(others) for others in synonyms.values()], "u1")
    others = np.array([indexes[other.term] for group in synonyms.values() for other in group], "<u2")
    shares = np.array([round(other.share * _SHARES) for group in synonyms.values() for other in group], "u1")
    table = b"\0".join(("\n".join(terms).encode(), counts.tobytes() + others.tobytes() + shares.tobytes()))
    return zstandard.ZstdCompressor(level=19).compress(table)


@cache
def stored_table() -> _Table:
    names, _, rest = zstandard.ZstdDecompressor().decompress(_FILE.read_bytes()).partition(b"\0")
    terms = names.decode().split("\n")
    counts = np.frombuffer(rest, "u1", len(terms))
    starts = np.concatenate((np.zeros(1, "i8"), np.cumsum(counts, dtype="i8")))
    total = int(starts[-1])
    others = np.frombuffer(rest, "<u2", total, len(terms))
    shares = np.frombuffer(rest, "u1", total, len(terms) + 2 * total)
    return _Table(terms, {term: index for index, term in enumerate(terms)}, starts, others, shares)
