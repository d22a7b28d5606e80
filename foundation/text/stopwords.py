"""Stop words, as terms (stems) of the analyser.

There are two degrees. A function word says nothing. A weak word says little: a search gives it a lower weight, and
finds nothing by weak words alone. Also counts the content words of an entry, and recognises questions by their words:
an entry that only asks is no answer, however well its words match.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from foundation.text.analysis import term_list
from foundation.text.folding import EMOJI
from foundation.text.languages import function_terms
from foundation.text.tags import TAG_PREFIX

_FUNCTION_WORDS = """
a an the this that these those and or but if then so as at by for from in into of on out over to up with about again
also am any are be been can could did do does doing done down ever had has have having he her hers here herself him
himself his how i is it its itself just may me might mine must my myself no nor not our ours ourselves please shall she
should some such tell than their theirs them themselves there they though us was we were what when where whether which
while who whoever whom whose why will would yes you your yours yourself yourselves know say said remember
don't doesn't didn't isn't wasn't won't can't i'm i'd i've
"""
_FILLERS = """
off onto without after against all anyone anything because before being between both during each either else every few
further however let like maybe more most much neither now once one only other own same somebody someone something still
think through too under until very want whatever yet get got go going see make made thing things way kind sort lot
really okay ok thank thanks hello hi hey recall mention mentioned talk talked told ask asked well able lately many great
good nice cool awesome wow sure sorry right yeah yep nope bye lol haha perfect fine
"""
_CHINESE = """
什么 怎么 怎样 如何 为何 为什 哪个 哪些 哪里 哪儿 哪种 哪位 哪一 谁的 是谁 多少 几个 几次 何时 何地
请问 可以 是否 有没 没有 一个 一些 这个 那个 这些 那些 我们 你们 他们 她们 它们 自己 因为 所以 但是
如果 还是 或者 以及 关于 之前 之后 时候 知道 记得 告诉 一下 吗
"""
_PARTICLES = frozenset(
    "的了着过是在和与及或吗呢吧啊呀哦嗯么我你您他她它们这那哪谁何几很也都就还又再不没有被把让给对从向到而但则之其所以为于"
)
_EMPTY_CHARACTERS = _PARTICLES | frozenset("什怎样多少个时候请问")

_PICTURE = re.compile(f"[{EMOJI}]|[\U0001f1e6-\U0001f1ff]{{2}}")

_ENGLISH = frozenset(term_list(_FUNCTION_WORDS, ""))
FUNCTION_WORDS = _ENGLISH | frozenset(_CHINESE.split()) | frozenset(function_terms())
"""Function words of the other languages too, but for those that are English words of weight (`die`, `war`)."""
WEAK = FUNCTION_WORDS | frozenset(term_list(_FILLERS, ""))


def is_function_word(term: str) -> bool:
    """Whether the term says nothing: a function word, or Chinese of particles and question characters alone.

    Stricter than `is_weak`: a quote that answers "Is it late?" must keep `late`, which a search may well weigh less.
    """
    return term in FUNCTION_WORDS or _EMPTY_CHARACTERS.issuperset(term)


def may_be_name(word: str, term: str) -> bool:
    """Whether a capitalised word is a function word of other languages alone, and so a name in English: Ben, Una."""
    return word.istitle() and word.isascii() and len(word) > 2 and term in FUNCTION_WORDS and term not in _ENGLISH


def is_weak(term: str) -> bool:
    """Whether the term is a stop word, a single letter, an emoji, or a pair of characters with a particle in it."""
    if term in WEAK:
        return True
    if term.isascii():
        return len(term) == 1 and term.isalpha()
    return len(term) <= 2 and (not _PARTICLES.isdisjoint(term) or _PICTURE.fullmatch(term) is not None)


_CHINESE_QUESTION_WORDS = (
    "什么 怎么 怎样 如何 为何 为什 哪个 哪些 哪里 哪儿 哪种 哪位 哪一 哪天 哪年 "
    "谁的 是谁 多少 几个 几次 几点 几号 几月 几岁 几天 几年 何时 何地 多久 多长 多大 多远 多高 多重 啥时 为啥"
)
_ASKING = frozenset(term_list("what when where who whom whose which why how")) | frozenset(
    _CHINESE_QUESTION_WORDS.split()
)
_ASKS_ANYWHERE = frozenset("谁哪")
_FINAL = ("吗", "呢")  # the particles that end a Chinese question


class ContentWordCount(Struct, frozen=True):
    """`says` counts occurrences of content words, without the speaker's name. `asks`: there is a question word."""

    says: int
    asks: bool


def count_content_words(terms: Iterable[bytes], counts: bytes, speaker: str) -> ContentWordCount:
    """Counts the content words of an entry, whose terms and their counts are packed."""
    says, asks = -_name_says(speaker), False
    for term, count in zip(terms, counts, strict=True):
        weak, asking = _judged(term)
        says += 0 if weak else count
        asks = asks or asking
    return ContentWordCount(max(says, 0), asks)


def is_question_word(term: str) -> bool:
    """Whether the term is a question word."""
    return term in _ASKING or (len(term) == 2 and (term.endswith(_FINAL) or not _ASKS_ANYWHERE.isdisjoint(term)))


@lru_cache(maxsize=1 << 10)
def _name_says(speaker: str) -> int:
    return sum(not is_weak(term) for term in term_list(speaker))


@lru_cache(maxsize=1 << 13)
def _judged(term: bytes) -> tuple[bool, bool]:
    word = term.decode("utf-8", "surrogatepass")
    if word.startswith(TAG_PREFIX):
        return True, False  # a tag, which nobody said
    return is_weak(word), is_question_word(word)
