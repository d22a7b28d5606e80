"""Changes screen: the files that tools changed in the conversation, the latest first; Enter opens a file's diff."""

import asyncio
from typing import TYPE_CHECKING

from agent.services.panel_figures import TouchedFile, changes_sentence, diff_of_file, touched_files
from tui.overview.list_screen import ListContents, ListRow, ListScreen
from tui.passages.text_screen import TextScreen
from tui.typed_app import app_of
from tui.widgets.transcript.block import BlockText

if TYPE_CHECKING:
    from agent.session import Session

_EMPTY = "No tool has changed a file in this conversation, or the changes were undone."


class ChangedFilesScreen(ListScreen[None]):
    """The files of the session's conversation."""

    heading = "Changes"

    def __init__(self, session: "Session") -> None:
        super().__init__()
        self._session = session
        self._files: tuple[TouchedFile, ...] = ()

    async def read(self) -> ListContents:
        conversation, checkpoints = self._session.conversation, self._session.checkpoints
        if conversation is not None:
            self._files = await asyncio.to_thread(touched_files, checkpoints, conversation.id)
        rows = tuple(
            ListRow(label=file.path, id=str(number), figure=file.figures, detail=f"{file.path}: {file.figures} lines")
            for number, file in enumerate(self._files)
        )
        return ListContents(rows, changes_sentence(self._files), _EMPTY)

    async def open_row(self, row: ListRow) -> None:
        file, checkpoints = self._files[int(row.id)], self._session.checkpoints
        app_of(self).push_screen(TextScreen(file.path, lambda: BlockText(diff_of_file(checkpoints, file), "diff")))
