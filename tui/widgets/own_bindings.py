"""Runs a widget's own key bindings in the order of the keys."""

from textual.widget import Widget

from tui.typed_app import app_of


async def run_own_binding(widget: Widget, key: str) -> bool:
    """Runs the widget's own binding for the key at once, False where it has none.

    Textual runs it when the key has bubbled up to the application, by when the widget may have handled a later letter:
    a fast Backspace would delete that one.
    """
    chain = widget.screen._modal_binding_chain  # pyright: ignore[reportPrivateUsage] - with the person's own keys
    bindings = next((bindings for node, bindings in chain if node is widget), None)
    for binding in bindings.key_to_bindings.get(key, ()) if bindings else ():
        if await app_of(widget).run_action(binding.action, widget):
            return True
    return False
