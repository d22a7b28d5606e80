"""Which of the program's own facts a question is about. Pure."""

import re
from collections.abc import Sequence

from models.chat.quoting import terms
from models.messages import Fact

_ABOUT_US = re.compile(
    r"(^|\s)/[a-z]{2,}|\bpalimpsest\b|\b(this|the) (program|app|tool|chat)\b|\bhow (do|can|would|should) (i|one|you)\b"
    r"|\bhow (does|do) (it|this|recall|search|archiv\w*|memory)|\bcan (i|you)\b|\bwhat (is|are|does|do|can)\b"
    r"|\bhow to\b|\bwhere (is|are) (my|the)\b|\bwho are you\b|怎么|怎样|如何|什么是|是什么|能不能|可以吗|你是谁|命令",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"(?:^|\s)/([a-z]{2,})")


def matching(question: str, facts: Sequence[Fact], *, most: int = 2) -> list[tuple[Fact, float]]:
    """The facts that the question is about, best first, each with its weight (2 or more is a sure one)."""
    if not _ABOUT_US.search(question):
        return []
    commands = set(_COMMAND.findall(question.lower()))
    asked = set(terms(question))
    weighed = [(fact, _weight(fact, asked, commands, question.lower())) for fact in facts]
    found = sorted((pair for pair in weighed if pair[1] >= 1.5), key=lambda pair: -pair[1])
    return [pair for pair in found[:most] if pair[1] >= 0.6 * found[0][1]]


def _weight(fact: Fact, asked: set[str], commands: set[str], question: str) -> float:
    topic = set(terms(fact.topic))
    keywords = {term for keyword in fact.keywords for term in terms(keyword)}
    named = {
        name.lstrip("/").split()[0] for name in (fact.topic.lower(), *map(str.lower, fact.keywords)) if name.strip("/ ")
    }
    weight = 4.0 if commands & named else 0.0
    weight += 2.0 * len(asked & topic) + 1.5 * len(asked & keywords - topic)
    weight += sum(1.5 for keyword in fact.keywords if not keyword.isascii() and keyword in question)
    weight += 0.25 * min(4, len(asked & set(terms(fact.text)) - topic - keywords))
    return weight / (1 + 0.1 * len(topic - asked))
