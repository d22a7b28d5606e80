"""Which capitalised words are names: not what a sentence begins with, unless it stands within one too."""

import re
from typing import Final

# Words that begin English sentences, and are capital for that alone. Their forms with an apostrophe are common too.
_COMMON: Final = frozenset(
    """A About Absolutely Actually After Again Ah All Almost Already Also Although Always Amazing An And Another Any
    Anyway Are As At Aw Awesome Aww Be Because Been Before Being Besides Best Both But By Bye Can Cheers Congrats
    Congratulations Cool Could Cute Dear Definitely Did Do Does Doing Each Either Else Especially Even Ever Every
    Everyone Everything Exactly Fantastic Finally First For From Generally Getting Glad Go Going Gonna Good
    Goodbye Got Great Had Haha Happy Has Have Having He Hello Her Here Hers Hey Hi His Honestly Hopefully How
    However I If In Indeed Instead Is It Its Just Keep Last Lately Later Let Like Looking Lots Love Lovely Luckily
    Many Maybe Me Meanwhile More Most Much My Neither Never Next Nice No None Nope Not Nothing Now Obviously Of Oh
    Ok Okay On Once One Only Or Other Otherwise Our Out Over Perhaps Personally Please Plus Pretty Probably Quite
    Really Recently Right Same See Seeing Several She Should Similarly Since So Some Somehow Someone Something
    Sometimes Soon Sorry Sounds Still Such Super Sure Take Thank Thanks That The Their Them Then There Therefore
    These They Thing Things This Those Though Thus To Today Together Tomorrow Too Totally True Two Unfortunately
    Until Up Us Usually Very Wait Was Way We Welcome Well Were What Whatever When Whenever Where Whether Which
    While Who Whoa Whose Why Wish With Without Wonderful Would Wow Yay Yeah Yep Yes Yesterday Yet You Your Yours
    Yup""".split()  # noqa: SIM905 — a list of them fills a screen
)
_COMMON_FIRST: Final = frozenset(("May", "Will", "Don", "Hope"))  # names too, where a sentence does not begin with them
_BETWEEN: Final = frozenset(("of", "de", "van", "von", "the"))
_SINGLE: Final = re.compile(r"[A-Z][a-z]{2,30}")


def name_in(said: str, before: str) -> tuple[str, bool]:
    """The name in a run of capitalised words, and whether that is sure: a word alone at a sentence's start may be any.

    `before` are the two characters before the run. "" where the run is none.
    """
    words = said.replace("’", "'").split(" ")
    last = next((n for n, word in enumerate(words) if word.startswith("I'")), len(words))
    first = int(len(words) > 1 and words[0] in _COMMON_FIRST and not _goes_on(before))
    while first < last and (words[first] in _BETWEEN or _is_common(words[first])):
        first += 1
    while last > first and words[last - 1] in _BETWEEN:
        last -= 1
    kept = said.split(" ")[first:last]
    if len(kept) != 1:
        return " ".join(kept), True
    single = _SINGLE.match(kept[0])
    return (single.group(), first > 0 or _goes_on(before)) if single else ("", False)


def _is_common(word: str) -> bool:
    return word.partition("'")[0] in _COMMON


def _goes_on(before: str) -> bool:
    """Whether a sentence is under way."""
    return len(before) == 2 and before[1] == " " and (before[0].isalnum() or before[0] in ",;)")
