"""The text of a running application's screen."""

from textual.app import App


def displayed_lines(app: App[object]) -> list[str]:
    """The lines of the screen on top, without spaces at their ends."""
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]
