"""Phrases of `offline` besides its quotes, in English and in Chinese."""

import re

from msgspec import Struct

from foundation.program import PROGRAM
from foundation.text.chinese_questions import is_noun_phrase
from foundation.text.sentences import is_question, request_end

SUPERSEDED_ON = "superseded on "
_LABEL = re.compile(r"(\[?)(.*?)(\]?)", re.DOTALL)


class LanguagePhrases(Struct, frozen=True):
    """One language's sentences."""

    quoting: str
    nearest: str
    nothing: str
    section: str
    no_summary: str
    no_file_summary: str
    telling: str
    your_text: str
    at_line: str
    skill: str
    kept: str
    greeting: str
    what_to_do: str
    more: str
    fact_note: str
    attached: str
    attached_begins: str
    attached_answers: str
    picture: str
    empty: str
    kinds: dict[str, str]
    labels: dict[str, str] = {}
    superseded: str = ""

    def citation(self, cited: str) -> str:
        """A citation with its labels in this language: `[user · 2026-03-14 · e_4kx7] · exact`."""
        parts = (_LABEL.fullmatch(part) for part in cited.split(" · "))
        return " · ".join(f"{part[1]}{self._label(part[2])}{part[3]}" for part in parts if part)

    def _label(self, label: str) -> str:
        day = label.removeprefix(SUPERSEDED_ON)
        if self.superseded and day != label:
            return self.superseded.format(day=day)
        return self.labels.get(label, label)


ENGLISH = LanguagePhrases(
    quoting="From memory, word for word (no language model is connected):",
    nearest="Nothing in memory answers that directly. The closest passages (no language model is connected):",
    nothing="Nothing in memory matches. No language model is connected, so I can only quote what was said or "
    "archived here.",
    section="No language model is connected, so I cannot write a summary. The passage begins, word for word:",
    no_summary="No language model is connected, so I cannot write a summary. `/recall` shows the passages in full:",
    no_file_summary="No language model is connected, so I cannot write a summary. `/model` connects one.",
    telling="Sentences from **{name}** that contain its most frequent words, word for word, from the first {last:,} of "
    "{lines:,} lines:",
    your_text="your text",
    at_line="{name}, line {line}",
    skill="The skill {name} needs a language model, and none is connected. Your message is saved. `/model` connects "
    "one.",
    kept="Saved. No language model is connected. Ask a question, and I quote what memory has on it.",
    greeting="Hello. No language model is connected: I save what you write and answer by quoting it.",
    what_to_do="`/search WORDS` searches everything, `/archive FILE` adds a file to memory, and `/model` connects a "
    "model (Ollama, LM Studio, llama.cpp, MLX, or a key in the environment).",
    more="Also in memory:",
    fact_note="(From the notes about Palimpsest; no language model is connected.)",
    attached="From **{name}** ({kind}), word for word (no language model is connected):",
    attached_begins="**{name}** ({kind}, {lines:,} lines) begins, word for word (no language model is connected):",
    attached_answers="The passages closest to the question:",
    picture="**{name}** is an image of {size} pixels. Reading it needs a vision model (`/model`) or an OCR engine "
    f"(`{PROGRAM} doctor` says how to install one).",
    empty="**{name}** is empty.",
    kinds={"calendar": "a calendar", "picture": "an image, read by OCR", "text": "a text"},
)
CHINESE = LanguagePhrases(
    quoting="以下逐字引自记忆（我不是语言模型，只能引用）：",
    nearest="记忆里没有直接的答案，最接近的内容如下（我不是语言模型，只能引用）：",
    nothing="记忆里没有找到相关内容。我不是语言模型，只能引用在这里说过或归档过的内容。",
    section="我不是语言模型，不能写摘要。该部分开头如下，逐字引用：",
    no_summary="我不是语言模型，不能写摘要。可以用 `/recall` 查看全文：",
    no_file_summary="没有语言模型，我不能写摘要；可以用 `/model` 连接模型。",
    telling="以下逐字引自 **{name}**（全文 {lines:,} 行，这里看了前 {last:,} 行），是用词最有代表性的句子：",
    your_text="你发来的文本",
    at_line="{name}，第 {line} 行",
    skill="技能是写给语言模型的说明。现在没有连接模型，无法执行技能 {name}；这条消息已保存。",
    kept="已保存：这条消息已成为对话的一部分，以后问起时可以找到。（我不是语言模型，只能引用。）",
    greeting="你好。这是没有连接语言模型的 Palimpsest：我会保存你写下的内容，并以引用来回答。",
    what_to_do="可以用 `/search 关键词` 搜索全部内容，用 `/archive 文件` 存入资料，或用 `/model` 连接模型"
    "（Ollama、LM Studio、llama.cpp、MLX，或环境变量中的密钥）。",
    more="记忆中还有：",
    fact_note="（来自程序自带的说明；我不是语言模型。）",
    attached="**{name}**（{kind}）内容如下，逐字引用（我不是语言模型，只能引用）：",
    attached_begins="**{name}**（{kind}，共 {lines:,} 行）开头如下，逐字引用（我不是语言模型，只能引用）：",
    attached_answers="其中与问题最接近的内容：",
    picture="**{name}** 是一张 {size} 像素的图片。没有视觉模型，也没有 OCR 引擎，我读不了它："
    f"可以用 `/model` 连接能看图的模型；`{PROGRAM} doctor` 会说明如何安装 OCR 引擎。",
    empty="**{name}** 是空的。",
    kinds={"calendar": "日历", "picture": "图片，由 OCR 读出", "text": "文本"},
    labels={
        "exact": "原文",
        "verified": "已核对",
        "approximate": "近似",
        "user": "用户",
        "assistant": "助手",
        "assistant, unverified": "助手，未核实",
        "this conversation": "本次对话",
        "this conversation, summed up": "本次对话的摘要",
    },
    superseded="{day} 起已更新",
)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_WORD = re.compile(r"[^\W\d_\u3400-\u9fff]{2,}")
_ASKS = re.compile(
    r"[?？]|^\s*(who|what|when|where|which|why|how|do|does|did|is|are|was|were|can|could|will|would|should|have|has|tell"
    r"|find|show|list|recall|remind|search|give|explain|describe|define|summari[sz]e|sum up)\b"
    r"|[吗呢]\s*$|什么|怎么|如何|哪|谁|几|多少|(?<![很许好太更最])多[大久长远高深重快宽]|为什么|请问|告诉"
    r"|总结|概括|摘要",
    re.IGNORECASE,
)
_TO_REMEMBER = re.compile(
    r"\s*(?:please |and |also |can you )*(?:remember|note|keep in mind)(?: that\b|[:,])"
    r"|\s*(?:请|麻烦|帮我|你)*(?:记住|记下|记一下|别忘|不要忘)",
    re.IGNORECASE,
)
_GREETING = r"(?:hi|hello|hey|good (?:morning|evening|afternoon)|你好|您好|嗨|早上好|晚上好)(?![a-z])"
_GREETS = re.compile(rf"^\s*{_GREETING}[\s,!.，！。]*(?:[^\W\d_]+[\s,!.，！。]*){{0,2}}$", re.IGNORECASE)
_OPENS = re.compile(rf"^\s*{_GREETING}(?:\s+(?:there|again))?[\s,!.，！。]*", re.IGNORECASE)
_SUMMARY = re.compile(
    r"^\s*(?:please |can you |could you |give me |write )*(?:(?:an? |the )?summary of|summari[sz]e|sum up|outline)"
    r"\s+(?P<what>.+)"
    r"|^\s*(?:请|帮我|麻烦)*(?:总结|概括|归纳)(?:一下)?(?P<zh>.+)|^(?P<zh2>.+?)的(?:摘要|概要|总结)",
    re.IGNORECASE | re.DOTALL,
)

_SUMMARY_OF_THIS = re.compile(
    r"\s*(?:(?:please|can you|could you|give me|write|make|an?|the|short|brief|quick|me)\s+)*"
    r"(?:summar(?:y|i[sz]e)|sum up|outline|tl;?dr)(?:\s+(?:of|this|that|it|the|file|text|document|for me|please|up))*"
    r"[\s.!?:]*$"
    r"|\s*(?:请|帮我|麻烦|把|给我|你|能|可以|写个?|一个|做个)*(?:这个|这份|这篇|该)?(?:文件|文本|文章|文档|内容)?(?:的)?"
    r"(?:总结|概括|归纳|摘要|概要)(?:一下|下)?"
    r"(?:这个|这份|这篇|该|这段)?(?:文件|文本|文章|文档|内容|文字)?(?:的内容|吧|吗)?[\s。！？!?：:]*$",
    re.IGNORECASE,
)


def phrases_for(question: str) -> LanguagePhrases:
    """Phrases in the language of most of the question, if English or Chinese; else in English."""
    han = len(_HAN.findall(question))
    return CHINESE if han and not _KANA.search(question) and han > len(_WORD.findall(question)) else ENGLISH


def asks(question: str) -> bool:
    """Whether the text is a question, not a statement to be kept."""
    if tells_to_remember(question):
        return False
    return _ASKS.search(question) is not None or request_end(question) > 0 or is_noun_phrase(question)


def tells_to_remember(text: str) -> bool:
    """Whether the text asks to be kept: “Remember that …”, 请记住…"""
    return _TO_REMEMBER.match(text) is not None and not is_question(text)


def summarised(question: str) -> str:
    """What a request for a summary is about; "" for any other text."""
    match = _SUMMARY.match(question)
    return next((group for group in match.groups() if group), "").strip() if match else ""


def asks_summary(question: str) -> bool:
    """Whether the text asks for a summary of what goes with it: “Summarise this”, “tl;dr”, “总结一下”."""
    return _SUMMARY_OF_THIS.match(question) is not None


def greets(question: str) -> bool:
    """Whether the text is a greeting, with at most a word or two more."""
    return _GREETS.match(question) is not None and not asks(without_greeting(question))


def without_greeting(question: str) -> str:
    """The text after “Hello,”; all of it where it begins with no greeting."""
    return _OPENS.sub("", question, count=1)
