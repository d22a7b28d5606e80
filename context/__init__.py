"""Assembly of requests: four layers, their budget, recall and compaction.

Names are imported on first use, so that `context.report` and `context.compaction.compact` alone stay light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from context.compaction.compact import CompactionReceipt
    from context.context import Context
    from context.layers.message import load_attachment
    from context.notice import FileNotice
    from context.report import ContextReport
    from context.settings import ContextSettings
    from context.types import AssembledRequest, AssemblyArguments, Attachment, Turn

_MODULES = {
    "AssembledRequest": "context.types",
    "AssemblyArguments": "context.types",
    "Attachment": "context.types",
    "Context": "context.context",
    "ContextSettings": "context.settings",
    "FileNotice": "context.notice",
    "CompactionReceipt": "context.compaction.compact",
    "ContextReport": "context.report",
    "Turn": "context.types",
    "load_attachment": "context.layers.message",
}

__all__ = [
    "AssembledRequest",
    "AssemblyArguments",
    "Attachment",
    "CompactionReceipt",
    "Context",
    "ContextReport",
    "ContextSettings",
    "FileNotice",
    "Turn",
    "load_attachment",
]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module), name)
