"""Pieces of a text by which a copy of it is known again: its lines, in parts, and its rare words.

Each piece is looked for as UTF-8, as JSON writes it, also within JSON, and as UTF-16; in its own letters,
small and capital. Short lines and codes count as whole words only, and not if many say them.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from foundation.text.folding import ACCENTS, fold
from memory.forget.escapes import escaped_forms
from memory.forgotten.fingerprints import FORGOTTEN

SHORTEST_LINE: Final = 12  # characters: a shorter line is said by many
PART: Final = 48  # characters of a part of a long line, about
_RARE: Final = re.compile(r"[^\s\"'`<>()\[\]{},;]{6,80}")
_MOMENT: Final = re.compile(r"\d{4}-\d\d|\d{1,2}:\d\d|[\d,.%$€£]+$")
"""The beginning of what many say: a day, a time, a figure."""
_MARKUP: Final = re.compile(r"^[\s#>*+-]+")
_WORD: Final = re.compile(r"\S+")
_TOKEN: Final = re.compile(r"[^\W_]+")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_SHORTEST_CODE: Final = 4  # characters of a number, or of a word with a figure
_SHORTEST_WORD: Final = 3
_IMAGE: Final = re.compile(r"clipboard-[0-9a-f]{12}\.png")
_MARK: Final = re.compile(rf"{re.escape(FORGOTTEN)}|\[(?:private|injected|secret: [a-z0-9-]+)\]")
"""What this program writes in the place of words: many texts hold it, and it says nothing of them."""
_LAST_FOLDED: Final = 0x30000  # past the alphabets of mathematics and the compatibility characters
MOST_PIECES: Final = 2000  # of one text


def pieces_of(text: str) -> list[str]:
    """The pieces of a text, each once, in order; none of what stands in it for words that were taken out."""
    found = dict.fromkeys(_pieces(_MARK.sub("\n", text)))
    return list(found)[:MOST_PIECES]


def short_pieces_of(text: str) -> tuple[list[str], int]:
    """The short lines and the codes of a text, each once, in order; and how many short lines many say."""
    found, common = dict[str, None](), 0
    for line in _MARK.sub("\n", text).splitlines():
        said = _MARKUP.sub("", line).strip()
        if line.startswith("<!--") or not said or _IMAGE.search(said):
            continue
        found.update((code, None) for code in _TOKEN.findall(said) if _is_code(code))
        if len(said) < SHORTEST_LINE and is_common(said):
            common += 1
        elif len(said) < SHORTEST_LINE:
            found[said] = None
    return list(found), common


def is_common(line: str) -> bool:
    """Whether many say these few words: two letters, a year, a small number, words of the tables of a language."""
    from foundation.text.analysis import term_list
    from foundation.text.stopwords import WEAK, is_function_word
    from foundation.text.synonyms import synonyms_of

    words = _TOKEN.findall(line)
    letters = [word for word in words if not any(map(str.isdigit, word))]
    if any(map(_is_code, words)) or len("".join(letters)) < _SHORTEST_WORD:
        return not any(map(_is_code, words))
    is_known = synonyms_of if len(words) == 1 else WEAK.__contains__
    return is_function_word(line) or all(term in WEAK or is_known(term) for term in term_list(" ".join(letters), ""))


def _is_code(word: str) -> bool:
    """Whether it is a number of four digits and more, but no year, or such a word with a figure."""
    return len(word) >= _SHORTEST_CODE and any(map(str.isdigit, word)) and not _YEAR.fullmatch(word)


def is_mark(text: str) -> bool:
    """Whether the text holds a mark in the place of words that were taken out."""
    return _MARK.search(text) is not None


def images_in(text: str) -> list[str]:
    """The paths of images of the clipboard in a prompt: names that Palimpsest gave, which other prompts may have."""
    return [word for word in _WORD.findall(text) if _IMAGE.search(word)] if _IMAGE.search(text) else []


def _pieces(text: str) -> Iterator[str]:
    if _IMAGE.search(text):
        text = _WORD.sub(lambda word: "" if _IMAGE.search(word[0]) else word[0], text)
    for line in text.splitlines():
        if line.startswith("<!--"):  # of our own
            continue
        said = _MARKUP.sub("", line).strip()
        if len(said) >= SHORTEST_LINE:
            yield from _parts(said)
        for word in _RARE.findall(said):
            rare = word.strip(".:!?…。，")
            if len(rare) >= 6 and any(mark.isdigit() for mark in rare) and not _MOMENT.match(rare):
                yield rare


def _parts(line: str) -> Iterator[str]:
    """The line, or parts of it that end between words where it has any."""
    start = 0
    while len(line) - start > PART * 3 // 2:
        cut = line.rfind(" ", start + PART // 2, start + PART)
        cut = start + PART if cut < 0 else cut
        yield line[start:cut].strip()
        start = cut + len(line[cut : cut + PART]) - len(line[cut : cut + PART].lstrip())
    if len(rest := line[start:].strip()) >= SHORTEST_LINE:
        yield rest


def cases(words: Iterable[str]) -> set[str]:
    """The words as they are, in small letters, in capitals, and with one at their beginning; with accents composed and
    decomposed."""
    forms = {form for word in words for form in (word, word.lower(), word.upper(), word.title(), word.capitalize())}
    return forms | {unicodedata.normalize(kind, form) for form in forms for kind in ("NFC", "NFD")}


def encodings(words: Iterable[str]) -> set[bytes]:
    """The bytes under which these words may stand in a file."""
    found: set[bytes] = set()
    for word in words:
        for form in {word, word.lower(), word.upper(), " ".join(word.split())}:
            found.add(form.encode("utf-8", "surrogatepass"))
            found.add(form.encode("utf-16-le", "surrogatepass"))
            found.update(escaped.encode("utf-8", "surrogatepass") for escaped in escaped_forms(form))
    return found


def phrase_pattern(phrase: str) -> "re.Pattern[str]":
    """Finds a phrase as search folds it (foundation.text.folding.fold): in any case and width, with any accents or
    none, in traditional or simplified characters, composed or decomposed, with any white space between its words.
    Raises ValueError for none."""
    words = fold(phrase).split()
    if not words:
        raise ValueError("no words")
    return re.compile(r"\s+".join(map(_word_pattern, words)))


def _word_pattern(word: str) -> str:
    """The pattern of a folded word: each letter as it may be written, also ß for ss."""
    parts, at = list[str](), 0
    while at < len(word):
        size = next((size for size in (3, 2) if word[at : at + size] in written_as()), 1)
        letters, apart = word[at : at + size], unicodedata.normalize("NFD", word[at : at + size])
        forms = [_one_of(letters)] if len(apart) > 1 else []
        forms.append(f"[{ACCENTS}]*+".join(map(_one_of, apart)))
        parts.append(f"(?:{'|'.join(forms)})[{ACCENTS}]*+")
        at += size
    return "".join(parts)


def _one_of(folded: str) -> str:
    return f"[{re.escape(written_as().get(folded, '') + (folded if len(folded) == 1 else ''))}]"


@cache
def written_as() -> dict[str, str]:
    """The letters that fold to one or several: `s` to `Sſｓ`, `ss` to `ßẞ`, 伦 to 倫."""
    found: dict[str, str] = {}
    for letter in map(chr, (*range(0xD800), *range(0xE000, _LAST_FOLDED))):
        folded = fold(letter)
        if folded not in {"", letter} and (len(folded) == 1 or letter.isalpha()):
            found[folded] = found.get(folded, "") + letter
    return found
