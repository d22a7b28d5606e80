"""Expands the words of a query by the stems of every language in the store.

A query of a few keywords has no function words that would show its language, and a German question may be answered by a
text too short to be recognised as German. So each word is looked up by its stem in every language that the store holds
(entries carry the tag `=language:german`), all of them as one term.
"""

from collections.abc import Callable, Collection

from foundation.text.analysis import LANGUAGE, TOKEN, terms_of
from foundation.text.folding import fold
from foundation.text.languages import LANGUAGES, language_of, stem_in


def question_terms(text: str, held: Collection[str] = ()) -> list[tuple[str, ...]]:
    """The distinct terms of a question in their order, each followed by its alternatives.

    `held` are the languages other than English that the store holds.
    """
    language, terms = language_of(text), dict[str, tuple[str, ...]]()
    for match in TOKEN.finditer(text):
        token, kind = match[0], match.lastgroup or "word"
        own = terms_of(token, kind, language)
        if len(own) == 1 and kind == "word":
            own_and_others = alternatives(token, language, held)
            terms.setdefault(own_and_others[0], own_and_others)
        else:
            terms.update({term: (term,) for term in own if term not in terms})
    return list(terms.values())


def alternatives(token: str, language: str = "", held: Collection[str] = ()) -> tuple[str, ...]:
    """The term of a word in a text of that language, then its terms in English and in the languages of the store.

    A single term where the store holds English only.
    """
    known = [language] if language else []
    others = [name for name in LANGUAGES if name in held and name != language]
    stems = [terms_of(token, "word", name)[-1:] for name in (*known, "", *others)]
    bare = fold(token)
    if bare != token.lower() and bare.isalpha():
        stems += [(stem_in(name, bare),) for name in (*known, *others)]  # typed without accents
    return tuple(dict.fromkeys(term for terms in stems for term in terms))


def held_languages(holds: Callable[[str], bool]) -> tuple[str, ...]:
    """The languages other than English that the store holds; `holds` tells whether it has a tag."""
    return tuple(name for name in LANGUAGES if holds(f"={LANGUAGE}:{name}"))
