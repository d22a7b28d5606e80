"""People and places in English, from the capital letters that they begin with.

A capital alone says little: a sentence begins with one, and so do months, products and books. So people are known by a
title, by what they are to somebody ("my sister Anna"), by being greeted, or by a given name that is hardly anything
else; places by their names, or by the way that leads there ("moved to Umbria").
"""

import re
from collections.abc import Iterator
from typing import Final

from foundation.text.entities.gazetteer import AFTER_IN, GIVEN, PLACES
from foundation.text.entities.numbers import find_matches, split_names

_CAPITAL = re.compile(r"[A-Z](?<![\w'’.@/\\$#&-][A-Z])[^\W\d_]{1,24}(?:-[A-Z][a-z]{1,20})?(?![\w@/\\]|-[a-z])")
_NEXT = re.compile(r" ([A-Z][a-z]{1,20}(?:[-'’][A-Z][a-z]{1,20})?)(?![\w@/\\])")
_TITLED = re.compile(r"\.? ([A-Z][^\W\d_]{1,24}(?:[-'’][A-Z][a-z]{1,20})?)(?: ([A-Z][a-z]{1,20}))?(?![\w@/\\])")
_TITLES: Final = split_names("Mr Mrs Ms Mx Dr Prof Professor Doctor Sir Madame Monsieur Herr Frau Señor Señora")
_RELATED = re.compile(
    r"\b(?:my|his|her|our|their|your|a|an|old|best|little|big|younger|older)(?: [a-z]{2,12})? (?:friend|wife|husband"
    r"|partner|girlfriend|boyfriend|fianc[ée]e?|son|daughter|brother|sister|mother|father|mom|mum|dad|cousin|aunt|uncle"
    r"|niece|nephew|grandma|grandpa|grandmother|grandfather|colleague|coworker|co-worker|boss|manager|teacher|neighbou?r"
    r"|roommate|flatmate|doctor|dentist|therapist|lawyer|landlord|landlady|student|kid|baby|dog|cat|puppy|kitten)"
    r"(?:,|,? (?:named|called))? $"
)
_NAMED = re.compile(r"(?:\b[Mm]y name is|\bnamed|\bcalled (?:him|her)|\bthis is my \w{2,12}) $")
_GREETED = re.compile(r"(?:^|[\s,.!?…—-])(?:hey|hi|hello|thanks|thank you|dear|bye|goodbye|congrats|welcome),? $", re.I)
_AFTER_GREETED = re.compile(r"\s*(?:[,.!?…;:—]|$|and [A-Z])")
_NOBODY: Final = split_names(
    "There All Everyone Everybody Guys Folks Team God Friend Friends Both Sir Madam Claude Siri Alexa Assistant Again"
    " You This That These Those The My Your Our His Her It He She They We What When Where Who Why How Yes No Not If So"
    " Customer Hiring User Honey Buddy Dude Man Mom Mum Dad World Sunday Monday Tuesday Wednesday Thursday Friday"
    " Saturday January February March April May June July August September October November December English French"
    " German Spanish Italian Chinese Japanese Christmas Easter"
)
_LEADS: Final = (" in ", " to ", " from ", " at ", " near ", " around ", " visit ", " visited ", " visiting ", " via ")
_WAY = re.compile(
    r"\b(?:liv(?:e|es|ed|ing) in|mov(?:e|es|ed|ing) to|fl(?:y|ew|ying|own|ight|ights) (?:back )?to|trips? to|drove to"
    r"|travel(?:s|l?ed|l?ing)? to|vacation(?:ing|ed)? in|holidays? in|based in|born in|grew up in|stay(?:s|ed|ing) in"
    r"|arriv(?:e|ed|ing) in|landed in|relocat(?:ed|ing) to|tickets? to|train to|road trip (?:to|through)"
    r"|weekend in|summer in|honeymoon in|apartment in|house in|hotel in) $",
    re.IGNORECASE,
)
_NO_PLACE: Final = _NOBODY | GIVEN | split_names("Spring Summer Autumn Fall Winter Google Apple Amazon Microsoft")
_BEFORE: Final = 48
_OPENING: Final = "\n\t\"'([{“‘*_>…—-"
_PAIR: Final = 2  # at least so many characters come after a first name that has a second
_KNOWN: Final = frozenset(PLACES) | frozenset(AFTER_IN) | GIVEN | _TITLES
_LEADING: Final = split_names(
    "friend wife husband partner girlfriend boyfriend fiancé fiancée fiance fiancee son daughter brother sister mother"
    " father mom mum dad cousin aunt uncle niece nephew grandma grandpa grandmother grandfather colleague coworker"
    " co-worker boss manager teacher neighbour neighbor roommate flatmate doctor dentist therapist lawyer landlord"
    " landlady student kid baby dog cat puppy kitten named called is him her hey hi hello thanks you dear bye goodbye"
    " congrats welcome in to through"
)


def names(text: str) -> Iterator[tuple[str, str]]:
    """People with their names together and each alone; places as they are called."""
    done = 0  # what stands before it is part of a name already
    for match in find_matches(_CAPITAL, text):
        word, (start, end) = match[0], match.span()
        if start < done:
            continue
        if word in _KNOWN:
            named = tuple(_known(text, word, start, end))
            done = end + (_PAIR if len(named) > 1 else 0)
            yield from named
            if named:
                continue
        if start and text[start - 1] == " " and word not in _NOBODY and _leads_to_a_name(text, start):
            yield from _from_context(text, word, start, end)


def _known(text: str, word: str, start: int, end: int) -> Iterator[tuple[str, str]]:
    """Of a word that is a place's, a given name, or a title."""
    if place := _known_place(text, word, start):
        yield "place", place
    elif word in GIVEN:
        yield from _person(word, _surname(text, end))
    elif word in _TITLES and (named := _TITLED.match(text, end)):
        yield from _person(*named.groups())


def _leads_to_a_name(text: str, start: int) -> bool:
    """Whether the word before can: one look in a set spares most capitals the rest."""
    before = text[max(0, start - _BEFORE) : start - 1].rstrip(",")
    return before[before.rfind(" ") + 1 :].lstrip(_OPENING).lower() in _LEADING


def _from_context(text: str, word: str, start: int, end: int) -> Iterator[tuple[str, str]]:
    before = text[max(0, start - _BEFORE) : start]
    if _GREETED.search(before):
        if _AFTER_GREETED.match(text, end):
            yield from _person(word, None)
        return
    if before[-2:-1] == "," or before[-2:-1].islower():
        if _RELATED.search(before) or _NAMED.search(before):
            yield from _person(word, _surname(text, end))
        elif word not in _NO_PLACE and not text.startswith(("'s", "’s"), end) and _WAY.search(before):
            following = _NEXT.match(text, end)
            yield "place", f"{word} {following[1]}" if following and following[1] not in _NO_PLACE else word


def _known_place(text: str, word: str, start: int) -> str:
    for known, needed in ((PLACES, False), (AFTER_IN, True)):
        for name in known.get(word, ()):
            is_whole_word = (
                text.startswith(name, start) and not text[start + len(name) : start + len(name) + 1].isalnum()
            )
            if is_whole_word and (not needed or text[max(0, start - 10) : start].endswith(_LEADS)):
                return name
    return ""


def _surname(text: str, end: int) -> str | None:
    """A capital word after a given name, where it is no place, day or month."""
    match = _NEXT.match(text, end)
    if not match or match[1] in _NO_PLACE - GIVEN or match[1] in PLACES:
        return None
    return match[1]


def _person(first: str, last: str | None) -> Iterator[tuple[str, str]]:
    yield "person", first
    if last:
        yield "person", last
        yield "person", f"{first} {last}"
