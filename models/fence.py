"""The fence around foreign text in a request, which foreign text cannot imitate.

Recalled text, tool results, knowledge, attachments, notes and names pass here when a part is rendered; what is stored
stays as it was. Opening and closing tags of ours, role markers of chat templates and look-alikes of our citations
keep their letters and lose their brackets: `</palimpsest-recalled>` is sent as `‹/palimpsest-recalled>`, `<|im_start|>`
as `‹|im_start|›`, `[INST]` as `‹INST›`, `### Instruction:` as `♯♯♯ Instruction:`. Every character stands for one.

Our own tags carry a nonce, which no text of the request may hold. It is random in the newest message. In the head it
comes from the workspace's secret, so that a server reads a head of the same content once.
"""

import hmac
import json
import re
import secrets
import unicodedata
from functools import cache, lru_cache
from typing import Final

from foundation.lazy_pattern import lazy_pattern

SAMPLE_NONCE: Final = "bcdfghjk"
"""Counts as many characters as any other, where tokens are reserved for a tag."""
_LETTERS: Final = "bcdfghjkmnpqrstvwxz"  # no vowels: a nonce is no word
_OPENING, _CLOSING, _HASH = "‹", "›", "♯"

# Spellings that a model reads as the same: compatibility forms, and letters of other scripts that look alike.
_COMPATIBLE: Final = (
    (0x2070, 0x209F),
    (0x2100, 0x214F),
    (0x24B6, 0x24E9),
    (0xFE50, 0xFE6B),
    (0xFF01, 0xFF5E),
    (0x1D400, 0x1D7FF),
)
_ALIKE: Final = dict(zip("аеорсхуіѕмтрАЕОРСХІЅМТаᴘʟ", "aeopcxyismtpAEOPCXISMTapl", strict=True))
_DOTS: Final = "・•∙⋅‧･●ᐧ"
_ANGLES: Final = dict(zip("〈⟨❮〉⟩❯⟦⟧｜￨∣▁⁄∕", "<<<>>>[]|||_//", strict=True))
_UNSEEN: Final = (
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_U, _S = f"{_UNSEEN}{{0,4}}", rf"(?:\s|{_UNSEEN}){{0,8}}"


def _spelt(*words: str) -> str:
    """The words, with unseen characters anywhere between their letters."""
    return "(?:" + "|".join(_U.join(re.escape(letter) for letter in word) for word in words) + ")"


_TOKENS = _spelt(
    "im_", "start", "end", "eot", "eom", "begin", "system", "user", "assistant", "tool", "fim_", "pad", "sep"
)
_TAGS = _spelt(
    "s",
    "bos",
    "eos",
    "pad",
    "unk",
    "sop",
    "eop",
    "sys",
    "inst",
    "think",
    "tool_call",
    "tool_calls",
    "tool_response",
    "tool_result",
    "tool_results",
    "function_call",
    "function_calls",
    "function_result",
    "function_results",
    "start_of_turn",
    "end_of_turn",
    "start_of_image",
    "end_of_image",
    "begin_of_text",
    "end_of_text",
    "begin_of_sentence",
    "end_of_sentence",
)
_NUMBERED_TAGS = rf"{_spelt('unused', 'extra_id_', 'reserved_', 'fim_')}(?:{_U}\w){{1,20}}"
_BRACKETED = _spelt(
    "INST",
    "B_INST",
    "E_INST",
    "SYS",
    "SYSTEM_PROMPT",
    "AVAILABLE_TOOLS",
    "TOOL_CALLS",
    "TOOL_RESULTS",
    "TOOL_CONTENT",
    "ARGS",
    "CALL_ID",
    "MODEL_SETTINGS",
    "BOS",
    "EOS",
    "gMASK",
    "sMASK",
    "THINK",
    "PREFIX",
    "SUFFIX",
    "MIDDLE",
)
_HEADERS = _spelt("instruction", "instructions", "response", "input", "system", "human", "assistant", "user")
_REF = r"(?:(?:e|pg|m)_(?=[a-z]{0,20}[0-9])[0-9a-z]{6,24}|[^\s\[\]]{1,200}\.md\#L\d{1,9}-L\d{1,9})"

_AFTER_ANGLE = "|".join(
    [
        rf"(?:{_S}[/\\]){{0,3}}{_S}{_spelt('palimpsest')}",
        rf"{_U}\|{_U}[\w/]",
        rf"{_S}\|{_S}{_TOKENS}",
        rf"{_S}<{_S}/?{_S}{_spelt('sys')}{_S}>{_S}>",
        rf"{_S}/?{_S}(?:{_TAGS}|{_NUMBERED_TAGS})(?:\s[^<>\n]{{0,80}})?{_S}/?{_S}>",
    ]
)
_CITATION = lazy_pattern(rf"\[(?:[^\[\]\n]{{0,400}}(?:\s·|·\s){_S}[^\s\[\]·]{{1,200}}|{_S}{_REF}){_S}\]", re.IGNORECASE)
_CITATION_END = lazy_pattern(rf"(?:\s·|·\s){_S}[^\s\[\]·]{{1,200}}{_S}\]")  # with other brackets within
_LINE_END = lazy_pattern(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")  # as str.splitlines has it
_STRING = lazy_pattern(r'"(?:[^"\\]|\\.)*"')
_REFERENCE = lazy_pattern(r"[^\s<>\[\]|·]{1,200}")


@cache
def _marker() -> re.Pattern[str]:
    """Tags of ours and role markers. Compiled at first use: it takes a third of the time that the program starts in."""
    return re.compile(
        r"[<\[#|](?:"
        rf"(?<=<)(?:{_AFTER_ANGLE})"
        rf"|(?<=\[){_S}/?{_S}{_BRACKETED}{_S}\]"
        rf"|(?<=\#)(?:{_U}\#){{1,5}}{_S}{_HEADERS}{_S}:"
        rf"|(?<=[\w/]\|){_U}>"
        ")",
        re.IGNORECASE,
    )


def new_nonce() -> str:
    """Eight random letters: 34 bits."""
    return "".join(secrets.choice(_LETTERS) for _ in range(8))


def workspace_nonce(secret: bytes, choice: str) -> str:
    """Eight letters that stay the same for a workspace's secret and a choice; random without a secret.

    They are 34 bits of an HMAC-SHA256: nobody without the secret can guess them.
    """
    if not secret:
        return new_nonce()
    number = int.from_bytes(hmac.digest(secret, f"fence {choice}".encode(), "sha256"))
    return "".join(_LETTERS[number // len(_LETTERS) ** place % len(_LETTERS)] for place in range(8))


def fence_text(kind: str, text: str, nonce: str, *, about: str = "") -> str:
    """The text, which has passed the fence, between tags of ours. `nonce` is "" in what an older version sent."""
    name = f"palimpsest-{kind}-{nonce}" if nonce else f"palimpsest-{kind}"
    return f"<{name}{about}>\n{text}\n</{name}>"


def neutralise(text: str, *, citations: bool = True) -> str:
    """The text with no tag of ours, no role marker and, with `citations`, no citation in it, in any spelling.

    As long as the text; applied twice it changes nothing more. Text with none of these is the same object. What a
    conversation sends again with each request is remembered: 0.2 µs a character otherwise.
    """
    if len(text) <= _LONGEST_REMEMBERED:
        return _neutral_again(text, citations)
    return _neutral(text, citations)


def _neutral(text: str, citations: bool) -> str:
    shadow = text if text.isascii() else text.translate(_folding())
    offsets = [at for match in _marker().finditer(shadow) for at in range(*match.span())]
    if citations and "[" in shadow:
        offsets += [at for match in _CITATION.finditer(shadow) for at in (match.start(), match.end() - 1)]
    if citations and "]" in shadow and "·" in shadow:
        offsets += [match.end() - 1 for match in _CITATION_END.finditer(shadow)]
    if not offsets:
        return text
    characters, shown = list(text), _neutralising()
    for at in offsets:
        characters[at] = shown.get(ord(characters[at]), characters[at])
    return _neutral("".join(characters), citations)  # what stood between two markers may make one


_neutral_again = lru_cache(maxsize=1024)(_neutral)
_LONGEST_REMEMBERED: Final = 16_384  # characters: the cache holds 16 M of them at most


def neutralise_json(text: str, *, citations: bool = True) -> str:
    """The same within the strings of a JSON object, escapes and all; as text where it is none."""
    try:
        if not isinstance(json.loads(text), dict):
            return neutralise(text, citations=citations)
    except (ValueError, RecursionError):
        return neutralise(text, citations=citations)

    def string(match: re.Match[str]) -> str:
        value: str = json.loads(match.group(), strict=False)
        sent = neutralise(value, citations=citations)
        return match.group() if sent == value else json.dumps(sent, ensure_ascii=False)

    return _STRING.sub(string, text)


def label(name: str, most: int = 200) -> str:
    """A name within a line of ours: on one line, with no bracket, tag or separator of ours in it."""
    line = " ".join(name[: 4 * most].split())[:most]
    return neutralise(line.translate(_plain()))


def one_line(name: str) -> str:
    """A name on a line of its own."""
    return _LINE_END.sub(" ", name)


def reference(ref: str) -> str:
    """A reference as our citations have it; an imported one that could break out of it is made a label."""
    return ref if _REFERENCE.fullmatch(ref) and neutralise(ref) == ref else label(ref).replace(" ", "_")


@cache
def _folding() -> dict[int, str]:
    """For a shadow of the same length: each spelling of an ASCII character to that character."""
    table = {
        code: folded for first, last in _COMPATIBLE for code in range(first, last + 1) if (folded := _folded(code))
    }
    table |= {ord(letter): plain for letter, plain in (_ALIKE | _ANGLES).items()}
    return table | {ord(dot): "·" for dot in _DOTS}


def _folded(code: int) -> str:
    plain = unicodedata.normalize("NFKC", chr(code))
    return plain if len(plain) == 1 and plain.isascii() else ""


@cache
def _neutralising() -> dict[int, str]:
    pairs = {"<": _OPENING, "[": _OPENING, ">": _CLOSING, "]": _CLOSING, "#": _HASH}
    others = {code: pairs[plain] for code, plain in _folding().items() if plain in pairs}
    return others | {ord(plain): shown for plain, shown in pairs.items()}


@cache
def _plain() -> dict[int, str]:
    pairs = {"<": "(", "[": "(", ">": ")", "]": ")", "·": "-", "|": "/"}
    others = {code: pairs[plain] for code, plain in _folding().items() if plain in pairs}
    return others | {ord(plain): shown for plain, shown in pairs.items()}
