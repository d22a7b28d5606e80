"""Render profiles: the cost of a page for each kind of model, and the page modes that it sees unscaled.

The figures are each maker's published arithmetic (docs/reference/pages.md), not measurements: a server's own counts
take precedence. A page larger than `most_side` would be scaled down on its way in, and its cells blurred.
"""

import re

from msgspec import Struct

from foundation.errors import Misuse
from models.chat.port import ImageRule
from models.tokens import image_tokens

SIDES = {"tiny": 512, "small": 640, "base": 1024, "large": 1280}  # pixels, by page mode


class RenderProfile(Struct, frozen=True, kw_only=True):
    """One kind of model.

    `modes` are the page modes worth drawing for it, the largest first: those it sees unscaled, each cheaper than the
    one before.
    """

    name: str
    modes: tuple[str, ...]
    most_side: int  # pixels
    rule: ImageRule = ImageRule.NONE
    by_mode: dict[str, int] = {}  # where no rule holds: tokens by mode
    cell: str = "6x12"  # the smallest that such a reader is taken to read: 11 to 57 narrow characters a token

    def tokens(self, mode: str) -> int:
        """Tokens of one page of this mode."""
        if self.by_mode:
            return self.by_mode[mode]
        return image_tokens(self.rule, SIDES[mode], SIDES[mode])


_ALL = ("large", "base", "small", "tiny")

PROFILES = {
    profile.name: profile
    for profile in (
        # n(n+1)+1 for a page of n² patches of 64 pixels: base_size = image_size = side, cropping off
        RenderProfile(
            name="deepseek-ocr",
            modes=_ALL,
            most_side=1280,
            by_mode={"tiny": 73, "small": 111, "base": 273, "large": 421},
        ),
        # cropping off: every page is brought to 1024 pixels; tiles would add 144 each
        RenderProfile(
            name="deepseek-ocr-2",
            modes=("base",),
            most_side=1024,
            by_mode=dict.fromkeys(SIDES, 257),
        ),
        RenderProfile(name="qwen2-vl", modes=_ALL, most_side=3584, rule=ImageRule.QWEN2),
        RenderProfile(name="qwen3-vl", modes=_ALL, most_side=4096, rule=ImageRule.QWEN3),
        # at most 1,568 patches of 28 pixels: a page of 1,280 would be scaled down to 1,092
        RenderProfile(name="claude", modes=("base", "small", "tiny"), most_side=1092, rule=ImageRule.ANTHROPIC),
        # one tile is 512 pixels; a larger page is four tiles for fewer cells than four tiny ones
        RenderProfile(name="gpt-tiles", modes=("tiny",), most_side=768, rule=ImageRule.OPENAI_TILES),
        # 1,536 patches of 32 pixels
        RenderProfile(
            name="gpt-patches",
            modes=("base", "small", "tiny"),
            most_side=1248,
            rule=ImageRule.OPENAI_PATCHES,
        ),
        # four tiles for a square of any of these sizes: only the largest is worth them
        RenderProfile(name="gemini", modes=("large",), most_side=1536, rule=ImageRule.GEMINI),
    )
}

_NAMED = (  # of a model's name, which rule it counts by, and its profile; gpt-4o-mini bills a tile 33 times over
    (r"qwen-?2(\.5)?[-_]?(vl|omni)|qvq", ImageRule.QWEN2, "qwen2-vl"),
    (r"qwen-?3.*vl|qwen3\.5|qwen3-omni", ImageRule.QWEN3, "qwen3-vl"),
    (r"claude", ImageRule.ANTHROPIC, "claude"),
    (r"gpt-(?!4o-mini)|^o[134]|chatgpt", ImageRule.OPENAI_TILES, "gpt-tiles"),
    (r"gpt-|^o[134]", ImageRule.OPENAI_PATCHES, "gpt-patches"),
    (r"gemini", ImageRule.GEMINI, "gemini"),
)


def profile_named(name: str) -> RenderProfile:
    """The profile of that name. Raises Misuse."""
    if name not in PROFILES:
        raise Misuse("Render profile", f"There is no render profile “{name}”.", f"Choose one of {', '.join(PROFILES)}.")
    return PROFILES[name]


def profile_for(rule: ImageRule, model: str) -> RenderProfile | None:
    """The profile of a chat model; None for one without vision, or with unknown arithmetic."""
    for pattern, counted, name in _NAMED:
        if counted is rule and re.search(pattern, model, re.IGNORECASE):
            return PROFILES[name]
    return None
