"""The switches of a conversation, and the scope of its memory, over the settings of the project.

They are labels of the conversation, so they hold wherever it is resumed: `set:read_compressed=true`, `scope:lantern`.
"""

from typing import Final

import msgspec

from context.settings import ContextSettings
from foundation.errors import Misuse
from memory.records import Conversation
from memory.scope import scope_of

SET: Final = "set:"

SWITCHES: Final = ("use_memory", "read_compressed", "use_compression", "recent_count")
"""Settings below `context` that a conversation may have for itself."""

_WORDS: Final = {"on": "true", "yes": "true", "off": "false", "no": "false"}


def settings_for(settings: ContextSettings, conversation: Conversation | None) -> ContextSettings:
    """The settings with the conversation's own switches and scope. A label that is no valid value is left out."""
    for label in conversation.labels if conversation else ():
        if label.startswith(SET):
            name, _, value = label.removeprefix(SET).partition("=")
            if name in SWITCHES:
                settings = _with_value(settings, name, value) or settings
    if conversation is not None:
        settings = msgspec.structs.replace(settings, scope=scope_of(conversation))
    if not settings.use_memory:
        settings = msgspec.structs.replace(settings, recall=False)
    return settings


def own_switches(conversation: Conversation | None) -> frozenset[str]:
    """The names of the switches that the conversation has for itself."""
    labels = conversation.labels if conversation else ()
    names = (label.removeprefix(SET).partition("=")[0] for label in labels if label.startswith(SET))
    return frozenset(names).intersection(SWITCHES)


def check_switch(name: str) -> None:
    """Raises Misuse where there is no such switch."""
    if name not in SWITCHES:
        raise Misuse("No such switch", f"No switch is named “{name}”.", f"The switches are: {', '.join(SWITCHES)}.")


def switch_label(name: str, value: str) -> str:
    """The label for a value as a person types it (`on`, `false`, `20`). Raises Misuse."""
    check_switch(name)
    words = _WORDS.get(value.lower(), value.lower())
    if (changed := _with_value(ContextSettings(), name, words)) is None:
        valid = "a number, 0 for all" if name == "recent_count" else "on or off"
        raise Misuse("Not a value", f"{name} is {valid}, not “{value}”.", f"/switches {name} default resets it.")
    return f"{SET}{name}={msgspec.json.encode(getattr(changed, name)).decode()}"


def _with_value(settings: ContextSettings, name: str, value: str) -> ContextSettings | None:
    """The settings with one value in the notation of JSON; None where it is not valid."""
    try:
        kind = next(field.type for field in msgspec.structs.fields(ContextSettings) if field.name == name)
        converted = msgspec.convert(msgspec.json.decode(value), kind)
    except (msgspec.MsgspecError, ValueError):
        return None
    return msgspec.structs.replace(settings, **{name: converted})
