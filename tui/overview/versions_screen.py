"""Versions screen: the versions of one file or of all, newest first, with what each changed; restores one."""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Input, Static

from agent.services.file_versions import VersionRow, version_difference, version_rows, version_text
from agent.services.version_restore import change_by_restoring, restore_version
from foundation.errors import PalimpsestError
from foundation.figures import counted
from foundation.terminal_text import visible_line
from tui.overview.list_screen import ListContents, ListRow, ListScreen
from tui.overview.restore_dialog import RestoreScreen
from tui.passages.text_screen import TextScreen
from tui.typed_app import app_of, theme_colour
from tui.widgets.diff import diff_text
from tui.widgets.query_input import QueryInput
from tui.widgets.transcript.block import BlockText

if TYPE_CHECKING:
    from memory.memory import Memory
    from memory.versions.manifest import Version

MAX_PREVIEW: Final = 200  # lines of a difference beside the list
_EMPTY: Final = "There are no versions yet. Each change of notes, AGENTS.md, skills and similar files makes one."
_NO_MATCH: Final = "No version matches."
_SEPARATOR: Final = " · "
_FILTER_KEYS: Final = "Enter goes to the list · Esc shows all versions"


class VersionsScreen(ListScreen[None]):
    """The versions of the file at `path` (relative), or of all files."""

    AUTO_FOCUS = ""  # the keys are the list's until the filter is opened
    heading = "Versions"
    keys: ClassVar[str] = "Enter whole · d difference · r restore · / filter · Esc back"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "difference", "Show the whole change", id="versions.difference", show=False),
        Binding("r", "restore", "Restore the version", id="versions.restore", show=False),
        Binding("slash,ctrl+f", "filter", "Filter by words", id="versions.filter", show=False),
        Binding("ctrl+up,shift+up", "scroll(-3)", "Scroll the difference up", id="versions.scroll_up", show=False),
        Binding("ctrl+down,shift+down", "scroll(3)", "Scroll it down", id="versions.scroll_down", show=False),
    ]

    def __init__(self, memory: "Memory", path: str | None = None) -> None:
        super().__init__()
        self._memory = memory
        self._path = path
        self._known: Sequence[VersionRow] = ()
        self._differences: dict[int, str] = {}  # by the version's number

    def compose_above(self) -> ComposeResult:
        yield QueryInput(placeholder="filter by file, author, reason or date", id="filter", compact=True)

    def on_mount(self) -> None:
        super().on_mount()
        field = self.query_one(Input)
        field.display, field.cursor_blink = False, False
        self.set_focus(None)

    async def read(self) -> ListContents:
        self._known = await asyncio.to_thread(version_rows, self._memory, self._path)
        return self._contents()

    def _contents(self) -> ListContents:
        """The versions that have the words of the filter, by days."""
        terms = self.query_one(Input).value.lower().split()
        found = [row for row in self._known if all(term in _words(row) for term in terms)]
        whose = f"{self._path} · " if self._path else ""
        total = counted(len(self._known), "version")
        about = f"{whose}{len(found):,} of {total}" if terms else f"{whose}{total}"
        rows = tuple(_list_rows(found, names_file=self._path is None))
        return ListContents(rows, about if self._known else "", _NO_MATCH if terms else _EMPTY)

    @property
    def _version(self) -> "Version | None":
        row = self.chosen
        return next((each.version for each in self._known if row and str(each.version.number) == row.id), None)

    # The chosen version

    def show_detail(self, row: ListRow | None) -> None:
        """Shows who made the version and why, and what it changed."""
        self._show_version(row)

    @work(exclusive=True, group="detail")
    async def _show_version(self, row: ListRow | None) -> None:
        version = self._version
        if row is None or version is None:
            self.set_detail(self.contents.empty if self.is_read and row is None else "")
            return
        about = Text(end="").append(visible_line(row.detail), theme_colour(self, "muted"))
        if version.number not in self._differences:
            self.set_detail(about)
        try:
            difference = await self._difference_of(version)
        except PalimpsestError as error:
            self.set_detail(about.append(f"\n{visible_line(error.message)}", theme_colour(self, "warning-ink")))
            return
        shown = diff_text(difference, self, MAX_PREVIEW) if difference else Text("The text is the same.")
        self.set_detail(about.append("\n").append_text(shown))

    async def _difference_of(self, version: "Version") -> str:
        known = self._differences
        if version.number not in known:
            store = self._memory.versions.store
            known[version.number] = await asyncio.to_thread(version_difference, store, version)
        return known[version.number]

    async def open_row(self, row: ListRow) -> None:
        if (version := self._version) is not None:
            store = self._memory.versions.store
            title = f"{version.path}, version {version.number}" + ("" if version.sha256 else ": removed")
            app_of(self).push_screen(TextScreen(title, lambda: BlockText(version_text(store, version))))

    def action_difference(self) -> None:
        if (version := self._version) is not None:
            store = self._memory.versions.store
            title = f"{version.path}: what version {version.number} changed"
            app_of(self).push_screen(TextScreen(title, lambda: BlockText(version_difference(store, version), "diff")))

    def action_scroll(self, rows: int) -> None:
        self.query_one("#list-detail", VerticalScroll).scroll_relative(y=rows, animate=False)

    @work(exclusive=True, group="change")
    async def action_restore(self) -> None:
        """Restores the version, once what that changes was shown and agreed to."""
        if (version := self._version) is None:
            return
        try:
            difference = await asyncio.to_thread(change_by_restoring, self._memory, version)
            if difference and version.sha256:
                dialog = RestoreScreen(f"Restore version {version.number} of {version.path}?", difference)
                if not await app_of(self).push_screen_wait(dialog):
                    return
            done = await asyncio.to_thread(restore_version, self._memory, version)
        except PalimpsestError as error:
            self.say(f"{error.message} {error.hint}".strip(), wrong=True)
            return
        self.contents = await self.read()
        self.draw(str(done.now))
        self.say(done.sentence)

    # The filter

    def action_filter(self) -> None:
        field = self.query_one(Input)
        field.display = True
        field.focus()
        self.query_one("#list-keys", Static).update(_FILTER_KEYS)

    @on(Input.Changed)
    def _typed(self) -> None:
        chosen = self.chosen
        self.contents = self._contents()
        self.draw(chosen.id if chosen else "")

    @on(Input.Submitted)
    def _end_filter(self) -> None:
        field = self.query_one(Input)
        field.display = bool(field.value)
        self.set_focus(None)
        self.query_one("#list-keys", Static).update(self.keys)

    def action_leave(self) -> None:
        field = self.query_one(Input)
        if field.display:
            field.value = ""
            self._end_filter()
        else:
            super().action_leave()


def _words(row: VersionRow) -> str:
    version = row.version
    return f"{version.number} {version.path} {row.who} {version.reason} {row.when} {row.change}".lower()


def _list_rows(rows: Sequence[VersionRow], *, names_file: bool) -> Iterator[ListRow]:
    """A heading for each day, and a row for each version."""
    for day, of_day in groupby(rows, key=lambda row: row.when.partition(" ")[0]):
        yield ListRow(label=day)
        for row in of_day:
            version = row.version
            file = [version.path] if names_file else []
            about = [f"Version {version.number}", *file, row.when, row.who, version.reason]
            yield ListRow(
                label=_SEPARATOR.join(filter(None, [row.when.partition(" ")[2], row.who, *file, version.reason])),
                id=str(version.number),
                figure=row.change,
                detail=_SEPARATOR.join(filter(None, about)),
                is_warning=row.change == "damaged",
            )
