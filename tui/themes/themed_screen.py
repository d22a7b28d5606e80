"""Base of the screens above the chat that write colours of the theme into their texts."""

from textual.screen import ModalScreen, ScreenResultType


class ThemedScreen(ModalScreen[ScreenResultType]):
    """A screen that is drawn anew when the theme changes while it is open, on top or below another one."""

    def draw_colours(self) -> None:
        """Writes its texts again, in the colours of the theme in use."""
