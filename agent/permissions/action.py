"""The action of a tool call, and the person's answer where it asks for permission."""

from enum import StrEnum

from msgspec import Struct


class Access(StrEnum):
    """What an action touches. It decides what each permission mode does with it."""

    MEMORY = "memory"  # reads memory
    READ = "read"  # reads files of the project
    EDIT = "edit"  # changes files of the project
    RUN = "run"  # runs a command
    NETWORK = "network"  # leaves the machine
    NOTE = "note"  # writes memory, or what the model is told in each request
    PERSON = "person"  # shows the person something, or asks them

    @property
    def only_reads(self) -> bool:
        """Whether such actions may run at the same time as others."""
        return self in {Access.MEMORY, Access.READ}


class FilesRead(Struct, frozen=True):
    """What a command reads that only reads: files that it names, and those that it finds below folders.

    `tool` is the file tool that would read them; `asks`: it would ask before it reads one of them.
    """

    tool: str
    named: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    asks: bool = False


class Action(Struct, frozen=True, kw_only=True):
    """What a tool call would do.

    `subject` is what permission rules match: a path relative to the project with `/`, a command line, an address.
    `also` are further subjects, of a call that touches several files: each must be allowed, any may be denied.
    `detail` is shown in whole before permission is given; `is_diff` says that it is a unified diff. `concern` is a
    sentence that says why this asks even where a rule or a mode allows the like of it; "" where nothing does.
    `is_for_tool`: a permission for more than this call is for the tool, whatever its arguments.
    `circumstances` is a sentence on how it would be done, shown with the reason. `is_from_network`: its output may hold
    what strangers wrote. `destroys`: a command that may remove what no checkpoint has. `reads`
    is set where a command in a sandbox only reads. `is_contained`: nothing that it does leaves the machine, or changes
    what models are told in each request; or the user says so of an MCP server.
    """

    tool: str
    access: Access
    summary: str
    subject: str = ""
    also: tuple[str, ...] = ()
    detail: str = ""
    is_diff: bool = False
    concern: str = ""
    is_for_tool: bool = False
    circumstances: str = ""
    is_from_network: bool = False
    destroys: bool = False
    reads: FilesRead | None = None
    is_contained: bool = False


class Scope(StrEnum):
    """How long a permission holds. PROJECT: for good, in this project folder."""

    ONCE = "once"
    SESSION = "session"
    PROJECT = "project"


class PermissionAnswer(Struct, frozen=True):
    """The answer to a request for permission. `reason` is read by the model where it is declined.

    `attended` is false where nobody could be asked. `rule` is what is remembered for the scope, as the request offered
    it (`run_command(git status *)`); "" for this very action. `all_edits`: the mode becomes `edit`.
    """

    granted: bool
    scope: Scope = Scope.ONCE
    reason: str = ""
    attended: bool = True
    rule: str = ""
    all_edits: bool = False


class PersonQuestion(Struct, frozen=True):
    """A question of the model to the person. They choose one of the `options`, or write."""

    text: str
    options: tuple[str, ...] = ()
