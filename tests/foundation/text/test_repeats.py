"""What a model in a loop wrote is kept once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.text.repeats import without_repeats


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bees. Bees. Bees. Yes.", "Bees. … Yes."),
        ("蜜蜂会飞。蜜蜂会飞。蜜蜂会飞。", "蜜蜂会飞。 …"),
        (
            "I'm sorry, I can't do that. Bees fly. I'm sorry, I can't do that. Bees fly.",
            "I'm sorry, I can't do that. Bees fly. … Bees fly.",
        ),
        ("Did you? No. Did he? No.", "Did you? No. Did he? No."),
        ("x = 1\nx = 1\nx = 1\n", "x = 1\nx = 1\nx = 1\n"),
    ],
)
def test_a_loop_is_kept_once_and_answers_and_code_stay(text: str, expected: str) -> None:
    assert without_repeats(text) == expected


@given(st.text(st.characters(codec=None), max_size=300))
def test_any_text_loses_only_what_stands_in_it_before(text: str) -> None:
    kept = without_repeats(text)
    assert kept == text or " …" in kept
    assert set(kept) <= set(text) | set(" …")
