"""The toolbox of a session."""

from typing import TYPE_CHECKING

from agent.delegation import Delegation
from agent.tools.catalogue import ToolPorts, session_tools
from agent.tools.files.documents import ocr_opener
from agent.tools.registry import Toolbox
from models.limits import in_bytes

if TYPE_CHECKING:
    from agent.session import Session


def session_toolbox(session: "Session", delegation: Delegation) -> Toolbox:
    """Every tool of the session."""
    config = session.config
    ports = ToolPorts(
        memory=session.memory,
        project=session.project,
        checkpoints=session.checkpoints,
        branch=session.branch,
        told_whole=lambda: session.context.told_whole(session.conversation),
        commands=session.commands,
        settings=config.tools,
        delegation=delegation,
        open_ocr=ocr_opener(config.models, config.environment),
        sees_pictures=lambda: session.model.profile.vision,
        withheld=session.permissions.withheld,
    )
    return Toolbox(session_tools(ports), config.tools, in_bytes(config.models.limits.arguments_mb))
