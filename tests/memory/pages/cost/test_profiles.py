"""What a page costs each kind of reader, by each maker's own arithmetic."""

import pytest

from foundation.errors import Misuse
from memory.pages.cost.profiles import PROFILES, SIDES, RenderProfile, profile_for, profile_named
from memory.pages.render.modes import MODES
from models.chat.port import ImageRule


def test_the_sides_are_those_of_the_page_modes() -> None:
    assert {name: mode.side for name, mode in MODES.items()} == SIDES


def test_deepseek_ocr_counts_a_grid_with_line_ends_and_a_separator() -> None:
    profile = profile_named("deepseek-ocr")
    for mode, side in SIDES.items():
        n = side // 64
        assert profile.tokens(mode) == n * (n + 1) + 1


def test_deepseek_ocr_2_sees_every_page_at_one_size() -> None:
    assert {profile_named("deepseek-ocr-2").tokens(mode) for mode in SIDES} == {257}


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("qwen2-vl", {"tiny": 326, "small": 531, "base": 1371, "large": 2118}),
        ("qwen3-vl", {"tiny": 258, "small": 402, "base": 1026, "large": 1602}),
        ("claude", {"tiny": 361, "small": 529, "base": 1369}),
        ("gpt-tiles", {"tiny": 255}),
        ("gpt-patches", {"tiny": 441, "small": 688, "base": 1762}),
        ("gemini", {"large": 1032}),
    ],
)
def test_a_chat_models_page_costs_what_its_maker_says(name: str, tokens: dict[str, int]) -> None:
    profile = profile_named(name)
    assert {mode: profile.tokens(mode) for mode in profile.modes} == tokens


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_a_profiles_pages_are_seen_unscaled_and_each_costs_less(profile: RenderProfile) -> None:
    assert all(SIDES[mode] <= profile.most_side for mode in profile.modes)
    costs = [profile.tokens(mode) for mode in profile.modes]
    assert costs == sorted(set(costs), reverse=True)


@pytest.mark.parametrize(
    ("rule", "model", "name"),
    [
        (ImageRule.QWEN3, "mlx-community/Qwen3-VL-8B-Instruct-4bit", "qwen3-vl"),
        (ImageRule.QWEN2, "qwen2.5vl:7b", "qwen2-vl"),
        (ImageRule.ANTHROPIC, "claude-sonnet-4-5", "claude"),
        (ImageRule.OPENAI_TILES, "gpt-4.1", "gpt-tiles"),
        (ImageRule.OPENAI_PATCHES, "gpt-5-mini", "gpt-patches"),
        (ImageRule.GEMINI, "gemini-2.5-pro", "gemini"),
    ],
)
def test_a_chat_model_is_known_by_its_name_and_rule(rule: ImageRule, model: str, name: str) -> None:
    found = profile_for(rule, model)
    assert found is not None
    assert found.name == name


def test_a_model_that_sees_nothing_or_counts_in_a_way_nobody_told_has_no_profile() -> None:
    assert profile_for(ImageRule.NONE, "qwen3-vl") is None
    assert profile_for(ImageRule.QWEN2, "some-llava-of-mine") is None  # Qwen2's rule is only a guess there
    assert profile_for(ImageRule.OPENAI_TILES, "gpt-4o-mini") is None  # it bills each tile 33 times over


def test_a_profile_that_does_not_exist_is_a_misuse_that_names_those_that_do() -> None:
    with pytest.raises(Misuse) as caught:
        profile_named("gpt-9")
    assert "deepseek-ocr" in caught.value.hint
