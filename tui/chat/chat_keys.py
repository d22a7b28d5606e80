"""The keys of the chat screen."""

from typing import Final

from textual.binding import Binding, BindingType

CHAT_KEYS: Final[list[BindingType]] = [
    Binding("escape", "stop", "Stop the answer", id="chat.stop", show=False),
    Binding("pageup", "page(-1)", "Scroll a page up", id="chat.page_up", show=False, priority=True),
    Binding("pagedown", "page(1)", "Scroll a page down", id="chat.page_down", show=False, priority=True),
    Binding("ctrl+end", "newest", "Go to the newest message", id="chat.newest", show=False, priority=True),
    Binding("ctrl+home", "oldest", "Go to the oldest message", id="chat.oldest", show=False, priority=True),
    Binding("f2", "take_offer", "Take the offered model", id="chat.take_offer", show=False, priority=True),
    Binding("f4", "toggle_plan", "Show or fold the plan", id="chat.toggle_plan", show=False, priority=True),
    Binding("f6", "enter_panel", "Go into the panel, or back", id="chat.enter_panel", show=False, priority=True),
    Binding("f7", "toggle_panel", "Open or close the panel", id="chat.toggle_panel", show=False, priority=True),
    Binding("ctrl+up,alt+up", "block(-1)", "Go to the block above", id="chat.above", show=False, priority=True),
    Binding("ctrl+down,alt+down", "block(1)", "Go to the block below", id="chat.below", show=False, priority=True),
    Binding(
        "ctrl+f", "find", "Find in this conversation; again: everywhere", id="chat.find", show=False, priority=True
    ),
    Binding("f3,ctrl+shift+f", "search", "Search everywhere", id="chat.search", show=False, priority=True),
]
