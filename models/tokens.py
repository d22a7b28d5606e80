"""Token counts: text by a tokenizer where there is one, else by an estimate that learns; images by formula.

The estimate is in tokens of today's 100k–200k vocabularies. Its rates were set by what such tokenizers give: English
4.6 characters a token, code 3.6, Chinese 1.6, hex 1.8; it errs on the high side, since a request that is too long is
refused and one that is too short is not.
"""

import math
import re
from collections.abc import Callable, Iterable

import msgspec

from models.chat.port import ImageRule, TokenCounter
from models.chat.text_tools.prompt import tools_text
from models.messages import (
    Image,
    Message,
    ProviderFields,
    Request,
    Tool,
    ToolCall,
    image_placeholder,
    parts_text,
    wire_parts,
)

MESSAGE_OVERHEAD = 5  # `<|im_start|>role\n` and `<|im_end|>\n`: 5 in ChatML, 4 in Llama 3, 3–4 at OpenAI
REQUEST_OVERHEAD = 4  # the opening of the answer
TOOL_OVERHEAD = 12  # the template's words around each tool's JSON

SAMPLES = (  # what a server's own tokenizer is tried on: words, code, and a language without blanks
    "Yesterday we talked about the journey to Lisbon: the ferry leaves at 09:40, and Ann would rather take the train.",
    'def load(path: Path) -> dict[str, Any]:\n    with path.open("rb") as file:\n        return json.load(file)\n',
    "昨天我们谈到去里斯本的旅行：渡轮九点四十分出发，安更愿意坐火车。",
)

_WORDS = re.compile(r" ?[A-Za-z]+")
_LONG_WORDS = re.compile(r"[A-Za-z]{7,}")
_DIGITS = re.compile(r"[0-9]+")
MIXED = re.compile(r"\b(?=[0-9A-Za-z_\-+/]*[0-9])(?=[0-9A-Za-z_\-+/]*[A-Za-z])[0-9A-Za-z_\-+/]{8,}")
_MARKS = re.compile(r"[!-/:-@\[-`{-~]{1,2}")
_BLANKS = re.compile(r"\n+[ \t]*|[ \t]{2,}|\t")
# Code points beyond ASCII, first and last of each range, and tokens a character.
SCRIPTS = (
    (
        (
            (0x2E80, 0x2FDF),
            (0x3005, 0x3007),
            (0x3021, 0x3029),
            (0x3400, 0x4DBF),
            (0x4E00, 0x9FFF),
            (0xF900, 0xFAFF),
        ),
        0.68,
    ),
    (
        (
            (0x3040, 0x30FF),
            (0x31F0, 0x31FF),
            (0xFF66, 0xFF9F),
            (0xAC00, 0xD7AF),
            (0x1100, 0x11FF),
            (0x3130, 0x318F),
        ),
        0.75,
    ),
    (((0x3000, 0x3004), (0x3008, 0x3020), (0xFF00, 0xFF65)), 0.85),
    (((0x00A0, 0x02FF), (0x0370, 0x052F)), 0.42),
    (((0x0300, 0x036F), (0x0530, 0x10FF), (0x1200, 0x1FFF)), 0.6),
    (((0x2000, 0x2E7F),), 1.2),
)
UNKNOWN_RATE = 2.5  # emoji and rare planes
_SCRIPTS = tuple(
    (re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges) + "]"), rate)
    for ranges, rate in SCRIPTS
)


def estimate(text: str) -> int:
    """Tokens of `text`, by the classes of its characters; 0 for nothing, at least 1 for something."""
    if not text:
        return 0
    tokens = _ascii_tokens(text)
    if not text.isascii():
        tokens += _other_tokens(text)
    return max(1, math.ceil(tokens))


def _ascii_tokens(text: str) -> float:
    plain = "".join(MIXED.split(text))  # without hashes, keys, base64: about two characters a token
    tokens = (len(text) - len(plain)) / 1.75
    text = plain
    tokens += len(_WORDS.findall(text))
    tokens += sum((len(word) - 5) / 8 for word in _LONG_WORDS.findall(text))
    tokens += sum((len(run) + 2) // 3 for run in _DIGITS.findall(text))
    return tokens + len(_MARKS.findall(text)) + len(_BLANKS.findall(text))


def _other_tokens(text: str) -> float:
    counted = 0
    tokens = 0.0
    for characters, rate in _SCRIPTS:
        count = len(characters.findall(text))
        counted += count
        tokens += count * rate
    ascii_characters = sum(map(str.isascii, text)) if counted < len(text) else 0
    return tokens + UNKNOWN_RATE * max(0, len(text) - counted - ascii_characters)


class Estimate:
    """A TokenCounter for a model whose tokenizer is not available: `estimate`, times a factor that learns.

    The factor moves in steps of about 4 %, and `name` moves with it, so that cached counts of another factor are not
    mistaken for its own. It rises at once where the count was too low, falls slowly where it was too high, and stays
    within a quarter and eight times.
    """

    STEP = 1 / 16  # of an octave
    LEAST, MOST = -32, 48  # steps: ×1/4 and ×8

    def __init__(self, step: int = 0) -> None:
        self._step = min(max(step, self.LEAST), self.MOST)

    @property
    def name(self) -> str:
        return f"estimate{self._step:+d}" if self._step else "estimate"

    @property
    def factor(self) -> float:
        return 2.0 ** (self._step * self.STEP)

    def count(self, text: str) -> int:
        return math.ceil(estimate(text) * self.factor)

    def learn(self, counted: int, actual: int) -> None:
        """Corrects the factor by this counter's count of a request and the server's count of the same."""
        if counted < 16 or actual < 16:
            return  # too little to learn from
        wrong = math.log2(actual / counted) / self.STEP
        if wrong > 0:
            self._step = min(self._step + math.ceil(wrong), self.MOST)
        elif wrong < -2:
            self._step = max(self._step - max(1, int(-wrong / 4)), self.LEAST)


class Tokenizer:
    """A TokenCounter of a model's own tokenizer. `encode` gives the tokens of a text."""

    def __init__(self, name: str, encode: Callable[[str], Iterable[int]]) -> None:
        self._name = name
        self._encode = encode

    @property
    def name(self) -> str:
        return self._name

    def count(self, text: str) -> int:
        return sum(1 for _ in self._encode(text)) if text else 0

    def learn(self, counted: int, actual: int) -> None:
        """Does nothing: a tokenizer's counts are exact."""


def message_tokens(message: Message, counter: TokenCounter, images: ImageRule) -> int:
    """Tokens of one message as it is sent, its frame included."""
    sent = tuple(wire_parts(message))
    tokens = MESSAGE_OVERHEAD + counter.count(parts_text(sent))
    for part in sent:
        match part:
            case Image() if images is ImageRule.NONE:
                tokens += counter.count(image_placeholder(part))
            case Image(width=width, height=height):
                tokens += image_tokens(images, width, height)
            case ProviderFields(reasoning=reasoning):
                tokens += counter.count(reasoning)
            case ToolCall(name=name, arguments=arguments):
                tokens += MESSAGE_OVERHEAD + counter.count(name) + counter.count(arguments)
            case _:
                pass
    return tokens


def tool_tokens(tools: Iterable[Tool], counter: TokenCounter, *, in_text: bool = False) -> int:
    """Tokens of the tools as a template writes them: each as JSON. `in_text`: as models.chat.text_tools does."""
    if in_text:
        offered = tuple(tools)
        return TOOL_OVERHEAD + counter.count(tools_text(offered)) if offered else 0
    return sum(TOOL_OVERHEAD + counter.count(msgspec.json.encode(tool).decode()) for tool in tools)


def request_tokens(request: Request, counter: TokenCounter, images: ImageRule = ImageRule.NONE) -> int:
    """Tokens of the whole prompt."""
    messages = sum(message_tokens(message, counter, images) for message in request.messages)
    return REQUEST_OVERHEAD + (0 if request.tools_stated else tool_tokens(request.tools, counter)) + messages


def image_tokens(rule: ImageRule, width: int, height: int) -> int:  # noqa: PLR0911 (a line a rule)
    """Tokens of a picture by the rule; 0 for a model without vision (the sentence in its place is text)."""
    width, height = max(1, width), max(1, height)
    match rule:
        case ImageRule.NONE:
            return 0
        case ImageRule.QWEN2:  # Qwen2-VL: 28-pixel patches; min_pixels 56², max_pixels 12,845,056
            return 2 + _grid(width, height, 28, least=4, most=16_384)
        case ImageRule.QWEN3:  # Qwen3-VL: 32-pixel patches, 64 to 16,384 of them
            return 2 + _grid(width, height, 32, least=64, most=16_384)
        case ImageRule.OPENAI_TILES:
            return _openai_tiles(width, height)
        case ImageRule.OPENAI_PATCHES:  # capped 1,536; 1.72 is o4-mini's multiplier, of those in use the middle
            return math.ceil(1.72 * min(1536, math.ceil(width / 32) * math.ceil(height / 32)))
        case ImageRule.ANTHROPIC:
            return _anthropic(width, height)
        case ImageRule.GEMINI:
            return _gemini(width, height)


def _grid(width: int, height: int, patch: int, *, least: int, most: int) -> int:
    patches = max(1, round(width / patch)) * max(1, round(height / patch))
    return min(max(patches, least), most)


def _openai_tiles(width: int, height: int) -> int:
    """Fit 2048, short side down to 768, then 85 + 170 a 512-pixel tile."""
    scale = min(1.0, 2048 / max(width, height))
    scale *= min(1.0, 768 / (min(width, height) * scale))
    return 85 + 170 * math.ceil(width * scale / 512) * math.ceil(height * scale / 512)


def _anthropic(width: int, height: int) -> int:
    """⌈w/28⌉·⌈h/28⌉ after the long side is brought to 1,568 pixels; at most 1,568."""
    scale = min(1.0, 1568 / max(width, height))
    return min(1568, math.ceil(width * scale / 28) * math.ceil(height * scale / 28))


def _gemini(width: int, height: int) -> int:
    """258 for a small picture, else 258 a tile of two thirds of its short side (256 to 768 pixels)."""
    if max(width, height) <= 384:
        return 258
    tile = min(max(min(width, height) / 1.5, 256), 768)
    return 258 * math.ceil(width / tile) * math.ceil(height / tile)
