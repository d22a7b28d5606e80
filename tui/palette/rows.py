"""What the palette lists: actions with their keys, commands, settings, models, conversations, themes."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from textual.dom import DOMNode

from agent.commands import registry
from agent.config.settings import all_settings
from foundation.clock import iso
from foundation.terminal_text import visible_line

if TYPE_CHECKING:
    from agent.session import Session

COMMANDS: Final = "Commands"
MODELS: Final = "Models"
CONVERSATIONS: Final = "Conversations"
THEMES: Final = "Colours"
SETTINGS: Final = "Settings"
MAX_CONVERSATIONS: Final = 200


FIRST: Final = (
    *("new", "resume", "search", "model", "context", "undo", "compact", "memory", "import", "permissions"),
    *("settings", "export"),
)
"""Commands that the palette shows before anything is typed."""


class PaletteRow(Struct, frozen=True):
    """One row, which is visible text: where it belongs, its label, a sentence, and the id of an action.

    `node` and `action` are what is done; or `line`, a command line, which waits in the prompt where it ends in a space.
    A row without either tells of a key that stands for what is typed.
    """

    place: str
    label: str
    sentence: str
    id: str = ""
    node: DOMNode | None = None
    action: str = ""
    line: str = ""

    @property
    def searched(self) -> str:
        """What a query is looked for in."""
        return f"{self.label} {self.sentence} {self.id} {self.place}".lower()


def command_rows() -> list[PaletteRow]:
    """The slash commands; one that needs words waits in the prompt for them."""
    return [
        PaletteRow(
            COMMANDS,
            command.short_signature,
            command.summary,
            line=f"/{command.name}" + ("" if not command.usage or command.usage.startswith("[") else " "),
        )
        for command in registry.all()
    ]


def first_rows(rows: Sequence[PaletteRow]) -> list[PaletteRow]:
    """The rows of FIRST, in that order."""
    by_line = {row.line.strip(): row for row in rows}
    return [by_line[f"/{name}"] for name in FIRST]


def setting_rows() -> list[PaletteRow]:
    """The settings; each opens their screen."""
    return [
        PaletteRow(SETTINGS, name, visible_line(setting.sentence), line=f"/settings {name}")
        for name, setting in all_settings().items()
    ]


def theme_rows(names: Iterable[str]) -> list[PaletteRow]:
    return [PaletteRow(THEMES, visible_line(name), "", line=f"/theme {name}") for name in sorted(names)]


async def session_rows(session: "Session") -> list[PaletteRow]:
    """The models that were used, and the newest conversations."""
    models = dict.fromkeys(["offline", *session.models_used.specs])
    conversations = await session.branch.recent(MAX_CONVERSATIONS)
    return [
        *(PaletteRow(MODELS, visible_line(spec), "", line=f"/model {spec}") for spec in models),
        *(
            PaletteRow(
                CONVERSATIONS,
                visible_line(conversation.title) or "(untitled)",
                iso(conversation.updated)[:16].replace("T", " "),
                line=f"/resume {conversation.id}",
            )
            for conversation in conversations
        ),
    ]


def matching(rows: Sequence[PaletteRow], query: str) -> list[PaletteRow]:
    """The rows that have every word of the query; where none has, those whose label has its letters in order."""
    words = query.lower().split()
    found = [row for row in rows if all(word in row.searched for word in words)]
    if found or not words:
        return found
    letters = "".join(words)
    return [row for row in rows if _has_in_order(letters, row.label.lower())]


def _has_in_order(letters: str, text: str) -> bool:
    left = iter(text)
    return all(letter in left for letter in letters)
