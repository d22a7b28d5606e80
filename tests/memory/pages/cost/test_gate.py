"""What goes before a model as a picture, and what stays text."""

import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.pages.cost.gate import FRAME, saves_tokens, should_stay_text

PROSE = (
    "Yesterday we talked about the journey to Lisbon: the ferry leaves at 09:40, and Ann would rather take the train. "
)
CHINESE = "昨天我们谈到去里斯本的旅行：渡轮九点四十分出发，安更愿意坐火车。"
PYTHON = 'def load(path: Path) -> dict[str, Any]:\n    with path.open("rb") as file:\n        return json.load(file)\n'
MINIFIED = (
    '!function(e,t){"object"==typeof exports?t(exports):(e=e||self).a={}}(this,(function(e){var n={r:1};e.b=n[0];'
)
CHANCE = random.Random(7)


@given(st.integers(0, 5000), st.integers(0, 5000), st.integers(0, 500))
def test_a_picture_is_worth_it_only_where_all_that_goes_with_it_costs_less(text: int, image: int, sheet: int) -> None:
    assert saves_tokens(text, image, sheet) == (image + sheet + FRAME < text)


@pytest.mark.parametrize("text", [PROSE * 20, CHINESE * 20, PYTHON * 20, PROSE + PYTHON + CHINESE])
def test_prose_and_ordinary_code_may_be_pictures(text: str) -> None:
    assert not should_stay_text(text)


@pytest.mark.parametrize(
    "text",
    [
        CHANCE.randbytes(400).hex(),
        "\n".join(CHANCE.randbytes(8).hex() for _ in range(40)),
        base64.b64encode(CHANCE.randbytes(400)).decode(),
        "\n".join(base64.urlsafe_b64encode(CHANCE.randbytes(24)).decode() for _ in range(20)),
        MINIFIED * 20,
        "\n".join(f"{CHANCE.random():.6f}, {CHANCE.random():.6f}" for _ in range(40)),
        "",
        " \n ",
    ],
    ids=["hex", "hashes", "base64", "keys", "minified", "figures", "nothing", "blanks"],
)
def test_what_a_model_misreads_stays_text(text: str) -> None:
    assert should_stay_text(text)
