"""Settings screen: every setting with its sentence, its value and who set it; changed and reset in place."""

from typing import ClassVar, Final, Protocol

from rich.cells import cell_len
from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agent.config.edit import NotAValue
from agent.services.settings import SettingRow
from foundation.errors import PalimpsestError
from foundation.terminal_text import visible, visible_line
from tui.dialogs.choices import ChoiceItem, ChoicesScreen
from tui.themes.themed_screen import ThemedScreen
from tui.typed_app import app_of, theme_colour
from tui.widgets.query_input import QueryInput
from tui.widgets.status import clip

NOTHING: Final = "No setting matches. Try fewer words, or press Esc."
ALL: Final = "    All {:,} settings …"
KEYS: Final = "Enter changes · Ctrl+R resets · Tab switches user/workspace · Esc back"
EDIT_KEYS: Final = "Enter saves · Esc cancels"
SECRET: Final = "This setting contains a key or a password. Change it in the file."
_FRAME_COLUMNS: Final = 6  # the padding and the scrollbar
_LEAST_VALUE_COLUMNS: Final = 12
_VALUE_COLUMNS: Final = 16  # beside a sentence
_WIDE_COLUMNS: Final = 120
_VALUE_INDENT: Final = 6  # of a value below its name
_FEW_SHARE: Final = 3  # a list on at most a third of the screen leaves its other rows to the description


class SettingsPort(Protocol):
    """What the screen needs of the session."""

    async def rows(self) -> list[SettingRow]: ...

    async def change(self, name: str, text: str | None, *, user: bool) -> str: ...


class SettingsScreen(ThemedScreen[None]):
    """Lists the settings; what is typed narrows the list."""

    CSS_PATH = "../styles/settings.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", "Back", id="settings.leave", show=False, priority=True),
        Binding("up", "move(-1)", "Up", id="settings.up", show=False, priority=True),
        Binding("down", "move(1)", "Down", id="settings.down", show=False, priority=True),
        Binding("pageup", "move(-10)", "Page up", id="settings.page_up", show=False, priority=True),
        Binding("pagedown", "move(10)", "Page down", id="settings.page_down", show=False, priority=True),
        Binding("ctrl+r", "reset", "Reset the setting", id="settings.reset", show=False, priority=True),
        Binding("tab,shift+tab", "whose", "Switch user/workspace", id="settings.whose", show=False, priority=True),
    ]

    def __init__(self, settings: SettingsPort, query: str = "") -> None:
        super().__init__()
        self._settings = settings
        self._query = query
        self._rows: list[SettingRow] = []
        self._shown: list[SettingRow] = []
        self._edited: SettingRow | None = None
        self._for_user = True
        self._is_all = False  # lists all settings, also without a query

    def compose(self) -> ComposeResult:
        with Vertical(classes="room"):
            with Horizontal(classes="room-head"):
                yield Static("Settings", classes="room-title", markup=False)
                yield Static("", id="settings-about", markup=False)
            yield QueryInput(self._query, placeholder="type to filter", id="filter", compact=True)
            yield OptionList(id="choices", markup=False, compact=True)
            with Vertical(id="settings-chosen"):
                yield Static("", id="settings-text", markup=False)
            yield QueryInput(id="settings-edit", compact=True)
            yield Static("", id="settings-said", markup=False)
            yield Static(KEYS, id="settings-keys", classes="room-keys", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self._edit_field.display = False
        for field in self.query(Input):
            field.cursor_blink = False
        self._filter_field.focus()
        self.reload()

    @property
    def _filter_field(self) -> Input:
        return self.query_one("#filter", Input)

    @property
    def _edit_field(self) -> Input:
        return self.query_one("#settings-edit", Input)

    @property
    def chosen(self) -> SettingRow | None:
        """The setting that is gone to."""
        index = self.query_one(OptionList).highlighted
        return self._shown[index] if index is not None and index < len(self._shown) else None

    @work(exclusive=True, group="load")
    async def reload(self) -> None:
        """Reads the settings anew; the chosen one stays chosen."""
        name = self.chosen.setting.name if self.chosen else ""
        self._rows = await self._settings.rows()
        changed = sum(row.is_changed for row in self._rows)
        self.query_one("#settings-about", Static).update(f"{len(self._rows)} settings · {changed} changed")
        self._show(self._filter_field.value, name)

    def on_resize(self) -> None:
        self.draw_colours()

    def draw_colours(self) -> None:
        self._show(self._filter_field.value, self.chosen.setting.name if self.chosen else "")

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        self._show(event.value)

    def _show(self, query: str, chosen: str = "") -> None:
        words = query.lower().split()
        is_all = self._is_all or bool(words)
        self._shown = [row for row in self._rows if (is_all or row.title) and all(w in _searched(row) for w in words)]
        width = max(self.size.width - _FRAME_COLUMNS, 20)
        column = max((cell_len(self._label(row)) for row in self._shown), default=0) + 4
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(self._row_text(row, column, width)) for row in self._shown])
        if not is_all:
            options.add_option(Option(Text(ALL.format(len(self._rows)), theme_colour(self, "muted"), end="")))
        lines = sum(str(option.prompt).count("\n") + 1 for option in options.options)
        self.set_class(0 < lines <= self.size.height // _FEW_SHARE, "-few")
        if self._rows and not self._shown:
            options.add_option(Option(Text(NOTHING, theme_colour(self, "muted"), end=""), disabled=True))
        names = [row.setting.name for row in self._shown]
        options.highlighted = names.index(chosen) if chosen in names else 0 if names else None
        self._show_chosen()

    def _label(self, row: SettingRow) -> str:
        """The name in words in the first list, the dotted name in the whole one."""
        is_first = not (self._is_all or self._filter_field.value.strip())
        return (is_first and row.title) or row.setting.name

    def _row_text(self, row: SettingRow, column: int, width: int) -> Text:
        is_switch = row.setting.choices == ("true", "false")
        box = ("[x] " if row.written == "true" else "[ ] ") if is_switch else "    "
        style, muted = theme_colour(self, "accent-ink") if row.is_changed else "", theme_colour(self, "muted")
        text = Text(f"{box}{self._label(row)}", style, no_wrap=True, overflow="ellipsis", end="")
        value = "" if is_switch else visible_line(row.written) or "(empty)"
        is_wide = width >= _WIDE_COLUMNS  # there is room for the sentence
        room = _VALUE_COLUMNS if is_wide else width - column - 2
        if room < _LEAST_VALUE_COLUMNS:
            below = clip(value, width - _VALUE_INDENT)
            return text.append(f"\n{' ' * _VALUE_INDENT}{below}", muted) if below else text
        value = clip(value, room)
        text.append(" " * max(column + 2 - cell_len(text.plain), 1)).append(value, "" if is_wide else muted)
        return text.append(" " * (room - cell_len(value) + 2) + row.setting.sentence, muted) if is_wide else text

    @on(OptionList.OptionHighlighted)
    def _show_chosen(self) -> None:
        row, text = self.chosen, Text(end="")
        if row is not None:
            muted = theme_colour(self, "muted")
            whose = "all your workspaces" if self._for_user else "this workspace"
            text.append(row.setting.sentence)
            text.append(
                f"\n{row.setting.name}: {visible(row.setting.type_name)}; "
                f"set by {visible_line(row.origin)}; applies {row.holds}",
                muted,
            )
            text.append(f"\nEnter sets it for {whose}", muted)
        self.query_one("#settings-text", Static).update(text)

    # Changing

    @on(OptionList.OptionSelected)
    def _clicked(self) -> None:
        self.begin_change()

    @on(Input.Submitted, "#filter")
    def _entered(self) -> None:
        self.begin_change()

    @work(exclusive=True, group="change")
    async def begin_change(self) -> None:
        """Turns a switch about, offers the values of a choice, or opens the field for a value."""
        row = self.chosen
        if row is None:
            if self._shown:  # the line below the first list
                self._is_all = True
                self.draw_colours()
            return
        if row.is_secret:
            self._say(SECRET, wrong=True)
            return
        choices = row.setting.choices
        if choices == ("true", "false"):
            await self._change(row, "false" if row.written == "true" else "true")
        elif choices:
            items = [ChoiceItem(choice, choice, "now" if choice == row.written else "") for choice in choices]
            chosen = await app_of(self).push_screen_wait(ChoicesScreen(row.setting.name, items))
            if chosen is not None:
                await self._change(row, chosen)
        else:
            self._open_field(row)

    def _open_field(self, row: SettingRow) -> None:
        self._edited = row
        self._edit_field.value = row.written
        self._edit_field.display = True
        self._edit_field.focus()
        self.query_one("#settings-keys", Static).update(EDIT_KEYS)

    def _close_field(self) -> None:
        self._edited = None
        self._edit_field.display = False
        self._filter_field.focus()
        self.query_one("#settings-keys", Static).update(KEYS)

    @on(Input.Submitted, "#settings-edit")
    @work(exclusive=True, group="change")
    async def _keep(self, event: Input.Submitted) -> None:
        if self._edited is not None and await self._change(self._edited, event.value):
            self._close_field()

    async def _change(self, row: SettingRow, text: str | None) -> bool:
        """Sets it to what was typed; None takes it back. False, and a sentence, where that cannot be."""
        try:
            self._say(await self._settings.change(row.setting.name, text, user=self._for_user))
        except PalimpsestError as error:
            hint = "" if isinstance(error, NotAValue) else error.hint  # the description stands above
            self._say(f"{error.message} {hint}".strip(), wrong=True)
            return False
        self.reload()
        return True

    def _say(self, sentence: str, *, wrong: bool = False) -> None:
        said = self.query_one("#settings-said", Static)
        said.set_class(wrong, "-wrong")
        said.update(Text(visible(sentence), end=""))

    # Keys

    def action_move(self, by: int) -> None:
        options = self.query_one(OptionList)
        if self._shown and self._edited is None:
            options.highlighted = max(0, min((options.highlighted or 0) + by, options.option_count - 1))

    def action_whose(self) -> None:
        """The change is for all workspaces, or for this one."""
        self._for_user = not self._for_user
        self._show_chosen()

    @work(exclusive=True, group="change")
    async def action_reset(self) -> None:
        """Takes the change back, in the file that made it."""
        if (row := self.chosen) is not None and self._edited is None:
            self._for_user = not row.of_workspace
            await self._change(row, None)

    def action_leave(self) -> None:
        if self._edited is not None:
            self._close_field()
        else:
            self.dismiss(None)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()


def _searched(row: SettingRow) -> str:
    return f"{row.title} {row.setting.name} {row.setting.sentence} {row.written}".lower()
