"""Words that say little about what is asked: they count half, find nothing on their own, and let nothing through.

Given as terms (stems), so that a question's terms are looked up as they are.
"""

import re

from memory.search.words.analyse import words
from memory.search.words.languages import function_terms
from memory.search.words.scripts import EMOJI

_ENGLISH = """
a an the this that these those and or but if then than so as at by for from in into of off on onto out over to up with
without about after again against all also am any anyone anything are because before being between both can could
did do does doing down during each either else ever every few further had has have having he her here hers herself
him himself his how however i is it its itself just let like may maybe me might mine more most much must my myself
neither no nor not now once one only other our ours ourselves own please same shall she should some somebody someone
something still such tell their theirs them themselves there they think though through too under until us very want
was we were what whatever when where whether which while who whoever whom whose why will would yes yet you your yours
yourself yourselves get got go going know say said see make made thing things way kind sort lot really okay ok
thank thanks hello hi hey remember recall mention mentioned talk talked tell told ask asked well able lately many
great good nice cool awesome wow sure sorry right yeah yep nope bye lol haha perfect fine
don't doesn't didn't isn't wasn't won't can't i'm i'd i've
"""
_CHINESE = """
什么 怎么 怎样 如何 为何 为什 哪个 哪些 哪里 哪儿 哪种 哪位 哪一 谁的 是谁 多少 几个 几次 何时 何地
请问 可以 是否 有没 没有 一个 一些 这个 那个 这些 那些 我们 你们 他们 她们 它们 自己 因为 所以 但是
如果 还是 或者 以及 关于 之前 之后 时候 知道 记得 告诉 一下 吗
"""
_PARTICLES = frozenset(
    "的了着过是在和与及或吗呢吧啊呀哦嗯么我你您他她它们这那哪谁何几很也都就还又再不没有被把让给对从向到而但则之其所以为于"
)

_PICTURE = re.compile(f"[{EMOJI}]|[\U0001f1e6-\U0001f1ff]{{2}}")

WEAK = frozenset(words(_ENGLISH, "")) | frozenset(_CHINESE.split()) | frozenset(function_terms())
"""Function words of the other languages too, but for those that are English words of weight (`die`, `war`)."""


def is_weak(term: str) -> bool:
    """Whether the term is a function word, a letter, an emoji, or a pair of characters with a particle in it."""
    if term in WEAK:
        return True
    if term.isascii():
        return len(term) == 1 and term.isalpha()
    return len(term) <= 2 and (not _PARTICLES.isdisjoint(term) or _PICTURE.fullmatch(term) is not None)
