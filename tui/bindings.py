"""Every action that can have another key."""

from collections.abc import Mapping

from textual.binding import Binding
from textual.dom import DOMNode

from tui.chat.screen import ChatScreen
from tui.dialogs.choices import ChoicesScreen
from tui.dialogs.line import LineScreen
from tui.dialogs.permission import PermissionScreen
from tui.dialogs.question import QuestionScreen
from tui.dialogs.sheet import SheetDialog
from tui.overview.archive_screen import ArchiveScreen
from tui.overview.clean_screen import CleanScreen
from tui.overview.context_screen import ContextScreen
from tui.overview.edit_screen import EditScreen
from tui.overview.list_screen import ListScreen
from tui.overview.memory_screen import MemoryScreen
from tui.overview.models_screen import ModelsScreen
from tui.overview.permissions_screen import PermissionsScreen
from tui.overview.servers_screen import ServersScreen
from tui.overview.versions_screen import VersionsScreen
from tui.palette.screen import PaletteScreen
from tui.passages.page_screen import PictureScreen
from tui.passages.screen import PassageScreen
from tui.passages.text_screen import TextScreen
from tui.picker.screen import PickerScreen
from tui.search.screen import SearchScreen
from tui.settings.screen import SettingsScreen
from tui.widgets.find_bar import FindBar
from tui.widgets.focus_bar import FocusBar
from tui.widgets.prompt.input import Prompt
from tui.widgets.side_panel import SidePanel

BOUND: tuple[type[DOMNode], ...] = (
    ChatScreen,
    Prompt,
    ChoicesScreen,
    SearchScreen,
    PassageScreen,
    PictureScreen,
    TextScreen,
    FocusBar,
    FindBar,
    SidePanel,
    PickerScreen,
    PaletteScreen,
    SettingsScreen,
    ListScreen,
    ContextScreen,
    MemoryScreen,
    VersionsScreen,
    EditScreen,
    ArchiveScreen,
    CleanScreen,
    ModelsScreen,
    PermissionsScreen,
    ServersScreen,
    LineScreen,
    SheetDialog,
    PermissionScreen,
    QuestionScreen,
)
"""The classes with keys, besides the application itself."""


def known_actions(app: type[DOMNode]) -> Mapping[str, str]:
    """The sentence of each action that can have other keys, by its id. `app` is the class of the application."""
    return {action: sentence for action, (_, sentence) in default_keys(app).items()}


def default_keys(app: type[DOMNode]) -> Mapping[str, tuple[str, str]]:
    """The keys of each such action, and its sentence."""
    return {
        binding.id: (binding.key, binding.description)
        for kind in (*app.__mro__, *BOUND)
        for binding in kind.__dict__.get("BINDINGS", ())
        if isinstance(binding, Binding) and binding.id
    }
