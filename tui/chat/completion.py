"""What is suggested for the prompt: commands and their arguments, files, passages of memory, conversations."""

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.commands import registry
from agent.commands.argument_values import argument_values
from agent.services.path_completion import is_generated, quote_mention, suggest_paths, typed_mention, typed_path
from foundation.terminal_text import escape_name, visible_line
from tui.widgets.prompt.completion import commands_for
from tui.widgets.prompt.suggestions import Suggestion

if TYPE_CHECKING:
    from agent.services.project_files import ProjectFiles
    from agent.session import Session

MAX_FILES: Final = 50
MAX_CHANGED: Final = 5  # files that git has as changed, offered after an @ alone
MAX_PASSAGES: Final = 8
RETRY_S: Final = 0.5  # seconds until files are looked for again that are still being read
TYPING_PAUSE_S: Final = 0.08  # seconds without a key before files or memory are searched
_MEMORY: Final = re.compile(r"(?<!\S)@mem:([^\n]*)$")
_CHAT: Final = re.compile(r"(?<!\S)@chat:([^\n]*)$")
_ARGUMENT: Final = re.compile(r"/(\S+) +(.*)")


class PromptCompletion:
    """Suggests for one chat. `session` is None until it is open."""

    def __init__(self, working_directory: Path, themes: tuple[str, ...] = ()) -> None:
        """`themes` are the names that /theme takes."""
        self._here = working_directory
        self._themes = themes
        self._files: ProjectFiles | None = None
        self._asked = 0
        self.session: Session | None = None

    async def suggest(self, text: str, before_cursor: str) -> list[Suggestion]:
        """Suggestions for the prompt's text with the cursor behind `before_cursor` in its line, best first."""
        self._asked += 1
        asked = self._asked
        if text.startswith("/") and " " not in text and self.session is not None:
            await registry.refresh(self.session)
        if commands := commands_for(text):
            return commands
        return await self._arguments(text) or await self._mentions(before_cursor, asked)

    async def _mentions(self, before_cursor: str, asked: int) -> list[Suggestion]:
        """What follows an @: passages of memory, conversations, files."""
        if memory := _MEMORY.search(before_cursor):
            await asyncio.sleep(TYPING_PAUSE_S)
            return await asyncio.to_thread(self._passages, memory[1], memory[0]) if asked == self._asked else []
        if chat := _CHAT.search(before_cursor):
            await asyncio.sleep(TYPING_PAUSE_S)
            return await asyncio.to_thread(self._chats, chat[1], chat[0]) if asked == self._asked else []
        typed = typed_path(before_cursor)
        if typed is None:
            return []
        if typed:
            await asyncio.sleep(TYPING_PAUSE_S)
        if asked != self._asked:
            return []
        paths = await asyncio.to_thread(self._paths, typed, asked)
        mention = typed_mention(before_cursor)
        return [
            Suggestion(path, "folder" if is_folder else "", quote_mention(path) + ("" if is_folder else " "), mention)
            for path in paths
            for is_folder in [path.endswith("/")]
        ]

    async def has_more_soon(self, before_cursor: str) -> bool:
        """Whether files are asked for that are not all read yet; True comes after RETRY_S."""
        is_asked = bool(typed_path(before_cursor)) and not before_cursor.endswith(" ")
        is_partial = is_asked and (self.session is None or (self._files is not None and not self._files.is_settled))
        if is_partial:
            await asyncio.sleep(RETRY_S)
        return is_partial

    def close(self) -> None:
        if self._files is not None:
            self._files.close()

    def _paths(self, typed: str, asked: int) -> list[str]:
        """Folders and files that the path completes, then files of the whole project that have it. Blocks."""
        completed = [path.text for path in suggest_paths(typed, self._here)]
        if typed.startswith(("/", "~", ".")) or self.session is None:
            return completed
        if self._files is None:
            from agent.services.project_files import ProjectFiles

            self._files = ProjectFiles(self.session.project, self._here)
        ignored = self._files.ignored(completed)
        completed.sort(key=lambda path: path in ignored or is_generated(path))
        if not typed:
            return list(dict.fromkeys([*map(escape_name, self._files.changed(MAX_CHANGED)), *completed]))
        found = [escape_name(path) for path in self._files.search(typed, MAX_FILES, lambda: asked != self._asked)]
        best = [path for path in completed[:3] if path not in ignored and not is_generated(path)]
        return list(dict.fromkeys([*best, *found, *completed]))[:MAX_FILES]

    def _passages(self, query: str, mention: str) -> list[Suggestion]:
        """What memory has for the words; its citation takes their place. Blocks."""
        from agent.services.live_search import find_rows

        if self.session is None:
            return []
        rows = find_rows(self.session.memory, query).rows[:MAX_PASSAGES]
        return [
            Suggestion(visible_line(row.snippet)[:200], visible_line(row.citation), f"{row.citation} ", mention)
            for row in rows
        ]

    def _chats(self, words: str, mention: str) -> list[Suggestion]:
        """Past conversations with the words in their titles; the citation takes their place. Blocks."""
        from agent.services.chat_citations import citable_chats

        if self.session is None:
            return []
        opened = self.session.conversation.id if self.session.conversation else ""
        chats = citable_chats(self.session.memory, words, MAX_PASSAGES, without=opened)
        return [Suggestion(visible_line(chat.title)[:200], chat.day, f"{chat.citation} ", mention) for chat in chats]

    def _versioned(self) -> list[str]:
        """The files that have versions. Blocks."""
        from agent.services.file_versions import files_with_versions

        return files_with_versions(self.session.memory) if self.session else []

    async def _arguments(self, text: str) -> list[Suggestion]:
        """The values that a command's arguments can have."""
        found = _ARGUMENT.fullmatch(text)
        command = registry.find(found[1]) if found else None
        if found is None or command is None:
            return []
        typed = found[2].lower()
        models = self.session.models_used.specs if self.session else ()
        files = await asyncio.to_thread(self._versioned) if command.name == "memory" else ()
        values = [
            (name, detail)
            for name, detail in argument_values(command.name, models=models, themes=self._themes, files=files)
            if typed in name.lower()
        ]
        values.sort(key=lambda value: not value[0].lower().startswith(typed))
        if [name for name, _ in values] == [found[2]]:
            return []
        return [
            Suggestion(visible_line(name), detail, f"/{found[1]} {name}", text, sends=True) for name, detail in values
        ]
