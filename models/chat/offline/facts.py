"""Selects the program's own facts for a question. Pure.

A question is about the program when nearly all of its words are the program's own vocabulary: “how do I archive a
file?” is, “what is my new address?” is not, though there is a command /new. A command by its name always is.
"""

import re
from collections.abc import Sequence

from models.chat.offline.question import content_terms
from models.messages import Fact

_FORM = re.compile(
    r"[?？]|^\s*(how|what|where|who|which|why|can|could|is|are|does|do|explain|tell|show|help)\b"
    r"|怎么|怎样|如何|什么|能不能|可以|你是谁|哪",
    re.IGNORECASE,
)
_HOW_TO = re.compile(r"\bhow (do|can|would|should) i\b|\bhow to\b", re.IGNORECASE)
_OF_LIFE = re.compile(r"^\s*(where|when|who|whose)\b|哪里|哪儿|什么时候|谁", re.IGNORECASE)  # seldom about a program
_COMMAND = re.compile(r"(?:^|\s)/([a-z]{2,})")
_OURSELVES = re.compile(r"\b(you|this|palimpsest)\b|你|这", re.IGNORECASE)
_YOURS = re.compile(r"\b(you|your|yourself)\b|你", re.IGNORECASE)  # what the program does, and not a command for it
_PLAIN = frozenset(  # what a question about any program may say besides
    content_terms(
        "use using work mean do get set change start open connect happen thing something anything everything answer "
        "big large program palimpsest app tool chat"
    )
)
_CHINESE = {
    "归档": "archive",
    "存档": "archive",
    "搜索": "search",
    "查找": "search",
    "模型": "model",
    "记忆": "memory",
    "记住": "remember",
    "召回": "recall",
    "回忆": "recall",
    "导出": "export",
    "导入": "import",
    "对话": "conversation",
    "命令": "command",
    "帮助": "help",
    "退出": "quit",
    "停止": "stop",
    "隐私": "private",
    "技能": "skill",
    "密钥": "key",
    "按键": "key",
    "恢复": "resume",
    "上下文": "context",
    "设置": "config",
    "页面": "page",
    "文件": "file",
    "离线": "offline",
    "服务器": "server",
    "窗口": "window",
}
_CHINESE_PLAIN = re.compile(
    r"[怎么样如何什谁是能不可以用连接新的了吗呢请问在哪里我你这个有一把做到把从为让它给进行东西多大会些事情]"
)
_HAN = re.compile(r"[\u3400-\u9fff]")


def window(tokens: int, reserve: int) -> Fact:
    """The model's own window, in tokens."""
    return Fact(
        "my context window",
        f"The context window is {tokens:,} tokens now, {reserve:,} of them reserved for the answer. /context shows "
        "how the next request uses it.",
        ("context window", "window size", "tokens", "how many tokens", "上下文", "窗口"),
    )


def matching(question: str, facts: Sequence[Fact], *, most: int = 2) -> list[Fact]:
    """The facts that answer the question, best first; none where it is about something else."""
    if not facts or not (_FORM.search(question) or _COMMAND.search(question)):
        return []
    commands = set(_COMMAND.findall(question.lower()))
    terms = _question_terms(question)
    if not terms and not commands:
        return _about_us(question, facts)
    enough = 0.5 if _HOW_TO.search(question) else 0.67
    if terms <= _vocabulary(facts):
        enough = 0.0
    about_program = _is_ours(question)
    weighed = [
        (
            fact,
            _weight(fact, terms, commands | (terms & {"remember"}), enough)
            * (0.5 if about_program and _is_command(fact) else 1),
        )
        for fact in facts
    ]
    matches = sorted((pair for pair in weighed if pair[1] >= 1.5), key=lambda pair: -pair[1])
    return [fact for fact, weight in matches[:most] if weight >= 0.7 * matches[0][1]]


def is_of_life(question: str) -> bool:
    """Whether it is asked as of things and people, and names no command: “Where is the key?” is not about /keys."""
    return _OF_LIFE.search(question) is not None and not (_COMMAND.search(question) or _YOURS.search(question))


def _question_terms(question: str) -> set[str]:
    """The question's content words; Chinese ones of the program's vocabulary in English."""
    terms = {term for term in content_terms(question) if term.isascii()} - _PLAIN
    rest = question
    for word, english in _CHINESE.items():
        if word in rest:
            rest = rest.replace(word, "")
            terms |= set(content_terms(english)) or {english}
    if not terms and "remember" in question.lower():  # which says nothing in other questions
        terms = {"remember"}
    if _is_ours(question):  # “how do you remember?” asks for no command
        terms.discard("remember")
    return terms | set(_HAN.findall(_CHINESE_PLAIN.sub("", rest)))


def _is_ours(question: str) -> bool:
    """Whether it asks what the program does, rather than how to do something."""
    return _YOURS.search(question) is not None and not _HOW_TO.search(question)


def _vocabulary(facts: Sequence[Fact]) -> set[str]:
    return {term for fact in facts for words in (fact.topic, *fact.keywords) for term in content_terms(words)}


def _about_us(question: str, facts: Sequence[Fact]) -> list[Fact]:
    """“Who are you?”, “What is Palimpsest?”: the fact that names it so at the greatest length, else the first."""
    if not _OURSELVES.search(question):
        return []
    lower = question.lower()
    return [max(facts, key=lambda fact: max(_named(word, lower) for word in (*fact.keywords, "")))]


def _named(keyword: str, question: str) -> int:
    return len(keyword) if (len(keyword) > 2 or not keyword.isascii()) and keyword.lower() in question else 0


def _is_command(fact: Fact) -> bool:
    return fact.topic.startswith(("/", "palimpsest "))


def _weight(fact: Fact, terms: set[str], commands: set[str], enough: float) -> float:
    """The average weight of the question's words in the fact: 3 in its topic, 2 in a keyword, 1 in its text.

    0 where the fact covers less than the share `enough` of them.
    """
    named = {
        name.lstrip("/").split()[0] for name in (fact.topic.lower(), *map(str.lower, fact.keywords)) if name.strip("/ ")
    }
    if commands & named:
        return 10.0 if fact.topic.startswith("/") else 8.0
    topic, text = set(content_terms(fact.topic)) - _PLAIN, set(content_terms(fact.text))
    keywords = {term for keyword in fact.keywords for term in content_terms(keyword)}
    worth = [3 if term in topic else 2 if term in keywords else 1 if term in text else 0 for term in terms]
    if not worth or max(worth) < 2 or sum(map(bool, worth)) < enough * len(worth):
        return 0.0
    return sum(worth) / len(worth) / (1 + 0.05 * len(topic - terms))
