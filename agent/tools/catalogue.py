"""The tools of a session: which there are, and what they are given."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from agent.checkpoints.checkpoints import Checkpoints
from agent.permissions.tool_facts import declared_tools, facts_of
from agent.tools.commands.commands import Commands
from agent.tools.commands.run_command import CommandOutput, RunCommand
from agent.tools.delegate import Delegate, DelegatePort
from agent.tools.files.apply_patch import ApplyPatch
from agent.tools.files.changes import FileChanges
from agent.tools.files.documents import OpenOcr
from agent.tools.files.edit_file import EditFile, WriteFile
from agent.tools.files.find_files import FindFiles
from agent.tools.files.project import ProjectFolders
from agent.tools.files.read_file import ReadFile
from agent.tools.files.search_files import SearchFiles
from agent.tools.files.walk import Withheld
from agent.tools.memory.recall import RecallPassage, RememberNote
from agent.tools.memory.search import MemorySearch
from agent.tools.open_skill import OpenSkill
from agent.tools.person.ask_user import AskUser
from agent.tools.person.update_plan import UpdatePlan
from agent.tools.port import AgentTool, ToolSettings
from agent.tools.web.fetch_url import FetchUrl
from memory.memory import Memory
from memory.records import Conversation


class BranchPort(Protocol):
    """The conversation that is open (agent.branch)."""

    @property
    def conversation(self) -> Conversation | None:
        """None before its first message."""
        ...


class ToolPorts(Struct, frozen=True, kw_only=True):
    """What the tools of a session are made of."""

    memory: Memory
    project: ProjectFolders
    checkpoints: Checkpoints
    branch: BranchPort
    told_whole: Callable[[], frozenset[int]]  # the entries (seqs) that memory need not find
    commands: Commands
    settings: ToolSettings
    delegation: DelegatePort
    open_ocr: OpenOcr
    sees_pictures: Callable[[], bool]
    withheld: Withheld


def session_tools(ports: ToolPorts) -> tuple[AgentTool, ...]:
    """Every tool of a session, the most useful first: a small window keeps the first ones."""
    memory, branch = ports.memory, ports.branch
    changes = FileChanges(ports.project, ports.checkpoints)
    return (
        ReadFile(changes, ports.open_ocr, ports.sees_pictures),
        SearchFiles(ports.project, ports.withheld),
        EditFile(changes),
        RunCommand(ports.commands, ports.checkpoints),
        MemorySearch(memory, ports.told_whole),
        WriteFile(changes),
        FindFiles(ports.project, ports.withheld),
        RecallPassage(memory),
        CommandOutput(ports.commands),
        RememberNote(memory, lambda: branch.conversation.id if branch.conversation else None),
        AskUser(),
        *((FetchUrl(ports.settings, ports.withheld),) if ports.settings.fetch else ()),
        OpenSkill(memory),
        UpdatePlan(),
        ApplyPatch(changes),
        Delegate(ports.delegation),
    )


__all__ = ["BranchPort", "ToolPorts", "declared_tools", "facts_of", "session_tools"]  # with every tool declared
