"""What servers say of a request that is too long for them."""

import pytest

from models.chat.errors import Endpoint, error_from_body
from models.chat.overflow import OverflowFigures, overflow_figures

TEXTS = [
    ("request (9026 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096, 9026, 0),
    (
        "the request exceeds the available context size, try increasing it (n_prompt_tokens 9026, n_ctx 4096)",
        4096,
        9026,
        0,
    ),
    ("prompt too long; exceeded max context length by 1234 tokens", 0, 0, 1234),
    ("the input length exceeds the context length", 0, 0, 0),
    (
        "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context "
        "length of only 4096 tokens, which is not enough.",
        4096,
        9000,
        0,
    ),
    (
        "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 9000>= "
        "n_ctx: 4096). Try to load the model with a larger context length.",
        4096,
        9000,
        0,
    ),
    (
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, "
        "1000 in the completion). Please reduce the length of the messages or completion.",
        4096,
        4000,
        0,
    ),
    (
        "You passed 5001 input tokens and requested 1000 output tokens. However, the model's context length is only "
        "4096 tokens, resulting in a maximum input length of 3096 tokens.",
        4096,
        5001,
        0,
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 4096 "
        "tokens and your request has 3500 input tokens (1000 > 4096 - 3500).",
        4096,
        3500,
        0,
    ),
    ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 4096, 5000, 0),
    ("Input length (5000) exceeds model's maximum context length (4096).", 4096, 5000, 0),
    ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", 4096, 5000, 0),
    (
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
        128_000,
        130_000,
        0,
    ),
    (
        "Input tokens exceed the configured limit of 272,000 tokens. Your messages resulted in 300,000 tokens.",
        272_000,
        300_000,
        0,
    ),
    ("prompt is too long: 208310 tokens > 200000 maximum", 200_000, 208_310, 0),
    (
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
        200_000,
        188_240,
        0,
    ),
    (
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        1_048_576,
        1_200_000,
        0,
    ),
    (
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        32_768,
        40_000,
        0,
    ),
    (
        "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (30000 of "
        "text input, 10000 in the output).",
        32_768,
        30_000,
        0,
    ),
    ("Range of input length should be [1, 30720]", 30_720, 0, 0),
    ("输入长度超过最大上下文长度 32768", 32_768, 0, 0),
    ("上下文长度超限", 0, 0, 0),
    ("请求的 token 数超过模型最大长度 (8192)", 8192, 0, 0),
    ("请求的 token 数（9000）超过模型最大长度（8192）", 8192, 9000, 0),
    ("输入 40,000 tokens，超出了模型的最大上下文窗口：32,768", 32_768, 40_000, 0),
    ("输入内容过长，最多支持 8192 个 token", 8192, 0, 0),
    ("上下文长度超限：最大 8192，当前 9000", 8192, 9000, 0),
    ("输入长度大于 8192 的限制，请缩短输入", 8192, 0, 0),
    ("输入的 token 数超出 1234 个，超过了上下文长度", 0, 0, 0),
    ("Prompt 超长", 0, 0, 0),
    ("輸入長度 9000 超過最大上下文長度 8192", 8192, 9000, 0),
    ("maximum context length is 3 tokens", 0, 0, 0),
    ("maximum context length is 99999999999999 tokens", 0, 0, 0),
    ("Request Entity Too Large", 0, 0, 0),
]


@pytest.mark.parametrize(("message", "window", "prompt", "excess"), TEXTS)
def test_the_figures_of_an_overflow_are_read(message: str, window: int, prompt: int, excess: int) -> None:
    assert overflow_figures(message) == OverflowFigures(window, prompt, excess)


@pytest.mark.parametrize("message", [text for text, *_ in TEXTS[:-3]])
def test_each_of_them_is_an_overflow(message: str) -> None:
    endpoint = Endpoint("openai", "m", "http://127.0.0.1:1/v1")
    assert error_from_body(endpoint, message, status=400).code == "too_large"


@pytest.mark.parametrize(
    "message",
    [
        "请求过于频繁，请稍后再试",
        "请求次数超过限制",
        "token 用量超过每分钟限额 60000",
        "账户余额不足",
        "max_tokens 超过最大输出限制 4096",
        "模型不支持该参数",
        "服务器处理时间过长",
    ],
)
def test_other_errors_in_chinese_are_none(message: str) -> None:
    endpoint = Endpoint("openai", "m", "http://127.0.0.1:1/v1")
    assert error_from_body(endpoint, message, status=400).code == "bad_request"
