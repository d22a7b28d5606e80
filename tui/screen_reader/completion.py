"""Completes commands, their arguments, @files, @mem: and @chat: with Tab."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.commands import registry
from agent.commands.argument_values import argument_values
from agent.services.path_completion import quote_mention, suggest_paths, typed_path
from foundation.terminal_text import visible_line

if TYPE_CHECKING:
    from agent.session import Session

LINE_COMMANDS: Final = ("/show", "/find", "/steer")  # of the chat in lines
MAX_PASSAGES: Final = 8
MAX_SNIPPET: Final = 100  # characters
_MEMORY: Final = re.compile(r"@(mem|chat):([^:\s]+)(?::(\d*)\S*)?")


def complete(line: str, word: str, here: Path, session: "Session | None" = None) -> list[str]:
    """What a word can become, given the line up to the cursor. Reads a folder, or searches memory. Blocks."""
    if line.startswith("/") and line == word:
        return [f"{name} " for name in dict.fromkeys([*LINE_COMMANDS, *_commands(word)]) if name.startswith(word)]
    command, space, before = line.partition(" ")
    if command.startswith("/") and space and before.strip() == word and (known := registry.find(command)):
        models = session.models_used.specs if session else ()
        values = [name for name, _ in argument_values(known.name, models=models) if name.startswith(word)]
        if values:
            return [f"{value} " for value in values]
    if (memory := _MEMORY.fullmatch(word)) and session is not None:
        return _cited(session, memory[1], memory[2], memory[3] or "")
    typed = typed_path(word)
    if typed is None:
        return []
    mentions = [quote_mention(path.text) for path in suggest_paths(typed, here)]
    return [mention if mention.endswith("/") else f"{mention} " for mention in mentions if mention.startswith(word)]


def _cited(session: "Session", kind: str, words: str, number: str) -> list[str]:
    """Passages or conversations, numbered, where several have the words; else the citation of the one that is meant."""
    rows = _citations(session, kind, words.replace("_", " "))
    if number.isascii() and number.isdigit() and 0 < int(number) <= len(rows):
        rows = [rows[int(number) - 1]]
    if len(rows) == 1:
        return [f"{rows[0][0]} "]
    return [f"@{kind}:{words}:{n} {visible_line(text)[:MAX_SNIPPET]}" for n, (_, text) in enumerate(rows, 1)]


def _citations(session: "Session", kind: str, words: str) -> list[tuple[str, str]]:
    """The citations of what has the words, each with a line about it."""
    if kind == "chat":
        from agent.services.chat_citations import citable_chats

        opened = session.conversation.id if session.conversation else ""
        chats = citable_chats(session.memory, words, MAX_PASSAGES, without=opened)
        return [(chat.citation, f"{chat.title}, {chat.day}") for chat in chats]
    from agent.services.live_search import find_rows

    return [(row.citation, row.snippet) for row in find_rows(session.memory, words).rows[:MAX_PASSAGES]]


def _commands(word: str) -> list[str]:
    return [f"/{command.name}" for command in registry.complete(word)]
