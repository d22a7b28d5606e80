"""A question's words as entries in other languages may hold them.

What is asked in a few keywords has no function words to show its language, and a German question may be answered in a
text too short to show that it is German. So each word of a question is looked up by the stems of every language that
the store holds (its entries carry the mark `=language:german`), all of them as one term.
"""

from collections.abc import Callable, Collection

from foundation.text.analysis import LANGUAGE, TOKEN, terms_of
from foundation.text.folding import fold
from foundation.text.languages import LANGUAGES, language_of, stem_in


def question_terms(text: str, held: Collection[str] = ()) -> list[tuple[str, ...]]:
    """The terms of a question in their order, each once and with its alternatives after it.

    `held` are the languages that the store holds beside English.
    """
    language, found = language_of(text), dict[str, tuple[str, ...]]()
    for match in TOKEN.finditer(text):
        token, kind = match[0], match.lastgroup or "word"
        own = terms_of(token, kind, language)
        if len(own) == 1 and kind == "word":
            own_and_others = alternatives(token, language, held)
            found.setdefault(own_and_others[0], own_and_others)
        else:
            found.update({term: (term,) for term in own if term not in found})
    return list(found.values())


def alternatives(token: str, language: str = "", held: Collection[str] = ()) -> tuple[str, ...]:
    """The term of a word in a text of that language, then those that it is in English and in what the store holds.

    One alone where the store holds English alone.
    """
    known = [language] if language else []
    others = [name for name in LANGUAGES if name in held and name != language]
    found = [terms_of(token, "word", name)[-1:] for name in (*known, "", *others)]
    bare = fold(token)
    if bare != token.lower() and bare.isalpha():
        found += [(stem_in(name, bare),) for name in (*known, *others)]  # as who has no such keys writes it
    return tuple(dict.fromkeys(term for terms in found for term in terms))


def held_languages(holds: Callable[[str], bool]) -> tuple[str, ...]:
    """The languages beside English whose mark `holds` knows."""
    return tuple(name for name in LANGUAGES if holds(f"={LANGUAGE}:{name}"))
