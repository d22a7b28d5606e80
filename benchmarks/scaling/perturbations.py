"""As many entries as are wanted, of real turns: words swapped for others of the corpus, names and numbers changed.

What comes out reads like the corpus and is full of near-duplicates of its turns, which is what makes a large store
hard. The same seed gives the same entries.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, product
from random import Random

from msgspec import Struct

from benchmarks.corpora.corpus import Corpus, Store

TURNS = 30  # of a conversation
_SWAPPED = 0.2  # of the words
_FIRST = datetime(2015, 1, 1, tzinfo=UTC)
_DAYS = 3900
_WORD = re.compile(r"\d+|[^\W\d_]+|\W+|_+")
_PEOPLE = [
    "".join(pair).capitalize()
    for pair in product(
        ("bar", "del", "fin", "kor", "lin", "mel", "nor", "per", "ras", "sol", "tam", "ul", "ver", "win", "yor"),
        (
            "a",
            "bert",
            "da",
            "fred",
            "gar",
            "ia",
            "ka",
            "lo",
            "mund",
            "na",
            "o",
            "ric",
            "sten",
            "to",
            "us",
            "vin",
            "wig",
            "y",
            "zan",
            "e",
        ),
    )
]
"""Three hundred: as many as speak to one person in the years that a million turns take."""


class Said(Struct, frozen=True):
    """One entry to be: `talk` numbers its conversation; `source` is the turn that it is, unchanged, or ""."""

    talk: int
    speaker: str
    time: datetime
    text: str
    source: str = ""


def entries(corpus: Corpus, count: int, seed: int = 4) -> Iterator[Said]:
    """So many: the corpus's own conversations as they are, scattered among perturbed ones."""
    return islice(_endless(corpus, count, Random(seed)), count)


def source(store: Store, turn: str) -> str:
    """What a turn of a store is called in `Said.source`."""
    return f"{store.name} {turn}"


def _endless(corpus: Corpus, count: int, dice: Random) -> Iterator[Said]:
    own = list(_own(corpus))
    after = max(1, count // TURNS // (len(own) + 1))  # so many perturbed talks between two of the corpus's own
    runs = [[(turn.speaker, turn.text) for turn in store.turns] for store in corpus.stores]
    words = [word for run in runs for _, text in run for word in _WORD.findall(text) if word.isalpha()]
    names = {turn.speaker for store in corpus.stores for turn in store.turns}
    talk = 0
    while True:
        if talk % (after + 1) == after and own:
            yield from (Said(talk, said.speaker, said.time, said.text, said.source) for said in own.pop())
        else:
            yield from _perturbed(talk, dice, dice.choice(runs), words, names)
        talk += 1


def _own(corpus: Corpus) -> Iterator[list[Said]]:
    for store in corpus.stores:
        talks: dict[str, list[Said]] = {}
        for turn in store.turns:
            time = datetime.fromisoformat(turn.time) if turn.time else _FIRST
            said = Said(0, turn.speaker, time, turn.text, source(store, turn.id))
            talks.setdefault(turn.conversation, []).append(said)
        yield from talks.values()


def _perturbed(
    talk: int, dice: Random, run: list[tuple[str, str]], words: list[str], names: set[str]
) -> Iterator[Said]:
    """A stretch of a conversation in other words, of other people, at another time."""
    start = dice.randrange(len(run))
    time = _FIRST + timedelta(days=dice.randrange(_DAYS), minutes=dice.randrange(900))
    others = dict(zip(sorted(names), dice.sample(_PEOPLE, len(names)), strict=True))
    for step in range(TURNS):
        speaker, text = run[(start + step) % len(run)]
        time += timedelta(minutes=1 + dice.randrange(4))
        yield Said(talk, others[speaker], time, _reworded(text, dice, words, others))


def _reworded(text: str, dice: Random, words: list[str], others: dict[str, str]) -> str:
    return "".join(_other(piece, dice, words, others) for piece in _WORD.findall(text))


def _other(piece: str, dice: Random, words: list[str], others: dict[str, str]) -> str:
    if piece in others:
        return others[piece]
    if piece.isdigit():
        return str(dice.randrange(10 ** min(len(piece), 4)))
    if piece.isalpha() and dice.random() < _SWAPPED:
        return words[int(dice.random() * len(words))]
    return piece
