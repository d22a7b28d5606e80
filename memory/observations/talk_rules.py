"""Rules for messages: what the person decided or asks for always, and what an answer says was done, and why."""

import re
from collections.abc import Iterator
from typing import Final

from foundation.text.sentences import is_question, sentences
from memory.observations.observation import Importance, Observation, identifiers
from memory.observations.original import Known, Original
from models.messages import Role
from models.tokens import estimate

MOST_FACTS: Final = 4
LONGEST_MESSAGE: Final = 20_000  # characters; a longer one is a pasted text
LONGEST_SENTENCE: Final = 300  # characters

_CLAUSE: Final = r"(?:^|[,;:.!–—-]\s*|\b(?:please|you|and|but|so|then|must|should|we|let['’]s|also)\s)"
"""Before a directive: `never merge on Fridays` is one, `I have never been there` is none."""
_HAN_CLAUSE: Final = r"(?:^|[，。！；：,.!;:\s])(?:那就?|所以|最后|最终|终于|刚才|今天|商量后)*"
_DECIDED: Final = re.compile(
    r"\b(?:(?:we|i)(?:['’]ve| have)? (?:decided|agreed|chose|settled)"
    r"|we(?:['’]ll| will)? (?:use|go with|keep|stay with|drop)"
    r"|let['’]?s (?:use|go with|keep|drop|stay with)|from now on|don['’]?t forget|do not forget|remember (?:that|to)"
    r"|(?:you )?must(?: not|n['’]t)? (?:be|use|have|keep|stay|not|never|always)"
    r"|(?:i|we) (?:prefer|insist|want (?:you|it|all|every|no)\b)|the deadline is)\b"
    rf"|{_CLAUSE}(?:(?:always|never) [a-z]+|make sure|keep the [a-z]+|use\b.* instead of)\b"
    rf"|{_HAN_CLAUSE}(?:我们?|咱们?|大家|团队)?(?:最后|最终|已经|一致|商量后)*"
    r"(?:决定(?!.{0,12}(?:怎么|如何|什么|哪))|定了|定下来?|敲定|选定|还是[用选按走去].{1,20}吧)"
    rf"|{_HAN_CLAUSE}(?:我们?|咱们?)?(?:以后|从现在起|今后)"
    r"|(?:就用|改用|不要忘|别忘|记住|必须|务必|一定要|(?<!要)不要|禁止)",
    re.IGNORECASE,
)
_OF_OTHERS: Final = re.compile(r"[他她它]们?[^，。！；]*$")
"""Ends the text before a decision of somebody else: 他必须离开."""
_NO_ADJECTIVE: Final = (
    r"(?<!\ba )(?<!\ban )(?<!\bthe )(?<!\bany )(?<!\bno )(?<!\bwith )(?<!\bevery )\b(?![\w-]+-)"
    r"(?!\w+ (?-i:[A-Z][a-z]+(?: [A-Z]|[:*]|$)))"
)
"""Before a verb of work: `a fixed duration`, `Fixed-width` and the title `Fixed Sleep Duration` name no work."""
_DONE: Final = re.compile(
    r"\b(?P<bugfix>root cause|the (?:bug|problem|cause|culprit) (?:was|is))\b"
    rf"|{_NO_ADJECTIVE}(?:(?P<bugfix_en>fixed)|(?P<refactor>refactored|renamed|extracted|simplified|moved)"
    r"|(?P<feature>added|implemented|introduced)|(?P<decision>decided|chose|opted)"
    r"|(?P<change>changed|updated|removed|replaced|upgraded|was changed))\b"
    r"|(?P<bugfix_zh>修复|原因是)|(?P<feature_zh>新增|添加了|实现了)|(?P<change_zh>改为|修改了|删除了)",
    re.IGNORECASE,
)
_PLANNED: Final = re.compile(
    r"^\s*(?:let me|i(?:['’]ll| will|['’]m going to| need to| should)|next|now i|first)\b|\b(?:would|could|might|if)\b",
    re.IGNORECASE,
)
_WORK: Final = (
    ("bugfix", re.compile(r"\b(?:fix|bug|broken|crash|fails?|failing|regression)\b|修复|错误|故障", re.IGNORECASE)),
    ("refactor", re.compile(r"\b(?:refactor|rename|simplify|clean up|extract|split)\b|重构|重命名", re.IGNORECASE)),
    ("feature", re.compile(r"\b(?:add|implement|build|create|support|write)\b|新增|添加|实现|支持", re.IGNORECASE)),
)
_CONCEPTS: Final = (
    ("why-it-exists", re.compile(r"\bbecause\b|so that|因为|原因", re.IGNORECASE)),
    ("trade-off", re.compile(r"\binstead of|rather than|at the cost of|trade-?off\b|而不是|代价", re.IGNORECASE)),
    (
        "gotcha",
        re.compile(r"\b(?:beware|careful|watch out|don['’]?t forget|never)\b|注意|小心|别忘|不要忘", re.IGNORECASE),
    ),
    ("problem-solution", re.compile(r"\bfixed|root cause|solved\b|修复|解决", re.IGNORECASE)),
)
_FENCE: Final = re.compile(r"^(```|~~~).*?^\1[^\n]*$|^>[^\n]*$", re.MULTILINE | re.DOTALL)


def prose(text: str) -> str:
    """A message without code blocks and quoted lines."""
    return _FENCE.sub(" ", text)


def work_type(question: str) -> str:
    """The type of a change that was made for this message."""
    return next((name for name, pattern in _WORK if pattern.search(question)), "change")


def observe_message(original: Original, known: Known) -> Observation | None:
    """What is new in a message; None for a question, chatter, a plan, and what is known."""
    if len(original.text) > LONGEST_MESSAGE:
        return None
    if original.role is Role.USER:
        return _observation(original, known, [*_decisions(original.text)], "decision", Importance.DECISION)
    if original.role is not Role.ASSISTANT:
        return None
    done = [*_done(original.text)]
    type_ = next((kind for _, kind in done), "change")
    # A model decides nothing for the person, whatever it says.
    return _observation(original, known, [sentence for sentence, _ in done], type_, Importance.INFORMATION)


def _observation(
    original: Original, known: Known, facts: list[str], type_: str, importance: Importance
) -> Observation | None:
    new = [fact for fact in facts if not known.has(fact)][:MOST_FACTS]
    if not new:
        return None
    text = " ".join(new)
    return Observation(
        type=type_,
        title=new[0],
        importance=importance,
        facts=tuple(new[1:]),
        concepts=tuple(name for name, pattern in _CONCEPTS if pattern.search(text)) or ("what-changed",),
        sources=original.sources(),
        original_tokens=estimate(original.text),
    )


def _decisions(text: str) -> Iterator[str]:
    for sentence in _sentences(text):
        match = _DECIDED.search(sentence)
        if match and not _OF_OTHERS.search(sentence, 0, match.start()):
            yield sentence


def _done(text: str) -> Iterator[tuple[str, str]]:
    """Sentences of an answer that name what was done, and its type."""
    for sentence in _sentences(text):
        match = _DONE.search(sentence)
        if match and not _PLANNED.search(sentence) and next(identifiers(sentence), ""):
            yield sentence, (match.lastgroup or "change").partition("_")[0]


def _sentences(text: str) -> Iterator[str]:
    """Statements, each on one line, without code and quotations."""
    for sentence in sentences(prose(text)):
        line = " ".join(sentence.text.split()).strip("-*# ")
        if 8 <= len(line) <= LONGEST_SENTENCE and not is_question(line):
            yield line
