"""Settings that a running chat takes up: which of them hold without a new start, and from when."""

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from agent.config.config import read_config

if TYPE_CHECKING:
    from agent.session import Session

AT_ONCE: Final = "immediately"
NEXT_REQUEST: Final = "from the next request"
NEXT_START: Final = "from the next start of the chat"
_SCREEN: Final = {"theme", "keys", "pictures", "notify", "panel", "vim_keys"}
_TOOLS: Final = {"enabled", "result_chars", "most_calls", "delegations", "delegate_calls", "delegate_tokens"}
_READ_AT_OPENING: Final = {"summary_model", "summary_cost"}  # of context: a model is opened for them


def holds(name: str) -> str:
    """From when a change of this setting holds in a running chat."""
    section, _, field = name.partition(".")
    if (section == "screen" and field in _SCREEN) or name == "tools.mode":
        return AT_ONCE
    if (
        name == "models.warm_up"
        or (section == "context" and field not in _READ_AT_OPENING)
        or (section == "tools" and field in _TOOLS)
    ):
        return NEXT_REQUEST
    return NEXT_START


def take_up(session: "Session", name: str) -> None:
    """Takes the setting up as it is configured now, if the running session can. Blocks: reads the files.

    Flags of the command line hold for what is not changed. What the screen alone reads is its own to take up.
    """
    if holds(name) == NEXT_START:
        return
    section, _, field = name.partition(".")
    read = getattr(read_config(session.workspace, session.config.environment, {}).config, section)
    fresh = replace(getattr(session.config, section), **{field: getattr(read, field)})
    session.config = replace(session.config, **{section: fresh})
    session.context.use_settings(session.config.context)
    session.toolbox.settings = session.config.tools
    if name == "tools.mode":
        session.permissions.set_mode(session.config.tools.mode)
