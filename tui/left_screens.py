"""Errors of screens that were left before they were drawn, or while they read something.

Textual removes the widgets of such a screen at once and handles its messages afterwards: a mount, a resize, a result of
a worker. None of them finds a widget any more, and each would end the chat.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.screen import Screen
from textual.worker import WorkerFailed


def is_of_left_screen(error: BaseException, screens: Sequence[Screen[Any]]) -> bool:
    """Whether a widget was looked for on a screen that is none of those that are open."""
    cause = error.error if isinstance(error, WorkerFailed) else error
    if not isinstance(cause, NoMatches):
        return False
    node = _searched(cause.__traceback__)
    if node is None:
        return False
    is_of_screen = any(isinstance(each, Screen) for each in node.ancestors_with_self)
    return is_of_screen and not any(each in screens for each in node.ancestors_with_self)


def _searched(trace: TracebackType | None) -> DOMNode | None:
    """The node that was asked for the widget: `self` of the innermost frame."""
    node: DOMNode | None = None
    while trace is not None:
        owner = trace.tb_frame.f_locals.get("self")
        node = owner if isinstance(owner, DOMNode) else node
        trace = trace.tb_next
    return node
