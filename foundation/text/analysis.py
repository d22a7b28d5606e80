"""Text analysis: from text to the terms of the search index.

    "Sarah went to src/http_client.py"  →  sarah go to src/http_client.py src http_client http client py

English is stemmed, irregular verbs included, and a text that is clearly in another language by the rules of that
language. Case, width, accents and traditional characters are folded. Scripts without spaces give pairs of characters (a
single character gives itself). Identifiers, paths, versions, hashes, addresses and hashtags give a term for the whole
and one for each part. An emoji is a word. Terms are stored: any change of what this gives must raise ANALYSER.

`Analyser` adds the entity rules of one workspace.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foundation.lazy_pattern import lazy_pattern
from foundation.text.folding import EMOJI, LONGEST, MARKS, UNSPACED, fold, lowercase
from foundation.text.identifiers import parts_of
from foundation.text.languages import language_of, stem_in
from foundation.text.stemming import stem
from foundation.text.tags import entry_tags
from foundation.text.term_codec import PackedTerms, TermRuns, pack_terms, unpack_terms

if TYPE_CHECKING:  # YAML and patterns wait until there is a text
    from foundation.text.entities.custom import CustomRules


__all__ = [
    "ANALYSER",
    "PackedTerms",
    "analyse",
    "analyser_version",
    "iter_terms",
    "term_list",
    "terms_of",
    "token_spans",
    "unpack_terms",
]

ANALYSER = 4
CACHED_TOKENS = 1 << 13  # of each cache: with eight times as many, 5 % less time for 30 MB
TITLE = "summary"
"""The field of a tool result's metadata that says in a line what the call did."""
_LONGEST_TITLE = 500  # characters
_TITLE_TIMES = 2  # as often as its words count as if they stood in the text
LANGUAGE = "language"
"""The kind of the tag of a text in another language: `=language:german`."""
_LONGEST_CACHED = 64  # characters of a token whose terms are cached
_LONGEST_LANGUAGE = len("C++")  # an address may end like one, and is longer

PIECE = 2**19
"""Characters of a text whose terms are found at once."""
_CUT = re.compile(r"[\s。，；]")

_LETTER = rf"(?:[^\W{UNSPACED}]|[{MARKS}])"
_TOKEN = (
    rf"(?P<unspaced>[{UNSPACED}]+)"
    r"|(?P<address>(?:https?|ftp|file)://[^\s\x00-\x1f<>\"'`|{}\[\]）】」，。；]+[^\s<>\"'`|{}\[\]）】」，。；.,;:!?)])"
    rf"|(?P<language>\b[A-Za-z](?:\+\+|\#)(?!\w))"
    rf"|(?P<word>{_LETTER}++(?:(?:::|[.\-/\\:@'’+&~,]){_LETTER}++)*+)"  # possessive: a long run keeps no way back
    rf"|(?P<tag>[#@](?<![\w#@&/].){_LETTER}++(?:-{_LETTER}++)*+)"
    rf"|(?P<flag>[\U0001f1e6-\U0001f1ff]{{2}})|(?P<emoji>[{EMOJI}])"
)
TOKEN = lazy_pattern(_TOKEN)
"""A token as it is written. `unspaced` is a run without spaces; `word` may contain joints such as `-` or `.`."""

_HAN = re.compile(r"[\u4e00-\u9fff]+")

_SIGNS = r"[\x00-\x22\x24-\x2f\x3a-\x3f\x5b-\x5e\x60\x7b-\x7f]*+"
SCANNER = lazy_pattern(
    rf"{_SIGNS}(?:" + _TOKEN.replace(f"{_LETTER}++", f"(?:[A-Za-z0-9_]++|{_LETTER})++") + r"|[\s\S]|\Z)"
)
"""The same for all tokens of a text, in a third of the time: a match is the signs before a token, and the token."""

ASCII_SCANNER = lazy_pattern(
    rf"{_SIGNS}(?:("
    r"(?:https?|ftp|file)://[^\s\x00-\x1f<>\"'`|{}\[\]]+[^\s<>\"'`|{}\[\].,;:!?)]"
    r"|[A-Za-z](?:\+\+|\#)(?!\w)"
    r"|[A-Za-z0-9_]++(?:(?:::|[.\-/\\:@'+&~,])[A-Za-z0-9_]++)*+"
    r"|[#@](?<![\w#@&/].)[A-Za-z0-9_]++(?:-[A-Za-z0-9_]++)*+"
    r")|[\s\S]|\Z)"
)
"""The same for an ASCII text, in half the time: `findall` gives its tokens, and "" after the last."""

_PLAIN_WORD = re.compile(rf"[{UNSPACED}]|[^\W_]+")


def analyse(
    text: str, speaker: str = "", meta: Mapping[str, Any] | None = None, at: datetime | None = None
) -> PackedTerms:
    """The terms of a text, its speaker and its title, and its tags, from `meta` and from the entities in the text.
    `at` is when a message was sent: the days that it speaks of count from there.

    The title of a tool's result is what the call did: no word of a file has to name the file.
    """
    language, is_ascii = language_of(text), text.isascii()
    beside = Counter(term_list(speaker, "")) if speaker else Counter[str]()
    if meta and isinstance(title := meta.get(TITLE), str):
        beside.update(term_list(title[:_LONGEST_TITLE]) * _TITLE_TIMES)
    tags = (*entry_tags(text, speaker, meta, at), *((f"={LANGUAGE}:{language}",) if language else ()))
    if len(text) <= PIECE:
        beside.update(_counted(text, language, is_ascii=is_ascii))
        return pack_terms(beside, analyser_version(), tags)
    runs = TermRuns()
    runs.add(beside)
    for piece in _pieces(text):
        runs.add(_counted(piece, language, is_ascii=is_ascii))
    return runs.packed(analyser_version(), tags)


def _counted(text: str, language: str, *, is_ascii: bool) -> Counter[str]:
    return _term_counts(text, language) if is_ascii else Counter(term_list(text, language))


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that end where no token goes on: a list of the tokens of 16 MB takes hundreds of MB."""
    at = 0
    while at < len(text):
        end = match.end() if (match := _CUT.search(text, at + PIECE)) else len(text)
        yield text[at:end]
        at = end


def analyser_version() -> str:
    """The analyser version that is stored with terms: the number ANALYSER."""
    return str(ANALYSER)


def tokens(text: str) -> list[str]:
    """The words, paths, addresses and signs of a text as they are written; a run without spaces is one."""
    return [match[0] for match in TOKEN.finditer(text)]


def plain_words(text: str) -> list[str]:
    """The words without their joints (`it's` gives two), and each character of a script without spaces.

    The cheapest way to compare texts: nothing is stemmed, and numbers and names stay as they are.
    """
    return _PLAIN_WORD.findall(text)


def term_list(text: str, language: str | None = None) -> list[str]:
    """The terms in their order, with repeats. `language` is the text's; None detects it."""
    if language is None:
        language = language_of(text)
    terms: list[str] = []
    for match in SCANNER.finditer(text):
        if (kind := match.lastgroup) is None:
            continue
        token = match[kind]
        if kind == "word" and not language and len(token) <= LONGEST:
            terms += _word_terms(token)
        else:
            terms += terms_of(token, kind, language)
    return terms


def _term_counts(text: str, language: str) -> Counter[str]:
    """The terms of an ASCII text with their counts: each distinct token is looked at once."""
    counts: dict[str, int] = {}
    for token, times in Counter(ASCII_SCANNER.findall(text)).items():
        terms = _ascii_terms if len(token) <= _LONGEST_CACHED else _ascii_terms.__wrapped__
        for term in terms(token, language):
            counts[term] = counts.get(term, 0) + times
    return Counter(counts)


@lru_cache(maxsize=CACHED_TOKENS)
def _ascii_terms(token: str, language: str) -> tuple[str, ...]:
    """The terms of a token that `ASCII_SCANNER` gives."""
    if not token:
        return ()
    if token[0] in "#@":
        return terms_of(token, "tag", language)
    is_language = token[-1] in "+#" and len(token) <= _LONGEST_LANGUAGE
    if is_language or language:
        return terms_of(token, "language" if is_language else "word", language)
    return _split_token(token)  # cached here, and not in `_word_terms` too


def iter_terms(text: str) -> Iterator[str]:
    """The same as an iterator, for when the first terms of a long text are enough."""
    language = language_of(text)
    for match in TOKEN.finditer(text):
        yield from terms_of(match[0], match.lastgroup or "word", language)


def token_spans(text: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """The terms of each token with its start and end. A run without spaces is given as overlapping pairs."""
    language = language_of(text)
    for match in TOKEN.finditer(text):
        start, end = match.span()
        if match.lastgroup != "unspaced" or end - start < 2:
            yield terms_of(match[0], match.lastgroup or "word", language), start, end
            continue
        run = fold(match[0]) if _HAN.fullmatch(match[0]) else ""
        if len(run) == end - start:  # each of these characters is folded by itself: at once is several times faster
            yield from (((run[at : at + 2],), start + at, start + at + 2) for at in range(len(run) - 1))
            continue
        for at in range(start, end - 1):
            yield terms_of(text[at : at + 2], "unspaced"), at, at + 2


def terms_of(token: str, kind: str, language: str = "") -> tuple[str, ...]:
    """The terms of one token of a text in that language."""
    match kind:
        case "unspaced":
            return _pairs(fold(token))
        case "language" | "flag" | "emoji":
            return (fold(token),)
        case "tag":
            return _tagged(token, language)
        case _ if len(token) > LONGEST:
            return _split_token(token)
        case _ if language:
            return _foreign_terms(token, language)
        case _:
            return _word_terms(token)


def _tagged(token: str, language: str) -> tuple[str, ...]:
    """The terms of a hashtag: `#Travel` is found as it is written, and by its word."""
    return (fold(token)[:LONGEST], *terms_of(token[1:], "word", language))


def _split_token(token: str) -> tuple[str, ...]:
    if token.isascii() and token.isalpha() and (token.islower() or token.istitle() or token.isupper()):
        return (stem(token.lower())[:LONGEST],)  # the same as below, for most words
    joined, parts = parts_of(token)
    return tuple(dict.fromkeys(term for term in (*map(_word, joined), *map(_word, parts)) if term))


def _foreign(token: str, language: str) -> tuple[str, ...]:
    joined, parts = parts_of(token, lowercase)
    stems = (stem_in(language, part) if part.isalpha() or not part.isascii() else _word(fold(part)) for part in parts)
    return tuple(dict.fromkeys(term for term in (*map(_word, joined), *stems) if term))


_word_terms = lru_cache(maxsize=CACHED_TOKENS)(_split_token)
"""Words repeat: the cache makes analysis several times faster."""

_foreign_terms = lru_cache(maxsize=CACHED_TOKENS)(_foreign)


def _pairs(run: str) -> tuple[str, ...]:
    return tuple(run[at : at + 2] for at in range(len(run) - 1)) if len(run) > 1 else (run,)


def _word(word: str) -> str:
    """The term of a folded word: its stem where it is ASCII letters; a short number without leading zeros."""
    if word.isascii():
        if word.isalpha():
            return stem(word)[:LONGEST]
        if word.isdigit() and len(word) <= 2:
            return word.lstrip("0") or "0"
    return word[:LONGEST]


class Analyser:
    """`analyse`, with the tags by the rules of `entities.yaml`. The file is read with the first text."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def rules(self) -> "CustomRules":
        from foundation.text.entities.custom import read_rules

        return read_rules(self._path)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The entity kinds that the workspace defines."""
        return self.rules.names

    @property
    def problem(self) -> str:
        """Why the rules cannot be used, in a sentence; "" where they can, or there are none."""
        return self.rules.problem

    @property
    def version(self) -> str:
        """The version that is stored with terms: the analyser's, and a fingerprint of the workspace's rules."""
        own = self.rules.fingerprint
        return f"{analyser_version()}+{own}" if own else analyser_version()

    def __call__(
        self, text: str, speaker: str = "", meta: Mapping[str, Any] | None = None, at: datetime | None = None, /
    ) -> PackedTerms:
        analysed = analyse(text, speaker, meta, at)
        if not self.rules.kinds:
            return analysed
        held = {**dict.fromkeys(self.rules.tags(text), 1), **unpack_terms(analysed.packed)}
        return PackedTerms(pack_counts(held), analysed.length, self.version)


def pack_counts(counts: Mapping[str, int]) -> bytes:
    """Terms with their counts, in the form that `pack_terms` writes."""
    terms = sorted(counts)
    names = "\n".join(terms).encode("utf-8", "surrogatepass")
    return names + b"\0" + bytes(counts[term] for term in terms) if terms else b""
