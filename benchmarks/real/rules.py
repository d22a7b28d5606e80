"""Rules by which an answer to a plain message is judged. All are pure; RULES has the sentence that is printed for each.

An answer is as plain as the bare model's if it breaks no rule, or if the bare model's answer breaks the same rule.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

RULES = {
    "failed": "the run ended with an error",
    "empty": "the answer has no text",
    "call": "the answer is JSON, or holds a call of a tool",
    "fence": "the answer holds a code fence that the message did not ask for",
    "tags": "the answer holds a tag or a template's token: <tool…>, <function…>, <palimpsest…>, <|…|>, a comment",
    "parrot": "8 words (14 CJK characters) in a row, or a whole answer of 5 (8), stand in the prompt alone",
    "echo": "the answer is the message, or its words in another order",
    "language": "the answer is in another script than the message",
    "loop": "the answer repeats itself until it ends",
    "refusal": "the answer refuses, where the bare model answers",
}
PARROT_WORDS, PARROT_CJK = (5, 8), (8, 14)  # of a whole answer, of a part of it


@dataclass(frozen=True)
class Asked:
    """What the rules need to know of a message."""

    messages: Sequence[str]  # the user's, the newest last
    language: str = "en"  # en or zh; any if both are right
    code: bool = False  # a code fence is welcome
    unknown: bool = False  # nobody can know the answer: saying so is right


def broken(text: str, asked: Asked, prompt: str = "", *, failed: bool = False) -> list[str]:
    """Names of the rules that this answer breaks. `prompt` is what the model read besides the user's messages."""
    if failed:
        return ["failed"]
    if not text.strip():
        return ["empty"]
    found = {
        "call": holds_call(text),
        "fence": not asked.code and "```" in text,
        "tags": holds_tags(text),
        "parrot": bool(parroted(text, prompt, asked.messages)),
        "echo": echoes(text, asked.messages[-1]),
        "language": not right_script(text, asked.language),
        "loop": loops(text),
        "refusal": not asked.unknown and refuses(text),
    }
    return [rule for rule, is_broken in found.items() if is_broken]


def as_plain(product: Sequence[str], bare: Sequence[str]) -> list[str]:
    """The rules that count against the product: those that the bare model's answer keeps."""
    return [rule for rule in product if rule not in bare]


_CALL = re.compile(
    r"""[{\[]\s*"(name|function|tool|tool_name|arguments|parameters|tool_calls?)"\s*:"""  # JSON of a call
    r"""|\[TOOL_CALLS\]|<\|python_tag\|>|<start_function_call>"""
    r"""|\b(find_files|search_files|read_file|write_file|edit_file|apply_patch|run_command|memory_search|recall"""
    r"""|remember|ask_user|fetch_url|open_skill|update_plan|delegate)\(""",
)


def holds_call(text: str) -> bool:
    return bool(_CALL.search(text)) or _is_json(re.sub(r"^```\w*\n|\n?```$", "", text.strip()))


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        return isinstance(json.loads(text), dict | list)
    except ValueError:
        return False


_TAGS = re.compile(
    r"</?\s*(tools?|tool_\w+|functions?|function=\w+|parameters?|invoke|palimpsest[\w-]*|think|system|user|assistant)"
    r"\b[^>\n]*>?|<\|[^|\n]*\|>|<!--|</?s>|palimpsest-\w+",
    re.IGNORECASE,
)


def holds_tags(text: str) -> bool:
    return bool(_TAGS.search(text))


def parroted(text: str, prompt: str, messages: Sequence[str]) -> str:
    """The first run of words that stands in the prompt and in none of the user's messages; "" if there is none."""
    own = "\n".join(messages)
    for words, (shortest, longest) in ((_words, PARROT_WORDS), (_cjk, PARROT_CJK)):
        run = min(max(len(words(text)), shortest), longest)
        in_prompt, in_own = _runs(words(prompt), run), _runs(words(own), run)
        for gram in _grams(words(text), run):
            if gram in in_prompt and gram not in in_own:
                return " ".join(gram)
    return ""


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())


def _cjk(text: str) -> list[str]:
    return re.findall(r"[\u3400-\u9fff]", text)


def _grams(words: list[str], run: int) -> list[tuple[str, ...]]:
    return [tuple(words[n : n + run]) for n in range(len(words) - run + 1)]


def _runs(words: list[str], run: int) -> set[tuple[str, ...]]:
    return set(_grams(words, run))


def echoes(text: str, message: str) -> bool:
    """Whether nothing but the message came back. A greeting may be returned."""
    words, own = (_words(one) + _cjk(one) for one in (text, message))
    return len(own) > 3 and Counter(words) == Counter(own)


def right_script(text: str, language: str) -> bool:
    """Whether Chinese is answered in Chinese and English in Latin letters. Code, names and figures may be either."""
    if language == "any":
        return True
    if re.search(r"[\u0370-\u06ff\u0900-\u0eff\u3040-\u30ff\uac00-\ud7af]", text):
        return False  # Greek to Thai, kana, hangul
    cjk, latin = len(_cjk(text)), len(re.findall(r"[A-Za-z]+", text))
    if language == "zh":
        return cjk >= latin if latin > 2 else cjk > 0 or latin == 0
    return cjk <= latin


def loops(text: str) -> bool:
    """Whether the answer ends in a repetition: a unit 4 times or more, 24 characters at least in all."""
    tail = text.strip()
    for size in range(1, len(tail) // 4 + 1):
        unit, times = tail[-size:], 1
        while tail.endswith(unit * (times + 1)):
            times += 1
        if times >= 4 and times * size >= 24 and unit.strip(" \n-_=*.#|"):
            return True
    sentences = [part.strip() for part in re.split(r"(?<=[.!?。！？])\s*|\n", tail) if len(part.strip()) > 8]
    return any(count >= 4 for count in Counter(sentences).values())


_REFUSALS = re.compile(
    r"\b(i('m| am) (sorry|unable|not able)|i (can ?not|can't|don't know|do not know|don't have|do not have|won't)"
    r"|as an ai|as a language model|unable to (assist|help|answer))\b"
    r"|抱歉|对不起|我不知道|我无法|不能提供|无法提供|作为(一个|一名)?(AI|人工智能|语言模型)",
    re.IGNORECASE,
)


def refuses(text: str) -> bool:
    """Whether the answer's first sentences refuse. What comes after a real answer is no refusal."""
    return bool(_REFUSALS.search(text.replace("\u2019", "'")[:120]))


def prompt_of(request: dict[str, Any], messages: Sequence[str]) -> str:
    """What the model read besides the user's messages and its own earlier answers, tools included."""
    parts = [json.dumps(tool, ensure_ascii=False) for tool in request.get("tools") or []]
    for message in request["messages"]:
        if message["role"] == "assistant":
            continue
        content = message.get("content") or ""
        if isinstance(content, list):
            content = "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
        for own in messages:
            content = content.replace(own, "\n")
        parts.append(content)
    return "\n".join(parts)
