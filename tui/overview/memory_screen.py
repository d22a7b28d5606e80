"""Memory screen: MEMORY.md and memory/*.md with a preview; edited here or in one's editor; follows the disk."""

import asyncio
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.binding import Binding, BindingType

from agent.services.file_versions import AUTHORS
from agent.services.memory_files import MemoryFile, SavedNotes, has_changed, last_change, memory_files, save_file
from agent.services.version_restore import last_change_of, undo_last_change
from foundation.errors import PalimpsestError
from foundation.sizes import format_size
from memory.hot.parse import lines_of, outside_comments
from memory.versions.cause import Author
from tui.editor import edited_text
from tui.overview.edit_screen import EditScreen
from tui.overview.list_screen import ListContents, ListRow, ListScreen
from tui.overview.restore_dialog import RestoreScreen
from tui.overview.versions_screen import VersionsScreen
from tui.passages.text_screen import TextScreen
from tui.typed_app import app_of
from tui.widgets.transcript.block import BlockText

if TYPE_CHECKING:  # loaded after first paint
    from agent.session import Session

PERIOD_S: Final = 1.0  # between two looks at the disk
_EMPTY: Final = "There are no notes yet. `/remember TEXT` writes the first one, and so does a line in MEMORY.md."
_SHARES: Final = {"all": "in the request", "part": "in part", "none": "recalled"}
_OF_ANOTHER: Final = "Text that it removed comes back on your other devices, even if it was deleted there."
_PREVIEW: Final = 20_000  # characters


class MemoryScreen(ListScreen[None]):
    """The files of memory of this session."""

    heading = "Memory"
    keys: ClassVar[str] = "Enter edit · v whole · d changes · h versions · a all · u undo · Esc back"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+g", "editor", "Edit in VISUAL or EDITOR", id="memory.editor", show=False),
        Binding("v", "view", "Show the whole file", id="memory.view", show=False),
        Binding("d", "changes", "Show what changed, and by whom", id="memory.changes", show=False),
        Binding("h", "versions", "Show the file's versions", id="memory.versions", show=False),
        Binding("a", "all_versions", "Show the versions of all files", id="memory.all_versions", show=False),
        Binding(
            "u",
            "undo",
            "Undo the last change of the file, after showing it",
            id="memory.undo",
            show=False,
        ),
    ]

    def __init__(self, session: "Session") -> None:
        super().__init__()
        self._session = session
        self._files: list[MemoryFile] = []
        self._first: dict[str, str] = {}  # texts as they were when the screen was opened

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(PERIOD_S, self._look)

    async def read(self) -> ListContents:
        self._files = await memory_files(self._session)
        for file in self._files:
            self._first.setdefault(file.path, file.text)
        tokens = sum(file.tokens for file in self._files)
        largest = max((file.tokens for file in self._files), default=0) or 1
        rows = [
            ListRow(
                label=f"{file.path}{' *' if self._first[file.path] != file.text else ''}",
                id=file.path,
                figure=f"{file.tokens:,} tokens  {format_size(file.size):>8}  {_SHARES[file.share]:>14}",
                share=file.tokens / largest,
                detail=file.problem or _preview(file.text),
                is_warning=bool(file.problem),
            )
            for file in self._files
        ]
        about = f"{len(rows)} file{'s' if len(rows) != 1 else ''} · {tokens:,} tokens · * changed since you opened this"
        return ListContents(tuple(rows), about if rows else "", _EMPTY)

    async def _look(self) -> None:
        """Lists the files again where one changed on disk."""
        if self.is_read and await asyncio.to_thread(has_changed, self._session.memory, self._files):
            self.reload()

    @property
    def _file(self) -> MemoryFile | None:
        row = self.chosen
        return next((file for file in self._files if row and file.path == row.id), None)

    async def open_row(self, row: ListRow) -> None:
        if (file := self._file) is None:
            return
        if file.problem:
            self.say(file.problem, wrong=True)
            return

        async def save(base: str, text: str) -> SavedNotes:
            return await asyncio.to_thread(save_file, self._session.memory, file.path, base, text)

        app_of(self).push_screen(EditScreen(file.path, file.text, save))

    def action_editor(self) -> None:
        if (file := self._file) is not None and not file.problem:
            text, failure = edited_text(self, file.text)
            self.say(failure, wrong=True)
            if text is not None and text != file.text:
                self._save(file, text)

    def _save(self, file: MemoryFile, text: str) -> None:
        async def save() -> None:
            try:
                await asyncio.to_thread(save_file, self._session.memory, file.path, file.text, text)
                self.say(f"{file.path} saved.")
            except PalimpsestError as error:
                self.say(f"{error.message} {error.hint}".strip(), wrong=True)
            self.reload()

        self.run_worker(save(), group="save")

    def action_view(self) -> None:
        if (file := self._file) is not None:
            app_of(self).push_screen(TextScreen(file.path, lambda: BlockText(file.text)))

    async def action_changes(self) -> None:
        if (file := self._file) is None:
            return
        change = await asyncio.to_thread(last_change, self._session.memory, file, self._first.get(file.path))
        if change is None:
            self.say(f"{file.path} has no recorded changes.")
            return
        app_of(self).push_screen(TextScreen(f"{file.path}. {change.sentence}", lambda: BlockText(change.diff, "diff")))

    def action_versions(self) -> None:
        if (file := self._file) is not None:
            app_of(self).push_screen(VersionsScreen(self._session.memory, file.path))

    def action_all_versions(self) -> None:
        app_of(self).push_screen(VersionsScreen(self._session.memory))

    @work(exclusive=True, group="change")
    async def action_undo(self) -> None:
        """Takes back the last change of the chosen file, whoever made it; another `u` takes back the one before."""
        if (file := self._file) is None:
            return
        memory = self._session.memory
        try:
            last = await asyncio.to_thread(last_change_of, memory, file.path)
            if last is None:
                self.say(f"{file.path} has no earlier version, so there is nothing to undo.")
                return
            who = AUTHORS[last.change.author]
            title = f"Undo version {last.change.number} of {file.path}, by {who}: {last.change.reason}?"
            warning = _OF_ANOTHER if last.change.author is Author.SYNC else ""
            if not await app_of(self).push_screen_wait(RestoreScreen(title, last.difference, warning)):
                return
            done = await asyncio.to_thread(undo_last_change, memory, last)
        except PalimpsestError as error:
            self.say(f"{error.message} {error.hint}".strip(), wrong=True)
            return
        self.say(done.sentence)
        self.reload()


def _preview(text: str) -> str:
    """The beginning of the text, without a title and comments above the first note."""
    text = text[:_PREVIEW]
    lines = outside_comments(text)
    first = next((number for number, line, _ in lines if line.strip() and not line.startswith("# ")), 1)
    return "".join(lines_of(text)[first - 1 :])
