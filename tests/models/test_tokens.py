"""Counting tokens: near the truth, a little above it, and learning."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.chat.port import ImageRule
from models.messages import Image, Tool, ToolCall, assistant, system, user
from models.tokens import Estimate, Tokenizer, estimate, image_tokens, message_tokens, request_tokens
from tests.models.chat.events import request

ENGLISH = (
    "The committee will publish its recommendations in November, after the second round of public hearings. "
    "Several members have already said that they expect substantial changes to the original proposal. "
) * 10
CODE = '''
def load(path: Path, *, strict: bool = True) -> dict[str, Any]:
    """Reads the file, and checks each value against its type."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip() or line.startswith("#"):
                continue
            key, _, value = line.partition("=")
            found[key.strip()] = convert(value, strict=strict, where=(path, number))
    return found
'''
CHINESE = "今天早上我去了北京的一家书店，买了三本关于历史和哲学的书。天气很好，我在公园里读了一个小时。" * 10
HEX = " ".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(30))


@pytest.mark.parametrize(
    ("text", "characters_a_token"),
    [(ENGLISH, 4.6), (CODE, 3.6), (CHINESE, 1.6), (HEX, 1.8)],
    ids=["English", "code", "Chinese", "hex"],
)
def test_the_estimate_is_near_what_tokenizers_give_and_rather_above(text: str, characters_a_token: float) -> None:
    expected = len(text) / characters_a_token
    assert 0.85 * expected <= estimate(text) <= 1.35 * expected


def test_emoji_cost_more_than_one() -> None:
    assert 2 * 4 <= estimate("🐋🎉👍😀") <= 4 * 4


def test_nothing_costs_nothing_and_something_costs_something() -> None:
    assert estimate("") == 0
    assert estimate(" ") == estimate("a") == 1


@given(st.text(max_size=300))
def test_any_text_has_a_sane_estimate(text: str) -> None:
    assert bool(text) <= estimate(text) <= 4 * len(text.encode("utf-8", "surrogatepass")) + 1


@given(st.text(max_size=200), st.text(max_size=200))
def test_more_text_is_hardly_ever_cheaper(one: str, two: str) -> None:
    assert estimate(f"{one}\n{two}") >= max(estimate(one), estimate(two)) * 0.6 - 2


def test_it_learns_at_once_that_it_was_too_low() -> None:
    counter = Estimate()
    before = counter.count(ENGLISH)
    counter.learn(before, 3 * before)
    assert 3 * before <= counter.count(ENGLISH) <= 3.3 * before
    assert counter.name != "estimate", "counts of another factor must not be mistaken for these"


def test_it_learns_slowly_that_it_was_too_high_and_comes_near() -> None:
    counter = Estimate()
    truth = counter.count(ENGLISH) // 2
    counter.learn(counter.count(ENGLISH), truth)
    assert counter.count(ENGLISH) > 1.3 * truth
    for _ in range(30):
        counter.learn(counter.count(ENGLISH), truth)
    assert truth <= counter.count(ENGLISH) <= 1.2 * truth


def test_a_settled_estimate_keeps_its_name() -> None:
    counter = Estimate()
    for _ in range(30):
        counter.learn(counter.count(ENGLISH), 1000)
    names = set()
    for wobble in (1000, 995, 990, 1000, 985):
        counter.learn(counter.count(ENGLISH), wobble)
        names.add(counter.name)
    assert len(names) == 1, "each new name has every text counted again"


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=40))
def test_whatever_it_is_told_it_stays_within_bounds(lessons: list[tuple[int, int]]) -> None:
    counter = Estimate()
    for counted, actual in lessons:
        counter.learn(counted, actual)
    assert 0.25 <= counter.factor <= 8


def test_a_models_own_tokenizer_counts_as_it_does() -> None:
    counter = Tokenizer("letters", lambda text: range(len(text)))
    assert (counter.name, counter.count("four"), counter.count("")) == ("letters", 4, 0)


LETTERS = Tokenizer("letters", lambda text: range(len(text)))


def test_a_request_counts_its_frames_its_tools_and_its_pictures() -> None:
    picture = Image(b"", "image/png", 640, 640, "map.png")
    bare = request_tokens(request(system("ab"), user("cdef")), LETTERS)
    assert 6 + 8 <= bare <= 6 + 20
    tool = Tool("look", "Looks.", {"type": "object"})
    assert request_tokens(request(system("ab"), user("cdef"), tools=(tool,)), LETTERS) > bare + len("lookLooks.")
    seeing = request_tokens(request(system("ab"), user("cdef", picture)), LETTERS, ImageRule.QWEN3)
    assert seeing == bare + 2 + 20 * 20
    blind = request_tokens(request(system("ab"), user("cdef", picture)), LETTERS)
    assert blind >= bare + len("[map.png, 640×640: this model sees no images]")


def test_a_call_counts_its_arguments() -> None:
    bare = message_tokens(assistant("x"), LETTERS, ImageRule.NONE)
    called = message_tokens(assistant("x", ToolCall("c", "look", '{"at": 7}')), LETTERS, ImageRule.NONE)
    assert called >= bare + len('look{"at": 7}')


@pytest.mark.parametrize(
    ("rule", "width", "height", "tokens"),
    [
        (ImageRule.NONE, 1024, 1024, 0),
        (ImageRule.QWEN2, 1120, 560, 2 + 40 * 20),
        (ImageRule.QWEN2, 10, 10, 2 + 4),
        (ImageRule.QWEN2, 20_000, 20_000, 2 + 16_384),
        (ImageRule.QWEN3, 1024, 1024, 2 + 32 * 32),
        (ImageRule.QWEN3, 64, 64, 2 + 64),
        (ImageRule.OPENAI_TILES, 1024, 1024, 765),  # OpenAI's own examples
        (ImageRule.OPENAI_TILES, 2048, 4096, 1105),
        (ImageRule.OPENAI_TILES, 512, 512, 255),
        (ImageRule.OPENAI_PATCHES, 1024, 1024, 1762),
        (ImageRule.OPENAI_PATCHES, 4000, 4000, 2642),
        (ImageRule.ANTHROPIC, 200, 200, 64),
        (ImageRule.ANTHROPIC, 1000, 1000, 1296),
        (ImageRule.ANTHROPIC, 4000, 4000, 1568),
        (ImageRule.GEMINI, 384, 384, 258),
        (ImageRule.GEMINI, 1536, 1536, 258 * 4),
    ],
)
def test_a_picture_costs_what_its_model_says(rule: ImageRule, width: int, height: int, tokens: int) -> None:
    assert image_tokens(rule, width, height) == tokens


@given(st.sampled_from(list(ImageRule)), st.integers(0, 30_000), st.integers(0, 30_000))
def test_any_picture_has_a_price(rule: ImageRule, width: int, height: int) -> None:
    assert (image_tokens(rule, width, height) > 0) == (rule is not ImageRule.NONE)
