"""The settings of the screen: what a terminal shows."""

from typing import Annotated, Literal

from msgspec import Meta, Struct


class ScreenSettings(Struct, frozen=True, kw_only=True):
    """What is shown in a terminal."""

    pictures: Annotated[
        Literal["auto", "kitty", "sixel", "blocks", "off"],
        Meta(
            description="How pictures are drawn: auto goes by the terminal, blocks are half blocks of colour, "
            "off names them only."
        ),
    ] = "auto"
