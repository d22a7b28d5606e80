"""Plain ways to search, that need nothing installed: SQLite's FTS5 as it comes, and counting words as grep would."""

import re
from collections.abc import Sequence

import apsw

_WORD = re.compile(r"\w+")


class Fts5:
    """BM25 as SQLite has it, any of the question's words. `tokenizer` is `unicode61` or `trigram`."""

    def __init__(self, tokenizer: str = "unicode61") -> None:
        self._tokenizer = tokenizer

    def open(self, _name: str) -> None:
        self._db = apsw.Connection(":memory:")
        self._db.execute(f"CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, text, tokenize='{self._tokenizer}')")

    def add(self, some: Sequence[tuple[str, str]]) -> None:
        with self._db:
            self._db.executemany("INSERT INTO t VALUES (?, ?)", some)

    def ask(self, text: str, most: int) -> list[str]:
        query = " OR ".join(f'"{word}"' for word in dict.fromkeys(self._words(text)))
        if not query:
            return []
        rows = self._db.execute("SELECT id FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (query, most))
        return [str(row[0]) for row in rows]

    def _words(self, text: str) -> list[str]:
        words = _WORD.findall(text)
        if self._tokenizer != "trigram":
            return words
        return [word[start : start + 3] for word in words for start in range(len(word) - 2)]


class Grep:
    """As many of the question's words as a text holds, each anywhere in it and in any case; the earlier first."""

    def open(self, _name: str) -> None:
        self._texts: list[tuple[str, str]] = []

    def add(self, some: Sequence[tuple[str, str]]) -> None:
        self._texts.extend((name, text.casefold()) for name, text in some)

    def ask(self, text: str, most: int) -> list[str]:
        words = set(_WORD.findall(text.casefold()))
        counted = [(sum(word in body for word in words), name) for name, body in self._texts]
        found = sorted((each for each in counted if each[0]), key=lambda each: -each[0])
        return [name for _, name in found[:most]]
