"""What goes into a request: four layers, their budget, recall, and compaction.

The face is loaded when it is first asked for, so that `context.report` and `context.compaction.compact` stay light
alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from context.compaction.compact import Receipt
    from context.context import Context
    from context.layers.message import load_attachment
    from context.notice import Notice
    from context.report import Report
    from context.settings import ContextSettings
    from context.types import Assembled, Attachment, Turn

_HOMES = {
    "Assembled": "context.types",
    "Attachment": "context.types",
    "Context": "context.context",
    "ContextSettings": "context.settings",
    "Notice": "context.notice",
    "Receipt": "context.compaction.compact",
    "Report": "context.report",
    "Turn": "context.types",
    "load_attachment": "context.layers.message",
}

__all__ = [
    "Assembled",
    "Attachment",
    "Context",
    "ContextSettings",
    "Notice",
    "Receipt",
    "Report",
    "Turn",
    "load_attachment",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)
